"""Gives a purge the parts of the home it touches, and samples what it erases for the search afterwards."""

import hmac
import json
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from recollectum.domain.access.owner import Owner
from recollectum.domain.ids import Clock
from recollectum.home.locks import Lock
from recollectum.home.paths import Home
from recollectum.storage.engine import Engine
from recollectum.storage.keystore import KeyStore
from recollectum.storage.port import Database
from recollectum.storage.tables.erasure import erased

_MAX_SAMPLES = 12
_WIDTH = 32
_MIN_LENGTH = 6
#: The latest start of a sample in a text: a long text is split over pages of the file.
_REACH = 400
_WORD = re.compile(r"[A-Za-z0-9]{8,40}")
_TAIL = 6
_VECTOR_BYTES = 64
#: UTF-8, UTF-16, and JSON.
_SPELLINGS = 3


@dataclass(slots=True)
class ErasureSamples:
    """A bounded number of samples: of texts, of index terms, and of vectors."""

    texts: list[str] = field(default_factory=list[str])
    #: The ends of words: the index stores a prefix that words share only once.
    terms: list[str] = field(default_factory=list[str])
    vectors: list[bytes] = field(default_factory=list[bytes])

    def take(self, text: str, vector: bytes | None = None) -> None:
        """Keep a sample of a text that is about to be erased, and of its vector."""
        middle = max(0, min(len(text), _REACH) // 2 - _WIDTH // 2)
        piece = text[middle : middle + _WIDTH].strip()
        if len(piece) >= _MIN_LENGTH and len(self.texts) < _MAX_SAMPLES and piece not in self.texts:
            self.texts.append(piece)
        word = _WORD.search(text)
        if word and len(self.terms) < _MAX_SAMPLES and (tail := word[0].lower()[-_TAIL:]) not in self.terms:
            self.terms.append(tail)
        if vector and len(self.vectors) < _MAX_SAMPLES:
            self.vectors.append(vector[:_VECTOR_BYTES])

    def __len__(self) -> int:
        """Return how many samples there are."""
        return len(self.texts) + len(self.terms) + len(self.vectors)

    def encoded(self) -> list[bytes]:
        """Return the bytes to search for: texts in each encoding, then terms, then vectors."""
        found = [piece.encode(code, "surrogatepass") for code in ("utf-8", "utf-16-le") for piece in self.texts]
        # As they appear in the JSON of parts, tool calls and transcripts.
        escaped = [json.dumps(piece)[1:-1].encode() for piece in self.texts]
        return [*found, *escaped, *(term.encode() for term in self.terms), *self.vectors]

    def at(self, place: int) -> str | bytes:
        """Return what the bytes at an index of `encoded` are: a text, or a vector."""
        texts = _SPELLINGS * len(self.texts)
        if place < texts:
            return self.texts[place % len(self.texts)]
        if place < texts + len(self.terms):
            return self.terms[place - texts]
        return self.vectors[place - texts - len(self.terms)]

    def is_term(self, place: int) -> bool:
        """Return whether the bytes at an index of `encoded` are the end of a word."""
        return _SPELLINGS * len(self.texts) <= place < _SPELLINGS * len(self.texts) + len(self.terms)


_SALT = "salt"
_SEED = "signing"
_SECRET_BYTES = 32
_DIGEST_BYTES = 16


class PurgeEnvironment(NamedTuple):
    """The parts of one home that a purge of one vault touches."""

    home: Home
    engine: Engine
    catalog: Database
    keys: KeyStore
    clock: Clock
    #: The latest time that the home has seen, which decides whether a token is too old.
    latest: Clock
    #: Closes a vault in this process; True when no other process has it open either.
    release: Callable[[str], bool]
    #: Samples of what purges of this process erased, until the files are searched.
    needles: dict[str, ErasureSamples]
    #: Deletes the secrets that were stored for a vault, and returns how many.
    forget_secrets: Callable[[str], int]
    vault_id: str

    def has_ledger(self) -> bool:
        """Return whether anything was ever erased in this home."""
        return self.catalog.read(lambda tx: erased.find_secret(tx, _SALT)) is not None

    def lock(self) -> Lock:
        """Allow one purge of a vault at a time, across all processes."""
        return Lock(self.home.locks / f"purge-{self.vault_id}.lock", clock=self.clock)

    def salt(self) -> bytes:
        """Return the key of the ledger's digests."""
        return self._secret(_SALT)

    def seed(self) -> bytes:
        """Return the secret that signs receipts."""
        return self._secret(_SEED)

    def _secret(self, name: str) -> bytes:
        known = self.catalog.read(lambda tx: erased.find_secret(tx, name))
        if known is not None:
            return known
        return self.catalog.write(lambda tx: erased.secret(tx, name, secrets.token_bytes(_SECRET_BYTES)), frees=True)

    def backups_of(self, vault_ids: Iterable[str]) -> list[Path]:
        """Return the copies of vaults from before migrations, from repairs and restores, and in backups of the home."""
        # Imported in each method: every home has an environment, and few erase anything.
        from recollectum.vault.purge.backups import copies_of  # noqa: PLC0415

        return copies_of(self.home.backups, vault_ids)

    def destroy_backups(self, vault_ids: Iterable[str], before: datetime | None = None) -> int:
        """Destroy those copies, or those from before a time: they hold erased data."""
        from recollectum.vault.purge.backups import destroy_copies  # noqa: PLC0415

        return destroy_copies(self.home.backups, tuple(vault_ids), before)

    def erased_until(self) -> datetime | None:
        """Return when something was last erased from this vault."""
        return self.catalog.read(lambda tx: erased.last_time(tx, vault_digest(self.salt(), self.vault_id)))


def ledger_digest(salt: bytes, *parts: str) -> bytes:
    """Return the ledger's digest of a thing: without the salt nobody can tell what it was."""
    return hmac.digest(salt, "\x1f".join(parts).encode("utf-8", "surrogatepass"), "sha256")[:_DIGEST_BYTES]


def vault_digest(salt: bytes, vault_id: str) -> bytes:
    """Return the ledger's digest of a vault."""
    return ledger_digest(salt, "vault", vault_id)


def was_erased(catalog: Database, vault_id: str) -> bool:
    """Return whether a whole vault was erased from the home of this catalog."""
    salt = catalog.read(lambda tx: erased.find_secret(tx, _SALT))
    if salt is None:
        return False
    noted = vault_digest(salt, vault_id)
    return catalog.read(lambda tx: erased.is_noted(tx, noted, noted))


def owner_digest(salt: bytes, owner: Owner | str) -> str:
    """Return the digest of an owner for a receipt."""
    return ledger_digest(salt, "owner", str(owner)).hex()
