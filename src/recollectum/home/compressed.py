"""Decompresses Zstandard, with the standard library from Python 3.14 on, else with the package `zstandard`."""

import importlib
import io
from typing import Any, BinaryIO, cast

from recollectum.domain.errors import InvalidInput
from recollectum.home.install_command import install_command

#: The first bytes of every Zstandard frame.
MAGIC = b"\x28\xb5\x2f\xfd"
_MOST_BYTES = 64 * 2**20


def open_compressed(file: BinaryIO) -> BinaryIO:
    """Return the decompressed bytes of a file as a stream."""
    module = _module()
    if hasattr(module, "ZstdFile"):
        return cast("BinaryIO", io.BufferedReader(cast("Any", _Guarded(module.ZstdFile(file), module.ZstdError))))
    reader = module.ZstdDecompressor().stream_reader(file, read_across_frames=True)
    return cast("BinaryIO", io.BufferedReader(cast("Any", _Guarded(reader, module.ZstdError))))


def decompressed(data: bytes) -> bytes:
    """Return decompressed bytes, at most 64 MiB."""
    found = open_compressed(io.BytesIO(data)).read(_MOST_BYTES + 1)
    if len(found) > _MOST_BYTES:
        raise InvalidInput(f"it is larger than {_MOST_BYTES // 2**20} MiB when it is decompressed")
    return found


class _Guarded(io.RawIOBase):
    """A stream that raises one sentence for damaged data."""

    def __init__(self, inner: Any, error: type[Exception]) -> None:  # noqa: ANN401 - either library's reader
        super().__init__()
        self._inner = inner
        self._error = error

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401 - any buffer
        """Fill a buffer."""
        try:
            found = self._inner.read(len(buffer))
        except (self._error, EOFError):
            raise InvalidInput("its compressed data is damaged or cut short") from None
        buffer[: len(found)] = found
        return len(found)


def _module() -> Any:  # noqa: ANN401 - a module with no types of ours
    for name in ("compression.zstd", "zstandard"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise InvalidInput(f"reading Zstandard needs the package zstandard; run: {install_command('zstandard')}")
