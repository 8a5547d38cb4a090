"""Wraps one key by another with AES-256-GCM, bound to its purpose."""

import base64
import binascii
import hmac
import secrets
from typing import NoReturn

from recollectum.domain.errors import WrongKey

KEY_BYTES = 32
_NONCE_BYTES = 12
_FINGERPRINT_BYTES = 16
_TEXT_HEAD = "recollectum-key-1:"


class MasterKey:
    """The random key of one home, which derives or wraps every other key."""

    __slots__ = ("_derived", "_secret")

    def __init__(self, secret: bytes) -> None:
        if len(secret) != KEY_BYTES:
            raise WrongKey(f"a master key has {KEY_BYTES} bytes, this one {len(secret)}; restore the right one")
        self._secret = secret
        #: By purpose. Kept, because each look for the key of a vault needs two of them.
        self._derived: dict[str, bytes] = {}

    @classmethod
    def new(cls) -> "MasterKey":
        """Return a new random key."""
        return cls(secrets.token_bytes(KEY_BYTES))

    @classmethod
    def from_text(cls, text: str) -> "MasterKey | None":
        """Return the key that `to_text` wrote, or None when the text is invalid."""
        head, _, body = text.strip().partition(":")
        try:
            secret = base64.b64decode(body, validate=True)
        except (binascii.Error, ValueError):
            return None
        return cls(secret) if f"{head}:" == _TEXT_HEAD and len(secret) == KEY_BYTES else None

    @classmethod
    def all_from_text(cls, text: str) -> "list[MasterKey]":
        """Return the keys that `to_text` wrote, one to a line; none when a line is invalid."""
        found = [cls.from_text(line) for line in text.split()]
        return [key for key in found if key is not None] if all(found) else []

    def to_text(self) -> str:
        """Return one line for a keyring or a key file. This is the secret itself."""
        return _TEXT_HEAD + base64.b64encode(self._secret).decode()

    def derive(self, purpose: str) -> bytes:
        """Derive a key for one purpose, which reveals neither this key nor that of another purpose."""
        found = self._derived.get(purpose)
        if found is None:
            found = self._derived[purpose] = derive(self._secret, purpose)
        return found

    def fingerprint(self) -> bytes:
        """Return a public fingerprint, to check whether a key that was found is the right one."""
        return self.derive("fingerprint")[:_FINGERPRINT_BYTES]

    def wrapped_by(self, key: bytes, label: str) -> bytes:
        """Return this key, wrapped by `key` and bound to the label."""
        return wrap(key, self._secret, label)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MasterKey) and hmac.compare_digest(self._secret, other._secret)

    def __repr__(self) -> str:
        return "MasterKey(hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a master key is not pickled or copied")


def new_key() -> bytes:
    """Return a new random key for one vault."""
    return secrets.token_bytes(KEY_BYTES)


def derive(secret: bytes, purpose: str) -> bytes:
    """Derive a key for one purpose from a secret with enough entropy."""
    # Importing OpenSSL costs 50 ms, and an unencrypted home never needs it.
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415

    return HKDF(SHA256(), KEY_BYTES, salt=None, info=f"recollectum {purpose} v1".encode()).derive(secret)


def wrap(key: bytes, secret: bytes, label: str) -> bytes:
    """Wrap `secret` with AES-256-GCM: a nonce, the ciphertext and its tag, valid only with `label`."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415  (see derive)

    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, secret, label.encode())


def unwrap(key: bytes, wrapped: bytes, label: str) -> bytes | None:
    """Return what `wrap` was given, or None when the key, the label or a byte differs."""
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415  (see derive)
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

    try:
        return AESGCM(key).decrypt(wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], label.encode())
    except (InvalidTag, ValueError):
        # ValueError: a truncated row is too short for a nonce.
        return None
