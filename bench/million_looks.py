"""Lists, pages and lookups of the public interface, as calls on the vault of the benchmark `million`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from recollectum.domain.memory import Kind, State
from recollectum.domain.proposal import Decision
from recollectum.storage.tables.learning.jobs import JobState
from recollectum.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class Look:
    """One call: the operation's name, and with what it is called."""

    operation: str
    what: str
    run: Callable[[Vault], object]

    def __str__(self) -> str:
        """Return the call for a table."""
        return f"{self.operation} {self.what}".strip()


def looks(memories: int) -> Iterator[Look]:
    """Yield every look at a vault that `million_vault.fill` made with so many memories."""
    yield from _memories(memories)
    yield from _sessions(memories // 20)
    yield from _beside(memories)
    yield from _upkeep(memories)


def memory_id(number: int) -> str:
    """Return the id of a memory by its number."""
    return f"mem_{number:026}"


def _memories(count: int) -> Iterator[Look]:
    middle, first = memory_id(count // 2), memory_id(count // 50)
    for state in (State.ACTIVE, State.ARCHIVED, State.SOFT_DELETED):
        yield Look("memories.list", f"{state}", lambda v, s=state: v.memories.list(state=s))
        for name, cursor in (("middle", middle), ("end", first)):
            yield Look(
                "memories.list",
                f"{state}, {name}",
                lambda v, s=state, c=cursor: v.memories.list(state=s, cursor=c),
            )
        for kind in (Kind.FACT, Kind.CORRECTION, Kind.TASK):
            yield Look("memories.list", f"{state}, {kind}", lambda v, s=state, k=kind: v.memories.list(state=s, kind=k))
    yield Look("memories.list", "a thousand", lambda v: v.memories.list(limit=1000))
    yield Look("memories.list", "keys of a prefix", lambda v: v.memories.list(key_prefix="place_"))
    yield Look("memories.list", "keys of no prefix", lambda v: v.memories.list(key_prefix="nowhere_"))
    yield Look("memories.list", "keys, middle", lambda v: v.memories.list(key_prefix="place_", cursor=middle))
    kept = memory_id(count // 2 + 20)
    yield Look("memories.get", "", lambda v: v.memories.get(kept))
    yield Look("memories.find", "", lambda v: v.memories.find(f"place_{count // 100 * 50 + 60}"))
    yield Look("memories.history", "", lambda v: v.memories.history(kept))
    yield Look("memories.citations", "", lambda v: v.memories.citations(kept))
    yield Look("events.history", "", lambda v: v.admin.events.history(kept))
    yield Look("learnings.list", "", lambda v: v.learnings.list())
    yield Look("learnings.list", "middle", lambda v: v.learnings.list(cursor=middle))
    yield Look("learnings.file", "", lambda v: v.learnings.file())
    yield Look("contacts.list", "", lambda v: v.memories.contacts.list())
    yield Look("contacts.resolve", "", lambda v: v.memories.contacts.resolve("Annabaa Berg"))
    yield Look("trash.list", "", lambda v: v.privacy.trash.list())
    yield Look("trash.list", "of a session", lambda v: v.privacy.trash.list(session_id=f"ses_{count // 40:026}"))
    yield Look("trash.list_aged", "", lambda v: v.privacy.trash.list_aged())
    yield Look("profiles.find", "", lambda v: v.admin.profile.find())
    yield Look("vault.recall", "", lambda v: v.recall("soup after lunch"))
    yield Look("vault.context", "", lambda v: v.context("soup after lunch", mark="a1b2c3d4e5f60718"))


def _sessions(count: int) -> Iterator[Look]:
    middle = f"ses_{count // 2:026}"
    yield Look("sessions.list", "", lambda v: v.sessions.list())
    yield Look("sessions.list", "middle", lambda v: v.sessions.list(cursor=middle))
    for prefix in ("agent:main:", "agent:rare:", "agent:none:"):
        yield Look("sessions.list", prefix, lambda v, p=prefix: v.sessions.list(key_prefix=p))
    yield Look("sessions.get", "", lambda v: v.sessions.get(middle))
    yield Look("sessions.chat", "", lambda v: v.sessions.chat(middle))
    yield Look("sessions.list_imports", "", lambda v: v.sessions.list_imports())
    yield Look("summaries.find", "", lambda v: v.sessions.summaries.find(middle))
    yield Look("chat.info", "", lambda v: v.sessions.chat(middle).info())
    yield Look("chat.messages", "", lambda v: v.sessions.chat(middle).messages())
    yield Look("chat.transcript", "", lambda v: v.sessions.chat(middle).transcript())
    yield Look("chat.window", "", lambda v: v.sessions.chat(middle).window())
    yield Look("checkpoints.list", "", lambda v: v.sessions.checkpoints.list())
    yield Look("checkpoints.list", "of a session", lambda v: v.sessions.checkpoints.list("ses_" + "1".zfill(26)))


def _beside(count: int) -> Iterator[Look]:
    yield Look("events.list", "", lambda v: v.admin.events.list())
    yield Look("events.list", "middle", lambda v: v.admin.events.list(cursor=str(count // 2)))
    for kind in ("created", "archived", "purged"):
        yield Look("events.list", kind, lambda v, k=kind: v.admin.events.list(type=k))
    yield Look("shellhistory.list", "", lambda v: v.state.history.list())
    yield Look("interfacestate.list", "", lambda v: v.state.interfaces.list())
    yield Look("interfacestate.list_interfaces", "", lambda v: v.state.interfaces.list_interfaces())
    yield Look("interfacestate.find", "", lambda v: v.state.interfaces.find("theme"))
    yield Look("accounts.list", "", lambda v: v.state.accounts.list())
    yield Look("accounts.find_active", "", lambda v: v.state.accounts.find_active("google"))
    yield Look("projects.list", "", lambda v: v.projects.list())
    yield Look("projects.find", "", lambda v: v.projects.find("nowhere"))
    yield Look("undo.list", "", lambda v: v.privacy.undo.list())
    yield Look("quarantines.list", "", lambda v: v.privacy.quarantine.list())
    yield Look("quarantines.preview", "", lambda v: v.privacy.quarantine.preview("import:imp_" + "1".zfill(26)))
    yield Look("trash.list_sweeps", "", lambda v: v.privacy.trash.list_sweeps())
    yield Look("trash.list_sweeps", "middle", lambda v: v.privacy.trash.list_sweeps(cursor=str(count // 200)))
    for decision in Decision:
        yield Look("review.list", decision, lambda v, d=decision: v.admin.review.list(decision=d))
    proposal = "prp_" + "1".zfill(26)
    yield Look("review.get", "", lambda v: v.admin.review.get(proposal))
    yield Look("review.diff", "", lambda v: v.admin.review.diff(proposal))
    yield Look("consolidation.list_jobs", "", lambda v: v.admin.consolidation.list_jobs())
    for state in JobState:
        yield Look("consolidation.list_jobs", state, lambda v, s=state: v.admin.consolidation.list_jobs(state=s))
    session = f"ses_{count // 40:026}"
    yield Look("consolidation.list_runs", "", lambda v: v.admin.consolidation.list_runs())
    yield Look("consolidation.list_runs", "of a session", lambda v: v.admin.consolidation.list_runs(session_id=session))
    yield Look("consolidation.list_unread", "", lambda v: v.admin.consolidation.list_unread(everything=True))
    yield Look("consolidation.estimate", "", lambda v: v.admin.consolidation.estimate([session]))


def _upkeep(count: int) -> Iterator[Look]:
    yield Look("vaultadmin.totals", "", lambda v: v.admin.totals())
    yield Look("vaultadmin.clock", "", lambda v: v.admin.clock())
    yield Look("index.status", "", lambda v: v.admin.index.status())
    yield Look("notes.list_folders", "", lambda v: v.admin.notes.list_folders())
    yield Look("notes.list", "", lambda v: v.admin.notes.list())
    yield Look("globalnotesfile.read", "", lambda v: v.admin.global_notes.read())
    yield Look("transcripts.list", "", lambda v: v.admin.transcripts.list())
    yield Look("filehosts.find_other", "", lambda v: v.admin.file_hosts.find_other())
    yield Look("purge.list_receipts", "", lambda v: v.privacy.purge.list_receipts())
    yield Look("lifecycle.preview", "", lambda v: v.admin.lifecycle.preview())
    yield from whole(count)


def whole(count: int) -> Iterator[Look]:
    """Yield the calls that read the whole vault by their nature: their time grows with it."""
    yield Look("memories.as_of", "", lambda v: v.memories.as_of(v.admin.clock().now))
    yield Look("undo.diff", "of a day", lambda v: v.privacy.undo.diff(v.memories.get(memory_id(count - 20)).created_at))
    yield Look("index.verify", "", lambda v: v.admin.index.verify())
    yield Look("storedechoes.preview", "", lambda v: v.sessions.echoes.preview())
    yield Look(
        "lifecycle.preview",
        "of a month",
        lambda v: v.admin.lifecycle.preview(v.admin.clock().now + timedelta(days=30)),
    )
