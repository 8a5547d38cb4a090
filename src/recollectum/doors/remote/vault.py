"""The vault of a server, with the calls that the commands of this machine make: the same names, values and errors."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from recollectum.domain.access.caller import Permission
from recollectum.domain.access.owner import Owner
from recollectum.domain.context import Budget, Context, Ledger, LeftOut, PartCost
from recollectum.domain.errors import Conflict, HomeError, InvalidInput
from recollectum.domain.hit import ArchivedMatches, Hit, RecallResult, SearchMode, SourceName
from recollectum.domain.memory import Citation, KindName, Memory, SaveResult, State, StateName
from recollectum.domain.message import Message, Role
from recollectum.domain.notice import Notice
from recollectum.domain.page import Page
from recollectum.domain.records import dataclass
from recollectum.domain.trust import TrustName
from recollectum.doors.json_values import to_json
from recollectum.doors.remote.decoding import decode, decode_list
from recollectum.doors.remote.link import ServerLink
from recollectum.doors.remote.pages import load_page
from recollectum.doors.remote.sessions import ServedSessions
from recollectum.home.credentials.connection import Connection

if TYPE_CHECKING:
    from recollectum.doors.remote.imports import ServedImports
    from recollectum.vault.memories.history import History
    from recollectum.vault.purge.request import Preview, PurgeRequest, Receipt

_MINUTE = timedelta(minutes=1)
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyHolderInfo:
    """Whose key it is, as the server says."""

    person: Owner
    permissions: tuple[Permission, ...]
    version: str


class ServedVault:
    """One person's vault on a server, as their key sees it."""

    def __init__(self, link: ServerLink, owner: Owner | None = None) -> None:
        self.link = link
        #: The vault to use; None for the key's own.
        self.owner = owner
        query = {"owner": None if owner is None else str(owner)}
        self.memories = ServedMemories(link, query)
        self.sessions = ServedSessions(link, query)
        self.projects = ServedProjects()
        self.privacy = ServedPrivacy(link, owner)
        self.admin = ServedAdmin(link, query)
        self._query = query

    def me(self) -> KeyHolderInfo:
        """Return whose key it is."""
        return decode(KeyHolderInfo, self.link.get("/v1/me"), "the holder of the key")

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        tokens: int | None = None,
        source: SourceName | None = None,
        session_id: str | None = None,
        kind: KindName | None = None,
        speaker: str | None = None,
        agent: str | None = None,
        channel: str | None = None,
        trust: TrustName | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        untrusted: bool | None = None,
        min_score: float | None = None,
        answers_only: bool = False,
        project: str | None = None,
        prefer_project: str | None = None,
    ) -> RecallResult:
        """Search the vault; return hits best first, each with its source and reasons."""
        body = _given(
            query=query,
            limit=limit,
            tokens=tokens,
            source=source,
            session_id=session_id,
            kind=kind,
            speaker=speaker,
            agent=agent,
            channel=channel,
            trust=trust,
            since=since,
            until=until,
            untrusted=untrusted,
            min_score=min_score,
            answers_only=answers_only or None,
            project=check_project(project),
            prefer_project=check_project(prefer_project),
        )
        found = self.link.ask("POST", "/v1/recall", self._query, body)
        result = RecallResult(
            decode_list(Hit, found.get("hits"), "hits"),
            decode(SearchMode, found.get("rung"), "a search mode"),
            _optional_text(found, "degraded"),
            held_back=decode(int, found.get("held_back", 0), "a count"),
            calibrated=found.get("calibrated") is True,
            nearest=None if found.get("nearest") is None else decode(Hit, found["nearest"], "a hit"),
            archived=decode(ArchivedMatches, found.get("archived", {}), "archived memories"),
        )
        result.replica = found.get("replica") is True
        return result

    def context(
        self,
        query: str = "",
        *,
        session_id: str | None = None,
        tokens: int | None = None,
        messages: int | None = None,
        memories: int | None = None,
        model: str | None = None,
        agent: str | None = None,
        project: str | None = None,
        all_projects: bool = False,
    ) -> Context:
        """Build the context for a model, with its ledger."""
        body = _given(
            query=query or None,
            session_id=session_id,
            tokens=tokens,
            messages=messages,
            memories=memories,
            model=model,
            agent=agent,
            project=check_project(project),
            all_projects=all_projects or None,
        )
        found = self.link.ask("POST", "/v1/context", self._query, body)
        return Context(
            text=decode(str, found.get("text"), "a context"),
            ledger=_ledger(found.get("ledger")),
            messages=tuple(_said(one) for one in decode_list(dict[str, object], found.get("messages"), "messages")),
            conversation=_optional_text(found, "conversation") or "",
        )

    def close(self) -> None:
        """Close the connection."""
        self.link.close()


def open_served_vault(connection: Connection, owner: Owner | None = None) -> ServedVault:
    """Return the vault of a server; the connection is opened by the first call."""
    return ServedVault(ServerLink(connection), owner)


class ServedMemories:
    """The memories of a vault on a server."""

    def __init__(self, link: ServerLink, query: Mapping[str, object]) -> None:
        self._link = link
        self._query = query

    def save(
        self,
        content: str,
        *,
        key: str | None = None,
        kind: KindName = "fact",
        importance: float = 0.5,
        ttl: timedelta | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        message_id: str | None = None,
        agent: str | None = None,
        project: str | None = None,
    ) -> SaveResult:
        """Save a text verbatim. With a key it replaces the text under that key; a duplicate is renewed."""
        body = _given(
            content=content,
            key=key,
            kind=kind,
            importance=importance,
            ttl_minutes=None if ttl is None else _minutes(ttl),
            valid_from=valid_from,
            valid_to=valid_to,
            message_id=message_id,
            agent=agent,
            project=check_project(project),
        )
        return decode(SaveResult, self._link.ask("POST", "/v1/memories", self._query, body), "a memory")

    def get(self, memory_id: str) -> Memory:
        """Return the memory with that id, active or archived."""
        return self._one("GET", _path(memory_id))

    def list(
        self,
        *,
        state: StateName = State.ACTIVE,
        kind: KindName | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[Memory]:
        """List the newest memories in one state."""
        query = {**self._query, "state": str(state), "kind": None if kind is None else str(kind)}
        return load_page(self._link, "/v1/memories", "memories", Memory, query, cursor=cursor, limit=limit)

    def edit(
        self,
        memory_id: str,
        content: str | None = None,
        *,
        importance: float | None = None,
        kind: KindName | None = None,
        version: int | None = None,
    ) -> Memory:
        """Change a memory and keep its previous version; with `version`, only if it is still at that version."""
        body = _given(content=content, importance=importance, kind=kind)
        headers = {} if version is None else {"If-Match": self._tag(memory_id, version)}
        found = self._link.ask("PATCH", _path(memory_id), self._query, body, **headers)
        memory = decode(Memory, found.get("memory"), "a memory")
        return replace(memory, notice=decode(Notice, found.get("notice", {}), "a notice"))

    def move(self, memory_id: str, state: StateName) -> Memory:
        """Archive a memory, or restore it from the archive or the trash."""
        return self._one("PUT", f"{_path(memory_id)}/state", {"state": str(state)})

    def forget(self, memory_id: str) -> Memory:
        """Delete a memory: it is hidden now, and destroyed when its grace window ends."""
        return self._one("DELETE", _path(memory_id))

    def history(self, memory_id: str) -> "History":
        """Return all versions and events of a memory, oldest first."""
        from recollectum.vault.memories.history import History  # noqa: PLC0415 - few commands need it

        return decode(History, self._link.get(f"{_path(memory_id)}/history", self._query), "a history")

    def citations(self, memory_id: str) -> "list[Citation]":
        """Return the places in conversations that a memory came from."""
        found = self._link.get(f"{_path(memory_id)}/sources", self._query)
        return decode_list(Citation, found.get("sources"), "sources")

    def _one(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Memory:
        return decode(Memory, self._link.ask(method, path, self._query, body).get("memory"), "a memory")

    def _tag(self, memory_id: str, version: int) -> str:
        """Return the ETag of a memory that is still at a version."""
        found, tag = self._link.get_tagged(_path(memory_id), self._query)
        memory = decode(Memory, found.get("memory"), "a memory")
        if memory.version != version:
            raise Conflict(f"memory {memory_id!r} is at version {memory.version}, not {version}; read it again")
        if not tag:
            raise HomeError("the server sent no ETag with a memory; use the same version on both machines")
        return tag


class ServedProjects:
    """The projects of a vault on a server: the folders of this machine mean nothing to it."""

    def find(self, place: str) -> None:
        """Return None for every folder."""
        del place


class ServedAdmin:
    """What else a server does for a vault."""

    def __init__(self, link: ServerLink, query: Mapping[str, object]) -> None:
        self._link = link
        self._query = query

    @property
    def imports(self) -> "ServedImports":
        """Imports of files on this machine."""
        from recollectum.doors.remote.imports import ServedImports  # noqa: PLC0415 - few commands need it

        return ServedImports(self._link, self._query)


class ServedPrivacy:
    """What erases for good in a vault on a server."""

    def __init__(self, link: ServerLink, owner: Owner | None) -> None:
        self.purge = ServedPurge(link, owner)


class ServedPurge:
    """Erases the person of the key, in two steps."""

    def __init__(self, link: ServerLink, owner: Owner | None) -> None:
        self._link = link
        self._owner = owner

    def preview(self, request: "PurgeRequest") -> "Preview":
        """Return what would be erased, with the token that confirms it."""
        from recollectum.vault.purge.request import Preview, PurgeRequest  # noqa: PLC0415 - few commands need it

        if request != PurgeRequest.user() or self._owner is not None:
            raise InvalidInput("a server erases only everything of the key's own person; run this on the server")
        found = self._link.ask("POST", "/v1/purges")
        shown = cast("Mapping[str, object]", found.get("preview") if isinstance(found.get("preview"), dict) else {})
        seen = {**shown, "token": found.get("confirm"), "request": {"kind": request.kind.value}}
        return decode(Preview, seen, "a preview")

    def run(self, token: str) -> "Receipt":
        """Erase what the preview showed; return the signed receipt."""
        from recollectum.vault.purge.request import Receipt  # noqa: PLC0415 - see above

        found = self._link.ask("POST", "/v1/purges", None, {"confirm": token})
        return decode(Receipt, found.get("receipt"), "a receipt")


def check_project(project: str | None) -> str | None:
    """Return a name or an id of a project; raise for a folder, which is one of this machine."""
    if project is not None and ("/" in project or "\\" in project):
        raise InvalidInput(f"the server does not know the folder {project[:100]!r}; name the project instead")
    return project


def _path(memory_id: str) -> str:
    if not memory_id:
        raise InvalidInput("the id is empty; give the id of a memory")
    return f"/v1/memories/{quote(memory_id, safe='')}"


def _given(**values: object) -> dict[str, object]:
    """Return the values that are given, as JSON: an older server refuses fields that it does not know."""
    return {name: to_json(value) for name, value in values.items() if value is not None}


def _minutes(ttl: timedelta) -> int:
    if ttl % _MINUTE:
        raise InvalidInput("a server takes a time to live in whole minutes; give it as minutes, hours or days")
    return ttl // _MINUTE


def _optional_text(found: Mapping[str, object], name: str) -> str | None:
    value = found.get(name)
    return value if isinstance(value, str) else None


def _said(fields: Mapping[str, object]) -> Message:
    """Return a message of a context, of which the server tells only these fields."""
    return Message(
        id=decode(str, fields.get("id"), "a message"),
        session_id="",
        position=decode(int, fields.get("position"), "a message"),
        role=decode(Role, fields.get("role"), "a message"),
        content=decode(str, fields.get("text"), "a message"),
        created_at=_EPOCH,
    )


def _ledger(value: object) -> Ledger:
    found = decode(dict[str, object], value, "a ledger")
    parts: Iterable[PartCost] = decode_list(PartCost, found.get("parts"), "a ledger")
    return Ledger(
        parts=tuple(parts),
        left_out=tuple(decode_list(LeftOut, found.get("left_out"), "a ledger")),
        budget=decode(Budget, found.get("budget"), "a budget"),
        counter=decode(str, found.get("counter"), "a ledger"),
        exact=found.get("exact") is True,
    )
