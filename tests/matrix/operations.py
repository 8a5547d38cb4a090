"""Every operation of a vault as something to attempt, with what it needs and what it may show."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from recollect.domain.errors import InvalidInput, ModelMissing, NotFound
from recollect.domain.message import ToolCall
from recollect.domain.session import Session, SessionKey
from recollect.vault.draft import Draft
from recollect.vault.transcript import Said
from recollect.vault.vault import Vault
from tests.matrix import oracle
from tests.matrix.world import COMMON, NOW, THEN, Held

NOTHING: frozenset[str] = frozenset()
Run = Callable[[Vault], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One call, and what the rules say of it."""

    name: str
    permission: str
    run: Run
    #: The state of the memory it is about, when it is about one.
    place: str = ""
    #: The number of the session it touches, when that is all it touches.
    session: int | None = None
    #: The places whose canaries it shows to one who may call it.
    shows: frozenset[str] = NOTHING
    #: Whether it finds its object by an id, which may be of another vault.
    by_id: bool = False

    def __str__(self) -> str:
        """The call, for a finding."""
        place = self.place or ("" if self.session is None else f"session {self.session}")
        return f"{self.name}({place})"


def attempts(held: Held) -> list[Attempt]:
    """Every operation there is, aimed at what one vault holds; readers first, what destroys last."""
    return [*reads(held), *_memory_writes(held), *_session_writes(held), *_upkeep()]


def reads(held: Held) -> list[Attempt]:
    """The operations that change nothing."""
    return [*_memory_reads(held), *_vault_reads(held), *_session_reads(held)]


def _memory_reads(held: Held) -> Iterator[Attempt]:
    for place, id_ in held.memories.items():
        shows = frozenset({place}) & oracle.BY_ID
        yield _read("memories.get", lambda v, i=id_: v.memories.get(i), shows, place)
        yield _read("memories.history", lambda v, i=id_: v.memories.history(i), shows, place)
        yield _read("events.of", lambda v, i=id_: v.events.of(i), NOTHING, place)
    for place in held.memories.keys() - {"successor"}:
        # The successor holds the key of what it superseded.
        shown = frozenset({"successor"}) if place == "superseded" else frozenset({place}) & oracle.BY_KEY
        yield Attempt(
            name="memories.find", permission="read", run=lambda v, p=place: v.memories.find(f"k_{p}"), shows=shown
        )
    for state, shown in oracle.PAGES.items():
        yield Attempt(
            name="memories.page",
            permission="read",
            run=lambda v, s=state: v.memories.page(state=s, limit=1000),
            place=state,
            shows=shown,
        )


def _vault_reads(held: Held) -> Iterator[Attempt]:
    first = held.sessions[0]

    def read(name: str, run: Run, shows: frozenset[str] = NOTHING) -> Attempt:
        return Attempt(name=name, permission="read", run=run, shows=shows)

    yield read("memories.as_of", lambda v: v.memories.as_of(THEN), oracle.AS_OF_THEN)
    yield read("memories.as_of", lambda v: v.memories.as_of(NOW), oracle.AS_OF_NOW)
    yield read("vault.recall", lambda v: v.recall(COMMON, limit=1000), oracle.RECALLED)
    yield read("vault.recall", lambda v: v.recall(COMMON, source="memories"), oracle.RECALLED - {"talk0", "talk1"})
    yield _read("vault.recall", lambda v: v.recall(COMMON, session_id=first), frozenset({"talk0"}), "one session")
    yield read("vault.context", lambda v: v.context(), oracle.AS_CONTEXT)
    yield read("vault.context", lambda v: v.context(COMMON), oracle.AS_CONTEXT)
    shown = oracle.AS_CONTEXT | {"talk0"}
    yield _read("vault.context", lambda v: v.context(session_id=first), shown, "one session")
    yield read("vault.clock", lambda v: v.clock())
    yield read("vault.totals", lambda v: v.totals())
    yield read("vault.check", lambda v: v.check())
    yield read("index.status", lambda v: v.index.status())
    yield read("index.verify", lambda v: v.index.verify())
    yield read("notes.folders", lambda v: v.notes.folders())
    yield read("notes.page", lambda v: v.notes.page())
    yield read("transcripts.followed", lambda v: v.transcripts.followed())
    yield read("vault.recall", lambda v: v.recall(COMMON, source="notes"))
    # No word of it is known: found on the last rung, as a piece of a text.
    yield read("vault.recall", lambda v: v.recall(COMMON[1:-1], limit=1000), oracle.RECALLED)
    yield read("events.page", lambda v: v.events.page(limit=1000))
    yield read("lifecycle.preview", lambda v: v.lifecycle.preview())
    yield read("sessions.page", lambda v: v.sessions.page(), frozenset({"talk0", "talk1"}))


def _session_reads(held: Held) -> Iterator[Attempt]:
    for number, id_ in enumerate(held.sessions):
        shows = frozenset({f"talk{number}"})
        calls: dict[str, tuple[Run, frozenset[str]]] = {
            "sessions.get": (lambda v, i=id_: v.sessions.get(i), NOTHING),
            "chat.info": (lambda v, i=id_: v.sessions.get(i).info(), shows),
            "chat.messages": (lambda v, i=id_: v.sessions.get(i).messages(), shows),
            "chat.after": (lambda v, i=id_: v.sessions.get(session_id=i).after(), shows),
            "chat.window": (lambda v, i=id_: v.sessions.get(i).window(), shows),
        }
        for name, (run, shown) in calls.items():
            yield Attempt(name=name, permission="read", run=run, session=number, shows=shown, by_id=True)


def _memory_writes(held: Held) -> Iterator[Attempt]:
    first = held.messages[0]

    def write(name: str, run: Run, place: str = "", *, by_id: bool = False) -> Attempt:
        return Attempt(name=name, permission="write", run=run, place=place, by_id=by_id)

    yield write("memories.save", lambda v: v.memories.save("a new thing"))
    yield write("memories.save", lambda v: v.memories.save("from a message", message_id=first), "source", by_id=True)
    yield write("memories.save_many", lambda v: v.memories.save_many([Draft(content="many new things")]))
    for place, id_ in held.memories.items():
        yield write("memories.edit", lambda v, i=id_: v.memories.edit(i, importance=0.7), place, by_id=True)
        yield write("memories.move", lambda v, i=id_: v.memories.move(i, "archived"), place, by_id=True)
        yield write("memories.restore", lambda v, i=id_: v.memories.restore(i), place, by_id=True)
        yield write("memories.supersede", lambda v, i=id_: v.memories.supersede(i, "otherwise"), place, by_id=True)
        yield write("memories.forget", lambda v, i=id_: v.memories.forget(i), place, by_id=True)


def _session_writes(held: Held) -> Iterator[Attempt]:
    call = ToolCall(id="call", name="look")
    strange = Session(id="ses_from_elsewhere", key=SessionKey(), created_at=NOW, updated_at=NOW)
    whole: dict[str, Run] = {
        "sessions.open": lambda v: v.sessions.open(channel="place0"),
        "sessions.open_key": lambda v: v.sessions.open_key("agent:main:main"),
        "sessions.adopt": lambda v: v.sessions.adopt(strange, []),
    }
    for name, run in whole.items():
        yield Attempt(name=name, permission="write", run=run)
    for number, id_ in enumerate(held.sessions):
        message = held.messages[2 * number]
        calls: dict[str, Run] = {
            "chat.add": lambda v, i=id_: v.sessions.get(i).add("user", "one more thing"),
            "chat.add_many": lambda v, i=id_: v.sessions.get(i).add_many([Said(role="user", content="and more")]),
            "chat.record_call": lambda v, i=id_, m=message: v.sessions.get(i).record_call(m, call),
            "chat.describe": lambda v, i=id_: v.sessions.get(i).describe(title="renamed"),
            "chat.end": lambda v, i=id_: v.sessions.get(i).end(),
            "sessions.delete": lambda v, i=id_: v.sessions.delete(i),
        }
        for name, run in calls.items():
            yield Attempt(name=name, permission="write", run=run, session=number, by_id=True)


def _upkeep() -> Iterator[Attempt]:
    # Without an embedder there is nothing to do, and nothing to go back to; who may not is refused before that is seen.
    yield Attempt(name="index.update", permission="write", run=lambda v: _tried(v.index.update))
    yield Attempt(name="index.rollback", permission="write", run=lambda v: _tried(v.index.rollback))
    # Whoever may write to a vault may not therefore read the files of this machine.
    yield Attempt(name="notes.add", permission="admin", run=lambda v: _tried(lambda: v.notes.add("/dev/null")))
    yield Attempt(name="notes.remove", permission="write", run=lambda v: _tried(lambda: v.notes.remove("/dev/null")))
    yield Attempt(name="notes.sync", permission="write", run=lambda v: v.notes.sync())
    yield Attempt(name="notes.watch", permission="write", run=lambda v: v.notes.watch(_stopped()))
    yield Attempt(
        name="transcripts.follow", permission="admin", run=lambda v: _tried(lambda: v.transcripts.follow("/dev/null"))
    )
    yield Attempt(
        name="transcripts.unfollow",
        permission="write",
        run=lambda v: _tried(lambda: v.transcripts.unfollow("/dev/null")),
    )
    yield Attempt(name="transcripts.sync", permission="write", run=lambda v: v.transcripts.sync())
    yield Attempt(name="transcripts.watch", permission="write", run=lambda v: v.transcripts.watch(_stopped()))
    yield Attempt(name="vault.rebuild_index", permission="write", run=lambda v: v.rebuild_index())
    yield Attempt(name="lifecycle.accept_clock", permission="write", run=lambda v: v.lifecycle.accept_clock())
    yield Attempt(name="lifecycle.run", permission="write", run=lambda v: v.lifecycle.run())


def _stopped() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


def _tried(call: Callable[[], object]) -> object:
    try:
        return call()
    except (InvalidInput, ModelMissing, NotFound) as error:
        return str(error)


def _read(name: str, run: Run, shows: frozenset[str], place: str) -> Attempt:
    return Attempt(name=name, permission="read", run=run, place=place, shows=shows, by_id=True)
