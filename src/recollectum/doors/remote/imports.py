"""Imports into a vault on a server: files are read on this machine, and their conversations are sent in parts."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import field
from pathlib import Path

from recollectum.domain.message import Message
from recollectum.domain.notice import NO_NOTICE, Notice, total
from recollectum.domain.records import dataclass
from recollectum.domain.session import Session
from recollectum.doors.json_values import to_json
from recollectum.doors.remote.decoding import decode, decode_list
from recollectum.doors.remote.link import ServerLink
from recollectum.transfer.readers import import_reader
from recollectum.transfer.records import message_to_record, session_to_record
from recollectum.vault.files.foreign_sources import (
    DamagedPart,
    ForeignConversation,
    ForeignItem,
    ForeignMemory,
    ForeignSource,
    OmittedPart,
)
from recollectum.vault.imports.service import (
    ForeignImport,
    ImportPreview,
    ImportResult,
    choose_people,
    import_id_of,
    preview_import,
)
from recollectum.vault.sessions.service import AdoptResult

#: One request has at most so many messages, or so many characters.
_BATCH = 200
_CHARACTERS = 2**19
_MOST_DAMAGE = 1000
_COUNTS = ("added", "known", "memories", "known_memories", "echoes")


@dataclass(slots=True)
class _Tally:
    counts: Counter[str] = field(default_factory=Counter[str])
    left_out: Counter[str] = field(default_factory=Counter[str])
    damage: list[DamagedPart] = field(default_factory=list[DamagedPart])
    seen: set[str] = field(default_factory=set[str])
    notice: Notice = NO_NOTICE
    import_id: str | None = None
    undone_by: str | None = None

    def add(self, found: Mapping[str, object]) -> None:
        """Add what the server says about one part."""
        self.counts += Counter({name: decode(int, found.get(name, 0), "a count") for name in _COUNTS})
        self.left_out += Counter(decode(dict[str, int], found.get("left_out", {}), "counts"))
        self.damage += decode_list(DamagedPart, found.get("damage", []), "damaged parts")
        self.notice += decode(Notice, found.get("notice", {}), "a notice")
        self.import_id = self.import_id or _text(found, "import_id")
        self.undone_by = _text(found, "undone_by")


class ServedImports:
    """Imports into one vault."""

    def __init__(self, link: ServerLink, query: Mapping[str, object]) -> None:
        self._link = link
        self._query = query

    def list_places(
        self, home: str | os.PathLike[str] | None = None, *, environ: Mapping[str, str] | None = None
    ) -> list[Path]:
        """Return the files and folders that agents on this machine keep."""
        return import_reader().discover(Path(home) if home is not None else Path.home(), environ or {})

    def preview(
        self,
        paths: Sequence[str | os.PathLike[str]],
        *,
        mapping: Mapping[str, str] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> ImportPreview:
        """Return what is in files of other programs on this machine; nothing is sent."""
        return preview_import(import_reader(), paths, mapping, progress)

    def run(
        self,
        found: ImportPreview,
        *,
        people: Iterable[str] | None = None,
        mine: bool = False,
        foreign: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> ImportResult:
        """Send what a preview found; what the server has already is not doubled, and a second run continues it."""
        chosen = choose_people(found, people)
        import_id = import_id_of(found, chosen, mine=mine, foreign=foreign)
        fields = {"origin": "program", "import_id": import_id}
        fields |= {name: True for name, value in (("mine", mine), ("foreign", foreign)) if value}
        done: list[tuple[ForeignSource, _Tally]] = []
        for source in found.sources:
            sender = _Sender(self._send, fields, chosen, progress or (lambda _: None))
            with closing(source.items(lambda _: None)) as items:
                done.append((source, sender.send(items)))
        tallies = [tally for _, tally in done]
        new = next((one.import_id for one in tallies if one.import_id), None)
        return ImportResult(
            files=tuple(_report(source, tally) for source, tally in done),
            import_id=new,
            undone_by=None if new else next((one.undone_by for one in tallies if one.undone_by), None),
            notice=total(one.notice for one in tallies),
        )

    def adopt(
        self, session: Session, said: Sequence[Message], *, foreign: bool = False, import_id: str | None = None
    ) -> AdoptResult:
        """Send one conversation with its own ids and times; what the server has already is not doubled."""
        tally, known = _Tally(import_id=import_id), session
        for part in _parts(said):
            fields: dict[str, object] = {"foreign": True} if foreign else {}
            fields |= {"import_id": tally.import_id} if tally.import_id else {}
            messages = [to_json(message_to_record(one)) for one in part]
            found = self._send({**fields, "session": session_to_record(session), "messages": messages})
            tally.add(found)
            if found.get("session") is not None:
                known = decode(Session, found["session"], "a session")
        new = tally.import_id if tally.counts["added"] else None
        return AdoptResult(
            known, tally.counts["added"], tally.counts["known"], new, tally.counts["echoes"], tally.notice
        )

    def _send(self, body: Mapping[str, object]) -> Mapping[str, object]:
        return self._link.ask("POST", "/v1/imports", self._query, body)


class _Sender:
    """Sends one source, conversation by conversation."""

    def __init__(
        self,
        send: Callable[[Mapping[str, object]], Mapping[str, object]],
        fields: Mapping[str, object],
        people: frozenset[str] | None,
        progress: Callable[[int], None],
    ) -> None:
        self._send = send
        self._fields = fields
        self._people = people
        self._progress = progress
        self._tally = _Tally()
        self._session: Session | None = None
        self._waiting: list[Message | ForeignMemory] = []
        self._characters = 0

    def send(self, items: Iterable[ForeignItem]) -> _Tally:
        """Send everything, and return what became of it."""
        for item in items:
            match item:
                case ForeignConversation():
                    self._begin(item)
                case Message() | ForeignMemory():
                    self._take(item)
                case OmittedPart():
                    self._tally.left_out[item.what] += item.count
                case DamagedPart():
                    self._tally.damage += [item] if len(self._tally.damage) < _MOST_DAMAGE else []
        self._flush()
        return self._tally

    def _begin(self, conversation: ForeignConversation) -> None:
        self._flush()
        person = conversation.person
        chosen = self._people is None or person is None or person in self._people
        self._session = conversation.session if chosen else None
        if chosen:
            self._tally.seen.add(conversation.session.id)

    def _take(self, item: Message | ForeignMemory) -> None:
        if self._session is None:
            return
        self._waiting.append(item)
        self._characters += len(item.text)
        if len(self._waiting) >= _BATCH or self._characters >= _CHARACTERS:
            self._flush()

    def _flush(self) -> None:
        waiting, self._waiting, self._characters = self._waiting, [], 0
        if not waiting or self._session is None:
            return
        body = {
            **self._fields,
            "session": session_to_record(self._session),
            "messages": [to_json(message_to_record(one)) for one in waiting if isinstance(one, Message)],
            "memories": [to_json(one) for one in waiting if isinstance(one, ForeignMemory)],
        }
        self._tally.add(self._send(body))
        self._progress(len(waiting))


def _parts(said: Sequence[Message]) -> Iterable[list[Message]]:
    """Yield the messages in parts that one request takes; one empty part for a conversation without any."""
    part: list[Message] = []
    size = 0
    for one in said:
        if part and (len(part) >= _BATCH or size + len(one.text) > _CHARACTERS):
            yield part
            part, size = [], 0
        part.append(one)
        size += len(one.text)
    if part or not said:
        yield part


def _report(source: ForeignSource, tally: _Tally) -> ForeignImport:
    return ForeignImport(
        path=str(source.path),
        form=source.name,
        conversations=len(tally.seen),
        added=tally.counts["added"],
        known=tally.counts["known"],
        memories=tally.counts["memories"],
        known_memories=tally.counts["known_memories"],
        echoes=tally.counts["echoes"],
        left_out=dict(tally.left_out),
        damage=tuple(tally.damage[:_MOST_DAMAGE]),
        notice=tally.notice,
    )


def _text(found: Mapping[str, object], name: str) -> str | None:
    value = found.get(name)
    return value if isinstance(value, str) else None
