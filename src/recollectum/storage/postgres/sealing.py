"""Encrypts values under the key of a vault before they are sent to the server, and decrypts them when they come back.

The first byte of a stored value says what it is, so that a result is decoded without knowing its column, and a vault
without encryption has the same tables. The empty text is stored as no bytes: statements compare with it.

plain     as it is, for `encryption = "off"`
random    AES-256-GCM with a random nonce: equal values differ
equal     AES-256-SIV: equal values are equal, for columns that statements compare
"""

import secrets
from collections.abc import Sequence
from typing import NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from recollectum.domain.errors import Damaged, KeyProblem

_PLAIN_TEXT, _PLAIN_BYTES = b"\x00", b"\x01"
_RANDOM_TEXT, _RANDOM_BYTES = b"\x02", b"\x03"
_EQUAL_TEXT, _EQUAL_BYTES = b"\x04", b"\x05"
_TEXTS = frozenset(tag[0] for tag in (_PLAIN_TEXT, _RANDOM_TEXT, _EQUAL_TEXT))
_PLAIN = frozenset(tag[0] for tag in (_PLAIN_TEXT, _PLAIN_BYTES))
_RANDOM = frozenset(tag[0] for tag in (_RANDOM_TEXT, _RANDOM_BYTES))
_EQUAL = frozenset(tag[0] for tag in (_EQUAL_TEXT, _EQUAL_BYTES))
_NONCE_BYTES = 12
_RANDOM_KEY_BYTES, _EQUAL_KEY_BYTES, _MARK_BYTES = 32, 64, 16


class PlainValues:
    """Stores values as they are, with their kind."""

    #: Tells the keys of a vault apart, and nothing about them; empty where there is none.
    mark = ""

    def seal(self, value: str | bytes) -> bytes:
        """Return a value as it is stored."""
        if isinstance(value, str):
            return _PLAIN_TEXT + value.encode() if value else b""
        return _PLAIN_BYTES + value

    def seal_equal(self, value: str | bytes) -> bytes:
        """Return a value as it is stored where statements compare it."""
        return PlainValues.seal(self, value)

    def seal_all(self, column: Sequence[str | bytes | None]) -> list[bytes | None]:
        """Return a column of new rows as it is stored."""
        text, seal = _PLAIN_TEXT, self.seal
        if column and column[0] is column[-1] and column.count(column[0]) == len(column):
            # Most of a column of new rows are missing, or the same.
            return [None if column[0] is None else seal(column[0])] * len(column)
        # Most of them are texts, which take no call of ours for each.
        return [
            None if one is None else text + one.encode() if one and isinstance(one, str) else seal(one)
            for one in column
        ]

    def seal_equal_all(self, column: Sequence[str | bytes | None]) -> list[bytes | None]:
        """Return a column of new rows as it is stored where statements compare it."""
        return self.seal_all(column)

    def unseal(self, stored: bytes) -> str | bytes:
        """Return the value of what is stored."""
        if not stored:
            return ""
        if stored[0] not in _PLAIN:
            raise KeyProblem("the vault is encrypted, and its key is missing; restore keys.db of this home")
        return stored[1:].decode() if stored[0] in _TEXTS else stored[1:]

    def unseal_all(self, column: Sequence[bytes | None]) -> list[str | bytes | None]:
        """Return the values of a column of a result."""
        return [None if one is None else self.unseal(one) for one in column]

    def hide(self, text: str) -> str:
        """Return a text for a column that is not encrypted: as it is."""
        return text

    def show(self, hidden: str) -> str:
        """Return the text of a hidden one."""
        return hidden


class SealedValues(PlainValues):
    """Stores values encrypted under keys that are derived from the key of a vault; reads plain values too."""

    def __init__(self, key: bytes) -> None:
        self._random = AESGCM(_derived(key, "sealed values", _RANDOM_KEY_BYTES))
        self._equal = AESSIV(_derived(key, "compared values", _EQUAL_KEY_BYTES))
        self.mark = _derived(key, "key mark", _MARK_BYTES).hex()

    def seal(self, value: str | bytes) -> bytes:
        """Return a value encrypted with a random nonce."""
        if not value:
            return super().seal(value)
        tag, data = (_RANDOM_TEXT, value.encode()) if isinstance(value, str) else (_RANDOM_BYTES, value)
        nonce = secrets.token_bytes(_NONCE_BYTES)
        # The kind is authenticated: a text cannot be made bytes.
        return tag + nonce + self._random.encrypt(nonce, data, tag)

    def seal_all(self, column: Sequence[str | bytes | None]) -> list[bytes | None]:
        """Return the values of a column, each encrypted with a random nonce; the nonces are drawn together."""
        encrypt, size = self._random.encrypt, _NONCE_BYTES
        drawn = secrets.token_bytes(size * len(column))
        sealed: list[bytes | None] = []
        for start, value in zip(range(0, len(drawn), size), column, strict=True):
            if not value:
                sealed.append(None if value is None else self.seal(value))
                continue
            tag, data = (_RANDOM_TEXT, value.encode()) if isinstance(value, str) else (_RANDOM_BYTES, value)
            nonce = drawn[start : start + size]
            sealed.append(tag + nonce + encrypt(nonce, data, tag))
        return sealed

    def seal_equal_all(self, column: Sequence[str | bytes | None]) -> list[bytes | None]:
        """Return the values of a column, encrypted so that equal values are equal; each of them once."""
        known = {one: self.seal_equal(one) for one in {*column} if one is not None}
        return [None if one is None else known[one] for one in column]

    def seal_equal(self, value: str | bytes) -> bytes:
        """Return a value encrypted so that equal values are equal."""
        if not value:
            return super().seal(value)
        tag, data = (_EQUAL_TEXT, value.encode()) if isinstance(value, str) else (_EQUAL_BYTES, value)
        return tag + self._equal.encrypt(data, [tag])

    def unseal(self, stored: bytes) -> str | bytes:
        """Return the value of what is stored, however it was."""
        kind = stored[0] if stored else None
        try:
            if kind in _RANDOM:
                found = self._random.decrypt(stored[1 : _NONCE_BYTES + 1], stored[_NONCE_BYTES + 1 :], stored[:1])
            elif kind in _EQUAL:
                found = self._equal.decrypt(stored[1:], [stored[:1]])
            elif kind is None or kind in _PLAIN:
                return super().unseal(stored)
            else:
                _refuse()
        except (InvalidTag, ValueError):
            _refuse()
        return found.decode() if kind in _TEXTS else found

    def unseal_all(self, column: Sequence[bytes | None]) -> list[str | bytes | None]:
        """Return the values of a column; bytes, of which a vault has the most, take no call of ours for each."""
        decrypt, known = self._random.decrypt, dict[bytes, str | bytes]()
        tag, start = _RANDOM_BYTES, _NONCE_BYTES + 1

        def unseal(one: bytes) -> str | bytes:
            if one[:1] == _RANDOM_TEXT:
                return decrypt(one[1:start], one[start:], _RANDOM_TEXT).decode()
            # Of values that are stored alike one is decrypted.
            found = known.get(one)
            if found is None:
                found = known[one] = self.unseal(one)
            return found

        try:
            return [
                None if one is None else decrypt(one[1:start], one[start:], tag) if one[:1] == tag else unseal(one)
                for one in column
            ]
        except (InvalidTag, ValueError):
            _refuse()

    def hide(self, text: str) -> str:
        """Return a text for a column that is not encrypted; equal texts are equal."""
        return self.seal_equal(text).hex()

    def show(self, hidden: str) -> str:
        """Return the text of a hidden one."""
        found = self.unseal(bytes.fromhex(hidden))
        return found if isinstance(found, str) else found.decode()


def values_under(key: bytes | None) -> PlainValues:
    """Return how the values of a vault are stored: under its key, or as they are where it has none."""
    return PlainValues() if key is None else SealedValues(key)


def _derived(key: bytes, purpose: str, size: int) -> bytes:
    return HKDF(SHA256(), size, salt=None, info=f"recollectum {purpose} v1".encode()).derive(key)


def _refuse() -> NoReturn:
    raise Damaged("a value of the vault cannot be decrypted: it was changed, or belongs to another vault") from None
