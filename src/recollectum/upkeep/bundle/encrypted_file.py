"""Encrypts a file by a passphrase: written once from the beginning to the end, and read at any place.

The file is a line that names the form, 16 bytes of salt, and frames of 64 KiB, each encrypted by AES-256-GCM. The key
is scrypt of the passphrase and the salt. The nonce of a frame is its number, and its associated data are the first
line, the salt, and whether it is the last frame, so that frames cannot be exchanged, repeated or cut off unnoticed.
"""

import io
import os
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from recollectum.domain.errors import Damaged, KeyProblem

HEAD = b"RECOLLECTUM ENCRYPTED BUNDLE 1\n"
_SALT = 16
_FRAME = 65536
_TAG = 16
_COST = 2**17


class EncryptingWriter(io.RawIOBase):
    """Encrypts what is written, frame by frame."""

    def __init__(self, file: BinaryIO, passphrase: str) -> None:
        salt = os.urandom(_SALT)
        self._file = file
        self._cipher = AESGCM(_key(passphrase, salt))
        self._bound = HEAD + salt
        self._waiting = bytearray()
        self._number = 0
        file.write(self._bound)

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: "bytes | bytearray | memoryview") -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Take some bytes; whole frames are written at once."""
        self._waiting += data
        # The last frame is written by `finish`, which alone knows that it is the last.
        while len(self._waiting) > _FRAME:
            self._put(bytes(self._waiting[:_FRAME]), is_last=False)
            del self._waiting[:_FRAME]
        return len(data)

    def finish(self) -> None:
        """Write the last frame."""
        self._put(bytes(self._waiting), is_last=True)
        self._waiting.clear()

    def _put(self, frame: bytes, *, is_last: bool) -> None:
        self._file.write(self._cipher.encrypt(_nonce(self._number), frame, _bound(self._bound, is_last=is_last)))
        self._number += 1


class DecryptingReader(io.RawIOBase):
    """Reads an encrypted file at any place."""

    def __init__(self, path: Path, passphrase: str) -> None:
        self._path = path
        self._file = path.open("rb")
        try:
            head = self._file.read(len(HEAD) + _SALT)
            sealed = path.stat().st_size - len(head)
            if not head.startswith(HEAD) or sealed < _TAG:
                raise Damaged(f"{path} is not a whole encrypted bundle; use another copy of it")
            self._bound = head
            self._cipher = AESGCM(_key(passphrase, head[len(HEAD) :]))
            self._frames = -(-sealed // (_FRAME + _TAG))
            self._size = sealed - self._frames * _TAG
            self._place = 0
            self._held: tuple[int, bytes] = (-1, b"")
            self._check_passphrase()
        except BaseException:
            self._file.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = max(0, start + offset)
        return self._place

    def tell(self) -> int:
        """Return the place."""
        return self._place

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Read some bytes, at most to the end of a frame."""
        if self._place >= self._size:
            return 0
        number, start = divmod(self._place, _FRAME)
        part = self._frame(number)[start : start + len(buffer)]
        buffer[: len(part)] = part
        self._place += len(part)
        return len(part)

    def _check_passphrase(self) -> None:
        try:
            self._frame(self._frames - 1)
        except Damaged:
            raise KeyProblem(
                f"{self._path} does not open with that passphrase, or it was changed or cut off; type it again"
            ) from None

    def _frame(self, number: int) -> bytes:
        held, frame = self._held
        if held != number:
            self._file.seek(len(self._bound) + number * (_FRAME + _TAG))
            sealed = self._file.read(_FRAME + _TAG)
            bound = _bound(self._bound, is_last=number == self._frames - 1)
            try:
                frame = self._cipher.decrypt(_nonce(number), sealed, bound)
            except InvalidTag:
                raise Damaged(f"{self._path} was changed or cut off; use another copy of it") from None
            self._held = (number, frame)
        return frame


def is_encrypted(path: Path) -> bool:
    """Return whether a file begins as an encrypted bundle does."""
    with path.open("rb") as file:
        return file.read(len(HEAD)) == HEAD


def _key(passphrase: str, salt: bytes) -> bytes:
    return Scrypt(salt=salt, length=32, n=_COST, r=8, p=1).derive(passphrase.encode())


def _nonce(number: int) -> bytes:
    return number.to_bytes(12, "big")


def _bound(head: bytes, *, is_last: bool) -> bytes:
    return head + (b"last" if is_last else b"more")
