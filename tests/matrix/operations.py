"""Every operation of a vault as something to attempt, with what it needs and what it may show."""

import threading
from collections.abc import Iterator

from recollectum.domain.memory import State
from recollectum.domain.message import ToolCall
from recollectum.domain.session import Session, SessionKey
from recollectum.vault.imports.service import ImportPreview
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.purge.request import PurgeRequest
from tests.matrix import oracle
from tests.matrix.attempt import NOTHING, Attempt, Run, tried
from tests.matrix.state_operations import of_state, of_tasks, project_reads
from tests.matrix.world import COMMON, NOW, THEN, Held

_NOTHING_FOUND = ImportPreview(contents=(), unknown=0, unreadable=(), import_id="imp_none", sources=())
#: Given, so that two contexts of the same state are the same.
MARK = "a1b2c3d4e5f60718"


def attempts(held: Held) -> list[Attempt]:
    """Every operation there is, aimed at what one vault holds; readers first, what destroys last."""
    return [*reads(held), *_memory_writes(held), *_session_writes(held), *of_state(), *_upkeep()]


def reads(held: Held) -> list[Attempt]:
    """The operations that change nothing."""
    return [*_memory_reads(held), *_vault_reads(held), *project_reads(), *_session_reads(held)]


def _memory_reads(held: Held) -> Iterator[Attempt]:
    for place, id_ in held.memories.items():
        shows = frozenset({place}) & oracle.BY_ID
        yield _read("memories.get", lambda v, i=id_: v.memories.get(i), shows, place)
        yield _read("memories.history", lambda v, i=id_: v.memories.history(i), shows, place)
        yield _read("memories.citations", lambda v, i=id_: v.memories.citations(i), NOTHING, place)
        yield _read("events.history", lambda v, i=id_: v.admin.events.history(i), NOTHING, place)
    for place in held.memories.keys() - {"successor"}:
        # The successor holds the key of what it superseded.
        shown = frozenset({"successor"}) if place == "superseded" else frozenset({place}) & oracle.BY_KEY
        yield Attempt(
            name="memories.find", permission="read", run=lambda v, p=place: v.memories.find(f"k_{p}"), shows=shown
        )
    for state, shown in oracle.PAGES.items():
        yield Attempt(
            name="memories.list",
            permission="read",
            run=lambda v, s=state: v.memories.list(state=State(s), limit=1000),
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
    yield read("vault.context", lambda v: v.context(mark=MARK), oracle.AS_CONTEXT)
    yield read("vault.context", lambda v: v.context(COMMON, mark=MARK), oracle.RECALLED)
    yield read("profiles.find", lambda v: v.admin.profile.find(), oracle.AS_CONTEXT)
    yield read("storedechoes.preview", lambda v: v.sessions.echoes.preview())
    yield read("checkpoints.list", lambda v: v.sessions.checkpoints.list())
    # What was said last in the session is the question, and finds what is like it anywhere.
    shown = oracle.RECALLED
    yield _read("vault.context", lambda v: v.context(session_id=first, mark=MARK), shown, "one session")
    yield read("served.save", lambda v: v.admin.served.save("nothing of ours"))
    yield read("vaultadmin.clock", lambda v: v.admin.clock())
    yield read("vaultadmin.totals", lambda v: v.admin.totals())
    yield read("index.status", lambda v: v.admin.index.status())
    yield read("index.verify", lambda v: v.admin.index.verify())
    yield read("notes.list_folders", lambda v: v.admin.notes.list_folders())
    yield read("notes.list", lambda v: v.admin.notes.list())
    yield read("learnings.list", lambda v: v.learnings.list())
    yield read("learnings.file", lambda v: v.learnings.file())
    yield read("globalnotesfile.read", lambda v: v.admin.global_notes.read())
    yield read("transcripts.list", lambda v: v.admin.transcripts.list())
    yield read("consolidation.estimate", lambda v: v.admin.consolidation.estimate([]))
    yield read("consolidation.list_unread", lambda v: v.admin.consolidation.list_unread())
    yield read("consolidation.list_jobs", lambda v: v.admin.consolidation.list_jobs())
    yield read("consolidation.list_runs", lambda v: v.admin.consolidation.list_runs())
    yield read("contacts.list", lambda v: v.memories.contacts.list())
    yield read("contacts.resolve", lambda v: v.memories.contacts.resolve("mother"))
    yield read("trash.list", lambda v: v.privacy.trash.list(), oracle.PAGES["soft_deleted"])
    yield read("trash.list_aged", lambda v: v.privacy.trash.list_aged(), oracle.AGED)
    yield read("trash.list_sweeps", lambda v: v.privacy.trash.list_sweeps())
    yield read("quarantines.list", lambda v: v.privacy.quarantine.list())
    yield read("quarantines.preview", lambda v: v.privacy.quarantine.preview("tool:none"))
    yield read("sessions.list_imports", lambda v: v.sessions.list_imports())
    yield read("undo.list", lambda v: v.privacy.undo.list(limit=1000))
    yield read("undo.diff", lambda v: v.privacy.undo.diff(THEN), oracle.DIFF_SINCE_THEN)
    yield read("purge.list_receipts", lambda v: v.privacy.purge.list_receipts())
    yield read("review.list", lambda v: v.admin.review.list())
    yield read("review.analyse", lambda v: v.admin.review.analyse())
    yield read("review.get", lambda v: tried(lambda: v.admin.review.get("prp_none")))
    yield read("review.diff", lambda v: tried(lambda: v.admin.review.diff("prp_none")))
    yield read("vault.recall", lambda v: v.recall(COMMON, source="notes"))
    # No word of it is known: found on the last rung, as a piece of a text.
    yield read("vault.recall", lambda v: v.recall(COMMON[1:-1], limit=1000), oracle.RECALLED)
    yield read("events.list", lambda v: v.admin.events.list(limit=1000))
    yield read("lifecycle.retention", lambda v: v.admin.lifecycle.retention())
    yield read("lifecycle.preview", lambda v: v.admin.lifecycle.preview())
    yield read("sessions.list", lambda v: v.sessions.list(), frozenset({"talk0", "talk1"}))


def _session_reads(held: Held) -> Iterator[Attempt]:
    for number, id_ in enumerate(held.sessions):
        shows = frozenset({f"talk{number}"})
        calls: dict[str, tuple[Run, frozenset[str]]] = {
            "sessions.get": (lambda v, i=id_: v.sessions.get(i), shows),
            "sessions.chat": (lambda v, i=id_: v.sessions.chat(i), NOTHING),
            "summaries.find": (lambda v, i=id_: v.sessions.summaries.find(i), NOTHING),
            "chat.info": (lambda v, i=id_: v.sessions.chat(i).info(), shows),
            "chat.messages": (lambda v, i=id_: v.sessions.chat(i).messages(), shows),
            "chat.transcript": (lambda v, i=id_: v.sessions.chat(session_id=i).transcript(), shows),
            "chat.window": (lambda v, i=id_: v.sessions.chat(i).window(), shows),
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
        again = f"{place} to active"
        yield write("memories.move", lambda v, i=id_: v.memories.move(i, "active"), again, by_id=True)
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
    yield _write_by_id("checkpoints.fork", lambda v: v.sessions.checkpoints.fork(held.sessions[0], 1))
    for number, id_ in enumerate(held.sessions):
        message = held.messages[2 * number]
        calls: dict[str, Run] = {
            "chat.add": lambda v, i=id_: v.sessions.chat(i).add("user", "one more thing"),
            "chat.add_many": lambda v, i=id_: v.sessions.chat(i).add_many(
                [NewMessage(role="user", content="and more")]
            ),
            "chat.record_call": lambda v, i=id_, m=message: v.sessions.chat(i).record_call(m, call),
            "chat.describe": lambda v, i=id_: v.sessions.chat(i).describe(title="renamed"),
            "chat.end": lambda v, i=id_: v.sessions.chat(i).end(),
            "summaries.update": lambda v, i=id_: v.sessions.summaries.update(i),
            "checkpoints.save": lambda v, i=id_: v.sessions.checkpoints.save(i, "here"),
            "sessions.delete": lambda v, i=id_: v.sessions.delete(i),
        }
        for name, run in calls.items():
            yield Attempt(name=name, permission="write", run=run, session=number, by_id=True)


def _write_by_id(name: str, run: Run) -> Attempt:
    return Attempt(name=name, permission="write", run=run, by_id=True)


def _importing() -> Iterator[Attempt]:
    yield Attempt(name="imports.list_places", permission="admin", run=lambda v: v.admin.imports.list_places("/nowhere"))
    yield Attempt(
        name="imports.preview",
        permission="admin",
        run=lambda v: tried(lambda: v.admin.imports.preview(["/dev/null"])),
    )
    yield Attempt(name="imports.add", permission="write", run=lambda v: v.admin.imports.add(_NOTHING_FOUND))
    yield Attempt(name="imports.run", permission="admin", run=lambda v: v.admin.imports.run(_NOTHING_FOUND))


def _upkeep() -> Iterator[Attempt]:
    yield Attempt(
        name="checkpoints.resume",
        permission="write",
        run=lambda v: tried(lambda: v.sessions.checkpoints.resume("nowhere")),
    )
    yield Attempt(
        name="checkpoints.remove",
        permission="write",
        run=lambda v: tried(lambda: v.sessions.checkpoints.remove("nowhere")),
    )
    # Without an embedder there is nothing to do, and nothing to go back to; who may not is refused before that is seen.
    yield Attempt(name="index.update", permission="write", run=lambda v: tried(v.admin.index.update))
    yield Attempt(name="index.catch_up", permission="write", run=lambda v: v.admin.index.catch_up())
    yield Attempt(name="index.rollback", permission="write", run=lambda v: tried(v.admin.index.rollback))
    # Whoever may write to a vault may not therefore read the files of this machine.
    yield Attempt(
        name="notes.add_folder", permission="admin", run=lambda v: tried(lambda: v.admin.notes.add_folder("/dev/null"))
    )
    yield Attempt(name="filehosts.find_other", permission="read", run=lambda v: v.admin.file_hosts.find_other())
    yield Attempt(name="filehosts.take", permission="admin", run=lambda v: v.admin.file_hosts.take())
    yield Attempt(
        name="notes.remove_folder",
        permission="write",
        run=lambda v: tried(lambda: v.admin.notes.remove_folder("/dev/null")),
    )
    yield Attempt(name="storedechoes.remove", permission="write", run=lambda v: v.sessions.echoes.remove())
    yield Attempt(name="notes.sync", permission="write", run=lambda v: v.admin.notes.sync())
    yield Attempt(name="notes.watch", permission="write", run=lambda v: v.admin.notes.watch(_stopped()))
    yield Attempt(name="learnings.save", permission="write", run=lambda v: v.learnings.save("so it is done", "pattern"))
    yield Attempt(name="learnings.sync", permission="write", run=lambda v: v.learnings.sync())
    yield Attempt(name="learnings.forget", permission="write", run=lambda v: tried(lambda: v.learnings.forget("none")))
    yield Attempt(name="globalnotesfile.save", permission="write", run=lambda v: v.admin.global_notes.save("be brief"))
    yield Attempt(
        name="transcripts.add",
        permission="admin",
        run=lambda v: tried(lambda: v.admin.transcripts.add("/dev/null")),
    )
    yield from _importing()
    yield from of_tasks()
    yield Attempt(
        name="transcripts.remove",
        permission="write",
        run=lambda v: tried(lambda: v.admin.transcripts.remove("/dev/null")),
    )
    yield Attempt(name="transcripts.sync", permission="write", run=lambda v: v.admin.transcripts.sync())
    yield Attempt(name="transcripts.watch", permission="write", run=lambda v: v.admin.transcripts.watch(_stopped()))
    for name, run in _consolidating().items():
        yield Attempt(name=name, permission="write", run=lambda v, r=run: tried(lambda: r(v)))
    for name, run in _purging().items():
        yield Attempt(name=name, permission="write", run=lambda v, r=run: tried(lambda: r(v)))
    for name, run in _projects().items():
        yield Attempt(name=name, permission="write", run=lambda v, r=run: tried(lambda: r(v)))
    for name, run in _going_back().items():
        yield Attempt(name=name, permission="write", run=lambda v, r=run: tried(lambda: r(v)))
    learned = [{"role": "user", "content": "Remember that the boat is red."}]
    yield Attempt(name="vault.learn", permission="write", run=lambda v: v.learn(learned))
    yield Attempt(name="index.rebuild", permission="write", run=lambda v: v.admin.index.rebuild())
    yield Attempt(name="lifecycle.accept_clock", permission="write", run=lambda v: v.admin.lifecycle.accept_clock())
    yield Attempt(name="lifecycle.run", permission="write", run=lambda v: v.admin.lifecycle.run())


def _consolidating() -> dict[str, Run]:
    """About nothing that is there: what one may do is refused before that is seen."""
    return {
        "consolidation.run": lambda v: v.admin.consolidation.run("ses_none"),
        "consolidation.preview": lambda v: v.admin.consolidation.preview("ses_none"),
        "consolidation.reset": lambda v: v.admin.consolidation.reset("ses_none"),
        "consolidation.revert": lambda v: v.admin.consolidation.revert("run_none"),
        "consolidation.note_idle": lambda v: v.admin.consolidation.note_idle(),
        "consolidation.work": lambda v: v.admin.consolidation.work(),
        "consolidation.end_idle": lambda v: v.admin.consolidation.end_idle(),
        "review.approve": lambda v: v.admin.review.approve("prp_none"),
        "review.reject": lambda v: v.admin.review.reject("prp_none"),
        "review.grow": lambda v: v.admin.review.grow(),
        "review.propose": lambda v: v.admin.review.propose([]),
    }


def _projects() -> dict[str, Run]:
    """Of no project that is there."""
    return {
        "projects.add": lambda v: v.projects.add("/nowhere/at/all"),
        "projects.rename": lambda v: v.projects.rename("nowhere", "elsewhere"),
        "projects.add_root": lambda v: v.projects.add_root("nowhere", "/nowhere/at/all"),
        "projects.forget": lambda v: v.projects.forget("nowhere"),
    }


def _going_back() -> dict[str, Run]:
    """To nothing that is there."""
    return {
        "trash.restore": lambda v: v.privacy.trash.restore(session_id="ses_none"),
        "trash.add": lambda v: v.privacy.trash.add(["mem_none"]),
        "trash.restore_aged": lambda v: v.privacy.trash.restore_aged(),
        "trash.sweep": lambda v: v.privacy.trash.sweep(),
        "undo.event": lambda v: v.privacy.undo.event(10**9),
        "undo.last": lambda v: v.privacy.undo.last(0),
        "undo.run": lambda v: v.privacy.undo.run("run_none"),
        "undo.brought": lambda v: v.privacy.undo.brought("imp_none"),
        "quarantines.add": lambda v: v.privacy.quarantine.add("tool:none"),
        "quarantines.release": lambda v: v.privacy.quarantine.release("qua_none"),
    }


def _purging() -> dict[str, Run]:
    """Of nothing that is there, and without leave."""
    return {
        "purge.preview": lambda v: v.privacy.purge.preview(PurgeRequest.sessions("ses_none")),
        "purge.run": lambda v: v.privacy.purge.run("made up"),
        "purge.finish": lambda v: v.privacy.purge.finish(),
    }


def _stopped() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


def _read(name: str, run: Run, shows: frozenset[str], place: str) -> Attempt:
    return Attempt(name=name, permission="read", run=run, place=place, shows=shows, by_id=True)
