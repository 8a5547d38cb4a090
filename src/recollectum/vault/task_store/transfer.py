"""Stores a workspace in parts and loads it again, a few parts at a time, so that memory stays small."""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from recollectum.domain.errors import Damaged
from recollectum.vault.task_store.versions import TaskFiles, part_digest, part_file

#: Bytes of the archive in one part. At most `_AT_ONCE` parts are in memory: as read, compressed and encrypted.
PART_BYTES = 4 * 2**20
_AT_ONCE = 3

#: Gets the bytes that were stored or loaded so far.
Progress = Callable[[int], None] | None
T = TypeVar("T")


class PartMissing(Damaged):
    """A part is not there, because a later version has replaced it, or somebody deleted it."""


def store_parts(
    files: TaskFiles,
    name: str,
    number: int,
    pieces: Iterable[bytes],
    reusable: Mapping[str, tuple[str, int]],
    progress: Progress,
) -> tuple[tuple[str, ...], int]:
    """Store an archive for a version; return the file names of its parts in order, and their size.

    `reusable` has the parts that are stored already: by their digest, the file name and the size.
    """
    # No two saves store the same object: neither can delete what the other one lists.
    save = os.urandom(4).hex()

    def store(content: bytearray) -> tuple[str, int, int]:
        digest = files.seal.part_name(name, content)
        if digest in reusable:
            return *reusable[digest], len(content)
        part = part_file(number, digest, save)
        sealed = files.seal.seal_part(name, digest, content)
        files.objects.create(files.part_path(name, part), sealed)
        return part, len(sealed), len(content)

    parts: list[str] = []
    stored = done = 0
    for part, size, content_size in _in_order(store, _cut(pieces)):
        parts.append(part)
        stored += size
        done += content_size
        if progress:
            progress(done)
    return tuple(parts), stored


def load_parts(files: TaskFiles, name: str, parts: Iterable[str], total: int, progress: Progress) -> Iterator[bytes]:
    """Yield the content of the parts in order, `total` bytes in all; raise when one is missing or damaged."""

    def load(part: str) -> bytes:
        data = files.objects.read(files.part_path(name, part))
        if data is None:
            raise PartMissing("a part of the task's archive is missing; save its workspace again")
        return files.seal.open_part(name, part_digest(part), data, PART_BYTES)

    done = 0
    for content in _in_order(load, parts):
        done += len(content)
        if done > total:
            break
        if progress:
            progress(done)
        yield content
    if done != total:
        raise Damaged("the task's archive has another size than its record says; save its workspace again")


def _cut(pieces: Iterable[bytes]) -> Iterator[bytearray]:
    """Yield the same bytes in parts of one size."""
    held = bytearray()
    for piece in pieces:
        start = 0
        while start < len(piece):
            taken = min(len(piece) - start, PART_BYTES - len(held))
            held += memoryview(piece)[start : start + taken]
            start += taken
            if len(held) == PART_BYTES:
                yield held
                held = bytearray()
    if held:
        yield held


A = TypeVar("A")


def _in_order(work: Callable[[A], T], given: Iterable[A]) -> Iterator[T]:
    """Yield the results of some calls at once, in the order of their arguments."""
    waiting: deque[Future[T]] = deque()
    with _pool() as pool:
        for one in given:
            if len(waiting) >= _AT_ONCE:
                yield waiting.popleft().result()
            waiting.append(pool.submit(work, one))
        while waiting:
            yield waiting.popleft().result()


@contextmanager
def _pool() -> Generator[ThreadPoolExecutor, None, None]:
    pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="task-parts")
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
