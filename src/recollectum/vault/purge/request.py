"""Defines the purge request, its preview with the confirmation token, and its receipt."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from recollectum.domain.agent_state.shell_command import check_project
from recollectum.domain.errors import Conflict, Denied, InvalidInput
from recollectum.domain.records import dataclass
from recollectum.policy.clock import ClockReading

#: The source name of all sessions that were imported by hand.
IMPORTED = "imported"
_MOST_DAYS = 36_500


class PurgeKind(StrEnum):
    """What to erase."""

    USER = "user"
    SESSION = "session"
    SOURCE = "source"
    OLDER_THAN = "older-than"
    MEMORY = "memory"
    PROJECT = "project"
    HISTORY = "history"
    #: Not requested by anybody: erased data came back with an older copy, and was erased again.
    RESTORED = "restored"


class PurgeState(StrEnum):
    """How far a purge has come."""

    #: The rows are gone, but their bytes are still in a file: a reader has an old snapshot, or a process has it open.
    PENDING = "pending"
    #: The rows are gone, but a file could not be searched, or nothing is known that could be searched for.
    UNVERIFIED = "unverified"
    #: Every file was searched, and nothing was found.
    DONE = "done"
    #: Something was found in a file that Recollectum does not rewrite by itself; the receipt names it.
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeRequest:
    """What to erase from one vault."""

    kind: PurgeKind
    #: Sessions, memories or projects.
    ids: tuple[str, ...] = ()
    #: A folder of notes, a path of transcripts, or `imported`; for the history of shells, the key of a project.
    source: str | None = None
    #: Messages, memories and shell commands that were last changed longer ago than this.
    days: int | None = None
    #: Whether the vault is rewritten under a new key afterwards and the old key destroyed, so that nobody can read the
    #: older copies of it. A purge of a person destroys the keys anyway.
    shred: bool = False

    @classmethod
    def user(cls) -> "PurgeRequest":
        """Request everything of the vault's owner: vaults, keys, and the person."""
        return cls(kind=PurgeKind.USER)

    @classmethod
    def sessions(cls, *ids: str, shred: bool = False) -> "PurgeRequest":
        """Request whole conversations."""
        return cls(kind=PurgeKind.SESSION, ids=_check_ids(ids, "session"), shred=shred)

    @classmethod
    def memories(cls, *ids: str, shred: bool = False) -> "PurgeRequest":
        """Request single memories."""
        return cls(kind=PurgeKind.MEMORY, ids=_check_ids(ids, "memory"), shred=shred)

    @classmethod
    def projects(cls, *ids: str, shred: bool = False) -> "PurgeRequest":
        """Request all memories and conversations of projects, with their names and folders."""
        return cls(kind=PurgeKind.PROJECT, ids=_check_ids(ids, "project"), shred=shred)

    @classmethod
    def of_source(cls, source: str, *, shred: bool = False) -> "PurgeRequest":
        """Request what came from a folder of notes, a path of transcripts, or an import; it is unfollowed too."""
        if not source:
            raise InvalidInput(f"the source is empty; give a followed path, or {IMPORTED!r}")
        return cls(kind=PurgeKind.SOURCE, source=source, shred=shred)

    @classmethod
    def older_than(cls, days: int, *, shred: bool = False) -> "PurgeRequest":
        """Request messages said, memories last changed, and commands run, more than so many days ago."""
        if not 1 <= days <= _MOST_DAYS:
            raise InvalidInput(f"{days} days are not allowed; use 1 to {_MOST_DAYS}")
        return cls(kind=PurgeKind.OLDER_THAN, days=days, shred=shred)

    @classmethod
    def history(cls, project: str | None = None, *, shred: bool = False) -> "PurgeRequest":
        """Request the commands of shells: those of one project, by its key, or all."""
        key = None if project is None else check_project(project)
        return cls(kind=PurgeKind.HISTORY, source=key, shred=shred)

    def to_json(self) -> dict[str, object]:
        """Return the request in plain types."""
        said: dict[str, object] = {"kind": self.kind.value, "ids": list(self.ids)}
        said |= {"source": self.source, "days": self.days}
        # Left out otherwise: the digests of earlier requests stay what they are.
        return {**said, "shred": True} if self.shred else said

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "PurgeRequest":
        """Return the request that `to_json` wrote."""
        return cls(
            kind=PurgeKind(given["kind"]),
            ids=tuple(given["ids"]),
            source=given["source"],
            days=given["days"],
            shred=given.get("shred", False),
        )

    def digest(self) -> str:
        """Return the digest of the request for the receipt."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a purge would erase, and the token that confirms it: short-lived, for this caller and this state."""

    token: str
    request: PurgeRequest
    #: Rows by table.
    counts: Mapping[str, int]
    #: Memories erased because every text they cite is erased, and memories that keep other citations.
    memories_derived: int
    memories_kept: int
    #: Copies from before migrations hold the erased data, and are destroyed as a whole.
    backups: tuple[str, ...]
    expires_at: datetime
    #: How many other texts of the vault contain the same words and stay, and the ids of some of them.
    excused: int = 0
    remaining: tuple[str, ...] = ()
    #: Backups that were made outside the home: they still hold it.
    elsewhere: tuple[str, ...] = ()
    #: Older copies that nobody can read afterwards, because their key is destroyed, in words.
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was erased and how it was checked, signed by the home."""

    id: str
    kind: PurgeKind
    state: PurgeState
    #: Digest of the request; anyone who has the request can prove that it is this one.
    request: str
    #: Keyed digest of the owner: it tells nobody else who that is.
    owner: str
    by: str
    began_at: str
    at: str
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    backups_destroyed: int = 0
    #: Samples of the erased text that every file was searched for.
    samples: int = 0
    files_scanned: int = 0
    bytes_scanned: int = 0
    hits: int = 0
    #: The files in which something was found, relative to the home.
    hit_files: tuple[str, ...] = ()
    #: Files that could not be searched, each with the reason.
    unread: tuple[str, ...] = ()
    #: How many other texts of the vault still contain the same words, and the ids of some of them.
    excused: int = 0
    remaining: tuple[str, ...] = ()
    #: Places outside the home that may still hold what was erased: backups, and the files of a database server.
    elsewhere: tuple[str, ...] = ()
    #: Why it is not done, in words.
    reason: str | None = None
    #: Whether the vault was rewritten under a new key and the old key destroyed, as the request asked.
    shredded: bool = False
    #: Which fields are signed: the first form has no `form`, `unread`, `excused`, `remaining` and `elsewhere`, and only
    #: the third, which a purge with a new key gets, has `shredded`.
    form: int = 2
    public_key: str = ""
    signature: str = ""


def _check_ids(ids: tuple[str, ...], what: str) -> tuple[str, ...]:
    if not ids or not all(ids):
        raise InvalidInput(f"no {what} was named; give the id of at least one")
    return tuple(sorted(set(ids)))


TOKEN_LIFETIME = timedelta(minutes=10)
#: How far an ordinary correction may set the clock back between a preview and its run.
_SLACK = timedelta(minutes=1)
_INVALID_TOKEN = "that is not a token of this vault; make a preview, and use its token"


class PurgeClaims(NamedTuple):
    """The content of a token."""

    request: PurgeRequest
    #: Digest of everything that would be erased.
    state: str
    caller: str
    vault: str
    #: When it was made: by the wall clock, and by the latest time that the home had seen.
    made_at: datetime
    latest: datetime


def to_token(leave: PurgeClaims, salt: bytes) -> str:
    """Return the confirmation token."""
    said = {
        "request": leave.request.to_json(),
        "state": leave.state,
        "caller": leave.caller,
        "vault": leave.vault,
        "made_at": leave.made_at.isoformat(),
        "latest": leave.latest.isoformat(),
    }
    body = base64.urlsafe_b64encode(json.dumps(said, sort_keys=True).encode()).decode().rstrip("=")
    return f"{body}.{_token_mac(body, salt)}"


def from_token(token: str, salt: bytes, *, caller: str, vault: str, now: ClockReading) -> PurgeClaims:
    """Return the claims of a token; raise unless this home made it for this caller and vault and it is recent."""
    body, _, mac = token.partition(".")
    if not token.isascii() or not hmac.compare_digest(mac, _token_mac(body, salt)):
        raise InvalidInput(_INVALID_TOKEN)
    said: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    made_at, latest = datetime.fromisoformat(said["made_at"]), datetime.fromisoformat(said["latest"])
    if said["vault"] != vault:
        raise InvalidInput(_INVALID_TOKEN)
    if said["caller"] != caller:
        raise Denied(f"{caller} did not make that preview; make your own preview")
    # By both clocks: the wall clock may be set back, and the other one may be far ahead and hardly move.
    if not made_at - _SLACK <= now.now < made_at + TOKEN_LIFETIME or now.policy_now >= latest + TOKEN_LIFETIME:
        raise Conflict("that preview is too old; make a new one, and check it")
    return PurgeClaims(
        PurgeRequest.from_json(said["request"]), said["state"], said["caller"], said["vault"], made_at, latest
    )


def _token_mac(body: str, salt: bytes) -> str:
    return hmac.digest(salt, b"purge token " + body.encode(), "sha256").hex()
