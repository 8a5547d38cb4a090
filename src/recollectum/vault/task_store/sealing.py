"""Seals the records and the parts of tasks: compressed, encrypted where the home is, and bound to their place.

A part is a slice of a workspace's archive. Its name is a keyed digest of its content and of the task, so that an
interrupted save finds the parts that it has stored, and a part cannot stand for another. The digest is HMAC-SHA-256 of
a short hash of the content: in an encrypted home that of AES-GCM, which is ten times as fast as SHA-256 and safe as
long as nobody sees it, and else SHA-256. A part is found by the name in its record, however that was made.

A record lists the parts in order and is bound to its task and its version. So a byte that is changed, a part that is
missing, moved, repeated or of another task, and a list that is cut off are all noticed.
"""

import hashlib
import hmac
import importlib
import os
import threading
import zlib
from functools import cache
from typing import Any

from recollectum.domain.errors import Damaged, InvalidInput
from recollectum.home.install_command import install_command
from recollectum.home.keys.wrapping import derive

_SEALED, _PLAIN = b"RT1S", b"RT1P"
_NONCE, _DIGEST, _NAME = 12, 32, 20
_LEVEL = 3
_OF_THREAD = threading.local()
#: The most bytes of a record before compression.
MAX_RECORD = 64 * 2**20
_PART_DAMAGED = "a part of the task's archive is damaged; save its workspace again, and store every part again (fresh)"


class TaskSeal:
    """Seals the objects of one vault's tasks by its key; without a key they are only protected against accidents."""

    def __init__(self, vault_id: str, key: bytes | None) -> None:
        self._vault_id = vault_id
        base = key or hashlib.sha256(f"tasks of {vault_id}".encode()).digest()
        self._names = derive(base, "task names")
        self._parts = derive(base, "task part names")
        self._key = None if key is None else derive(key, "task objects")
        self._hash_key = None if key is None else derive(key, "task part hashes")

    def task_name(self, task_id: str) -> str:
        """Return the name of a task in the store, which does not reveal its id."""
        return hmac.digest(self._names, task_id.encode("utf-8", "surrogatepass"), "sha256")[:_NAME].hex()

    def part_name(self, task: str, content: "bytes | bytearray | memoryview") -> str:
        """Return the name of a part of a task's archive."""
        return hmac.digest(self._parts, task.encode() + b"\n" + self._hash(content), "sha256")[:_NAME].hex()

    def seal_part(self, task: str, name: str, content: "bytes | bytearray | memoryview") -> bytes:
        """Return a part as it is stored."""
        return self._seal(_compress(content), f"part {task} {name}")

    def open_part(self, task: str, name: str, data: bytes, most: int) -> bytes:
        """Return the content of a stored part of at most `most` bytes; raise Damaged when it is not that part."""
        try:
            # It is bound to its name, so the content need not be digested again.
            compressed = self._open(data, f"part {task} {name}")
            # Megabytes that would else be in memory while the next copy is made.
            del data
            content = _decompress(compressed, most)
        except Damaged:
            content = None
        if content is None:
            raise Damaged(_PART_DAMAGED)
        return content

    def seal_record(self, task: str, version: int, content: bytes) -> bytes:
        """Return a record as it is stored."""
        if len(content) > MAX_RECORD:
            raise InvalidInput(f"the data of the task has {len(content)} bytes; keep at most {MAX_RECORD} in it")
        return self._seal(zlib.compress(content, 1), f"record {task} {version}")

    def open_record(self, task: str, version: int, data: bytes) -> bytes:
        """Return the content of a stored record; raise Damaged when it is not that record."""
        machine = zlib.decompressobj()
        try:
            content = machine.decompress(self._open(data, f"record {task} {version}"), MAX_RECORD)
        except zlib.error:
            content = b""
        if not machine.eof or machine.unused_data:
            raise _damaged()
        return content

    def _hash(self, content: "bytes | bytearray | memoryview") -> bytes:
        """Return a short hash of a part; two parts have the same one with a probability of 2**-109 at most."""
        if self._hash_key is None:
            return hashlib.sha256(content).digest()
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - slow to import

        # The tag of an empty text with the part as its context. A nonce may repeat because no tag leaves this class.
        return AESGCM(self._hash_key).encrypt(bytes(_NONCE), b"", content)

    def _seal(self, content: bytes, place: str) -> bytes:
        bound = self._bound(place)
        if self._key is None:
            return b"".join((_PLAIN, _plain_digest(bound, content), content))
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - slow to import

        nonce = os.urandom(_NONCE)
        encrypted = AESGCM(self._key).encrypt(nonce, content, bound)
        # Megabytes that would else be in memory until the next two copies are made.
        del content
        return b"".join((_SEALED, nonce, encrypted))

    def _open(self, data: bytes, place: str) -> bytes:
        bound = self._bound(place)
        if self._key is None:
            digest, content = data[4 : 4 + _DIGEST], data[4 + _DIGEST :]
            if data[:4] != _PLAIN or not hmac.compare_digest(_plain_digest(bound, content), digest):
                raise _damaged()
            return content
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - slow to import
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

        head = 4 + _NONCE
        try:
            if data[:4] != _SEALED:
                raise _damaged()
            return AESGCM(self._key).decrypt(data[4:head], memoryview(data)[head:], bound)
        except (InvalidTag, ValueError):
            raise _damaged() from None

    def _bound(self, place: str) -> bytes:
        return f"task store 1 {self._vault_id} {place}\n".encode()


def _plain_digest(bound: bytes, content: bytes) -> bytes:
    digest = hashlib.sha256(bound)
    digest.update(content)
    return digest.digest()


def _damaged() -> Damaged:
    return Damaged("an object of the task is damaged, or belongs to another task or version; save the task again")


@cache
def _zstd() -> Any:  # noqa: ANN401 - either of two modules
    for name in ("compression.zstd", "zstandard"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise InvalidInput(f"a task store needs the package zstandard; run: {install_command('zstandard')}")


def check_compression() -> None:
    """Raise when no package for the compression is installed."""
    _zstd()


def _compress(content: "bytes | bytearray | memoryview") -> bytes:
    module = _zstd()
    if not hasattr(module, "ZstdCompressionParameters"):
        return module.compress(content, _LEVEL)
    # One for each thread: making one takes a tenth of the time of a part, and two threads cannot share it.
    if not hasattr(_OF_THREAD, "compressor"):
        _OF_THREAD.compressor = module.ZstdCompressor(level=_LEVEL)
    return _OF_THREAD.compressor.compress(content)


def _decompress(data: bytes, most: int) -> bytes | None:
    """Return the decompressed bytes, at most `most`; None when they are damaged or more."""
    module = _zstd()
    try:
        if hasattr(module, "ZstdCompressionParameters"):
            if not 0 <= module.frame_content_size(data) <= most:
                return None
            return module.ZstdDecompressor().decompress(data, max_output_size=most, allow_extra_data=False)
        machine = module.ZstdDecompressor()
        content = machine.decompress(data, max_length=most + 1)
        return content if machine.eof and not machine.unused_data and len(content) <= most else None
    except (module.ZstdError, ValueError, MemoryError):
        return None
