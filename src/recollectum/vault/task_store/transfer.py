"""Stores a workspace in parts and loads it again, a few parts at a time, so that memory stays small.

One thread reads the workspace, some seal its parts, and one waits for the disk; so a save keeps the processors busy
while earlier parts become durable.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import TypeVar

from recollectum.domain.errors import Damaged, RecollectumError
from recollectum.vault.task_store.versions import TaskFiles, part_digest, part_file

#: Bytes of the archive in a new part. At most `_AT_ONCE` parts are in memory: as read, compressed and encrypted.
PART_BYTES = 2 * 2**20
_AT_ONCE = 3
#: The most bytes in a part that was stored at any time.
MAX_PART_BYTES = 4 * 2**20
#: Parts that are made durable together. Once they are written they take no memory of the process.
_TOGETHER = 16

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

    def store(content: bytearray, finishing: "_Finishing") -> tuple[str, int, int]:
        digest = files.seal.part_name(name, content)
        if digest in reusable:
            return *reusable[digest], len(content)
        part, size = part_file(number, digest, save), len(content)
        sealed = files.seal.seal_part(name, digest, content)
        # The pool holds it until this call ends, which may have to wait for a disk.
        content.clear()
        finishing.add(lambda: files.objects.write(files.part_path(name, part), sealed))
        return part, len(sealed), size

    parts: list[str] = []
    stored = done = 0
    with (
        _Finishing() as finishing,
        closing(_in_order(lambda one: store(one, finishing), _cut(pieces))) as results,
    ):
        for part, size, content_size in results:
            parts.append(part)
            stored += size
            done += content_size
            if progress:
                progress(done)
    # Also for parts of an interrupted save, which may not have come so far.
    files.objects.settle(files.part_path(name, ""))
    return tuple(parts), stored


def load_parts(files: TaskFiles, name: str, parts: Iterable[str], total: int, progress: Progress) -> Iterator[bytes]:
    """Yield the content of the parts in order, `total` bytes in all; raise when one is missing or damaged."""

    def load(part: str) -> bytes:
        return files.seal.open_part(name, part_digest(part), _read(files, name, part), MAX_PART_BYTES)

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


def _read(files: TaskFiles, name: str, part: str) -> bytes:
    data = files.objects.read(files.part_path(name, part))
    if data is None:
        raise PartMissing("a part of the task's archive is missing; save its workspace again")
    return data


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


def _in_order(work: Callable[[A], T], given: Iterable[A]) -> Generator[T]:
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


class _Finishing:
    """Makes written parts durable in a separate thread, some together; the end of the block raises what went wrong.

    Together, because the first one that waits for the disk makes it write the others too.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="task-disk")
        # One batch that grows, and one that becomes durable.
        self._room = threading.Semaphore(2 * _TOGETHER)
        self._lock = threading.Lock()
        self._batch: list[Callable[[], None]] = []
        self._failed: list[BaseException] = []

    def __enter__(self) -> "_Finishing":
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        # Also after an error: what is written becomes a part that the next save uses.
        self._pool.submit(self._finish, self._batch)
        self._pool.shutdown()
        if error is None:
            self._check()

    def add(self, write: Callable[[], Callable[[], None]]) -> None:
        """Write a part, and have its second step run later; raise what went wrong with an earlier one."""
        self._room.acquire()
        try:
            self._check()
            finish = write()
        except BaseException:
            self._room.release()
            raise
        with self._lock:
            self._batch.append(finish)
            if len(self._batch) == _TOGETHER:
                self._pool.submit(self._finish, self._batch)
                self._batch = []

    def _finish(self, batch: list[Callable[[], None]]) -> None:
        for finish in batch:
            try:
                finish()
            except (OSError, RecollectumError) as error:
                self._failed.append(error)
            finally:
                self._room.release()

    def _check(self) -> None:
        if self._failed:
            raise self._failed[0]
