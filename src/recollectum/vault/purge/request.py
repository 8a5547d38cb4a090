"""Defines the purge request, its preview with the confirmation token, and its receipt."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from recollectum.domain.errors import Conflict, Denied, InvalidInput

#: The source that stands for every session that was brought in by hand.
IMPORTED = "imported"
_MOST_DAYS = 36_500


class PurgeKind(StrEnum):
    """What is to be erased."""

    USER = "user"
    SESSION = "session"
    SOURCE = "source"
    OLDER_THAN = "older-than"
    MEMORY = "memory"
    #: Not asked for by anybody: what had been erased came back with an older copy, and went again.
    RESTORED = "restored"


class PurgeState(StrEnum):
    """How far a purge has come."""

    #: The rows are gone, but bytes of them are still in a file: somebody reads from before, or holds it open.
    PENDING = "pending"
    #: Every file was searched, and nothing was found.
    DONE = "done"
    #: Something was found in a file that Recollectum does not rewrite by itself; the receipt names it.
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeRequest:
    """What to erase from one vault."""

    kind: PurgeKind
    #: Sessions or memories.
    ids: tuple[str, ...] = ()
    #: A folder of notes, a place of transcripts, or `imported`.
    source: str | None = None
    #: Messages and memories that were last touched longer ago than this.
    days: int | None = None

    @classmethod
    def user(cls) -> "PurgeRequest":
        """Everything of the vault's owner: vaults, keys, and the person themselves."""
        return cls(kind=PurgeKind.USER)

    @classmethod
    def sessions(cls, *ids: str) -> "PurgeRequest":
        """Whole conversations."""
        return cls(kind=PurgeKind.SESSION, ids=_check_ids(ids, "session"))

    @classmethod
    def memories(cls, *ids: str) -> "PurgeRequest":
        """Single memories."""
        return cls(kind=PurgeKind.MEMORY, ids=_check_ids(ids, "memory"))

    @classmethod
    def of_source(cls, source: str) -> "PurgeRequest":
        """What came from a folder of notes, a place of transcripts, or by import; it is followed no more."""
        if not source:
            raise InvalidInput(f"the source is empty; give a followed path, or {IMPORTED!r}")
        return cls(kind=PurgeKind.SOURCE, source=source)

    @classmethod
    def older_than(cls, days: int) -> "PurgeRequest":
        """Messages that were said, and memories that were last changed, longer ago than so many days."""
        if not 1 <= days <= _MOST_DAYS:
            raise InvalidInput(f"{days} days are not allowed; use 1 to {_MOST_DAYS}")
        return cls(kind=PurgeKind.OLDER_THAN, days=days)

    def to_json(self) -> dict[str, object]:
        """The request in plain types."""
        return {"kind": self.kind.value, "ids": list(self.ids), "source": self.source, "days": self.days}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "PurgeRequest":
        """The request that `to_json` wrote."""
        return cls(
            kind=PurgeKind(given["kind"]),
            ids=tuple(given["ids"]),
            source=given["source"],
            days=given["days"],
        )

    def digest(self) -> str:
        """What the receipt calls the request."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a purge would take, and the leave to do it: good for a short time, for this caller and this state."""

    token: str
    request: PurgeRequest
    #: Rows by table.
    counts: Mapping[str, int]
    #: Memories that go because every word they came from goes, and those that stay with other words to stand on.
    memories_derived: int
    memories_kept: int
    #: Copies made before migrations hold the erased, and are destroyed whole.
    backups: tuple[str, ...]
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was erased and how it was checked, signed by the home."""

    id: str
    kind: PurgeKind
    state: PurgeState
    #: Of the request; whoever has the request can show that it is this one.
    request: str
    #: Of the owner, keyed: it says nothing to anybody else.
    owner: str
    by: str
    began_at: str
    at: str
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    backups_destroyed: int = 0
    #: Pieces of what was erased that every file was searched for; 0 when a crash came between.
    samples: int = 0
    files_scanned: int = 0
    bytes_scanned: int = 0
    hits: int = 0
    #: Where something was found, from the home.
    hit_files: tuple[str, ...] = ()
    #: Why it is not done, in words.
    reason: str | None = None
    public_key: str = ""
    signature: str = ""


def _check_ids(ids: tuple[str, ...], what: str) -> tuple[str, ...]:
    if not ids or not all(ids):
        raise InvalidInput(f"no {what} was named; give the id of at least one")
    return tuple(sorted(set(ids)))


TOKEN_LIFETIME = timedelta(minutes=10)
_INVALID_TOKEN = "that is not a token of this vault; make a preview, and use its token"


class PurgeClaims(NamedTuple):
    """What a token says."""

    request: PurgeRequest
    #: Of everything that would go.
    state: str
    caller: str
    vault: str
    expires_at: datetime


def to_token(leave: PurgeClaims, salt: bytes) -> str:
    """The leave as text."""
    said = {
        "request": leave.request.to_json(),
        "state": leave.state,
        "caller": leave.caller,
        "vault": leave.vault,
        "expires_at": leave.expires_at.isoformat(),
    }
    body = base64.urlsafe_b64encode(json.dumps(said, sort_keys=True).encode()).decode().rstrip("=")
    return f"{body}.{_token_mac(body, salt)}"


def from_token(token: str, salt: bytes, *, caller: str, vault: str, now: datetime) -> PurgeClaims:
    """What a token says, when it is one of ours, this caller's, for this vault, and not too old."""
    body, _, mac = token.partition(".")
    if not token.isascii() or not hmac.compare_digest(mac, _token_mac(body, salt)):
        raise InvalidInput(_INVALID_TOKEN)
    said: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    expires_at = datetime.fromisoformat(said["expires_at"])
    if said["vault"] != vault:
        raise InvalidInput(_INVALID_TOKEN)
    if said["caller"] != caller:
        raise Denied(f"{caller} did not make that preview; make one of your own")
    if now >= expires_at:
        raise Conflict("that preview is too old; make it again, and look at it once more")
    return PurgeClaims(
        PurgeRequest.from_json(said["request"]), said["state"], said["caller"], said["vault"], expires_at
    )


def _token_mac(body: str, salt: bytes) -> str:
    return hmac.digest(salt, b"purge token " + body.encode(), "sha256").hex()
