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
    """The random key of one home, from which every other key is derived or by which it is wrapped."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        if len(secret) != KEY_BYTES:
            raise WrongKey(f"a master key has {KEY_BYTES} bytes, this one {len(secret)}; restore the right one")
        self._secret = secret

    @classmethod
    def new(cls) -> "MasterKey":
        """A fresh random one."""
        return cls(secrets.token_bytes(KEY_BYTES))

    @classmethod
    def from_text(cls, text: str) -> "MasterKey | None":
        """The key that `to_text` wrote, or None when the text is not one."""
        head, _, body = text.strip().partition(":")
        try:
            secret = base64.b64decode(body, validate=True)
        except (binascii.Error, ValueError):
            return None
        return cls(secret) if f"{head}:" == _TEXT_HEAD and len(secret) == KEY_BYTES else None

    def to_text(self) -> str:
        """One line that a keyring or a key file can keep. This is the secret itself."""
        return _TEXT_HEAD + base64.b64encode(self._secret).decode()

    def derive(self, purpose: str) -> bytes:
        """A key for one purpose, from which neither this one nor another purpose's can be found."""
        return derive(self._secret, purpose)

    def fingerprint(self) -> bytes:
        """What is kept in the open, to tell whether a key that was found is the right one."""
        return derive(self._secret, "fingerprint")[:_FINGERPRINT_BYTES]

    def wrapped_by(self, key: bytes, label: str) -> bytes:
        """This key, readable only with `key` and under the same label."""
        return wrap(key, self._secret, label)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MasterKey) and hmac.compare_digest(self._secret, other._secret)

    def __repr__(self) -> str:
        return "MasterKey(hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a master key is not pickled or copied")


def new_key() -> bytes:
    """A fresh random key for one vault."""
    return secrets.token_bytes(KEY_BYTES)


def derive(secret: bytes, purpose: str) -> bytes:
    """A key of its own for one purpose, from a secret with enough chance in it."""
    # Loading OpenSSL costs 50 ms, and a home with encryption off never needs it.
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415

    return HKDF(SHA256(), KEY_BYTES, salt=None, info=f"recollectum {purpose} v1".encode()).derive(secret)


def wrap(key: bytes, secret: bytes, label: str) -> bytes:
    """`secret` under AES-256-GCM: a nonce, the ciphertext and its tag, valid under `label` only."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415  (see derive)

    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, secret, label.encode())


def unwrap(key: bytes, wrapped: bytes, label: str) -> bytes | None:
    """What `wrap` was given, or None when the key, the label or a byte of it is not the same."""
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415  (see derive)
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

    try:
        return AESGCM(key).decrypt(wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], label.encode())
    except (InvalidTag, ValueError):
        # ValueError: what is left of a cut row is too short to have a nonce.
        return None
