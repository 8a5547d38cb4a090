"""Every command, line of a chat and hook event, with words that reach its action, and the actions it takes."""

from recollectum.doors.hook.events import Moment
from recollectum.policy.actions import Action as A
from tests.laws.door_paths import Actions
from tests.matrix.world import Held

_PURGE = (A.PURGE_RUN, A.MEMORY_DELETE, A.SESSION_DELETE, A.STATE_DELETE)
_UNDO = (A.UNDO_RUN, A.MEMORY_WRITE, A.MEMORY_DELETE)


#: By the words of the command: what is typed behind them, and what it does.
Commands = dict[str, tuple[tuple[str, ...], Actions]]


def commands(held: Held, folder: str) -> Commands:
    """Every command that takes an action."""
    return {
        **_of_memories(held),
        **_of_sessions(held.sessions[0], folder),
        **_of_state(),
        **_of_upkeep(held, folder),
        **_of_the_home(),
    }


def _of_memories(held: Held) -> Commands:
    """About single memories."""
    memory, gone, session = held.memories["active"], held.memories["soft_deleted"], held.sessions[0]
    return {
        "remember": (("a new thing",), (A.MEMORY_WRITE,)),
        "recall": (("zebra",), (A.MEMORY_SEARCH,)),
        "context": (("zebra",), (A.MEMORY_SEARCH,)),
        "memories profile": ((), (A.MEMORY_READ,)),
        "memories list": ((), (A.MEMORY_READ,)),
        "memories show": ((memory,), (A.MEMORY_READ,)),
        "memories edit": ((memory, "otherwise"), (A.MEMORY_WRITE,)),
        "memories archive": ((memory,), (A.MEMORY_WRITE,)),
        "memories forget": ((memory,), (A.MEMORY_DELETE,)),
        "memories restore": ((gone,), (A.MEMORY_WRITE,)),
        "memories supersede": ((memory, "otherwise"), (A.MEMORY_WRITE,)),
        "memories as-of": (("2026-08-01",), (A.MEMORY_READ,)),
        "memories history": ((memory,), (A.MEMORY_READ,)),
        "memories diff": ((memory,), (A.MEMORY_READ,)),
        "learnings add": (("short answers", "--category", "pattern"), (A.MEMORY_WRITE,)),
        "learnings list": ((), (A.MEMORY_READ,)),
        "learnings remove": ((memory,), (A.MEMORY_DELETE,)),
        "learnings sync": ((), (A.MEMORY_WRITE, A.MEMORY_DELETE)),
        "learnings path": ((), (A.MEMORY_READ,)),
        "memories trash list": ((), (A.MEMORY_READ,)),
        "memories trash restore": (("--session", session), (A.MEMORY_WRITE,)),
        "contacts resolve": (("mother",), (A.MEMORY_READ,)),
        "contacts list": ((), (A.MEMORY_READ,)),
    }


def _of_sessions(session: str, folder: str) -> Commands:
    """About conversations, notes and transcripts."""
    return {
        "sessions list": ((), (A.SESSION_READ,)),
        "sessions show": ((session,), (A.SESSION_READ,)),
        "sessions add": ((session, "user", "hello"), (A.SESSION_WRITE,)),
        "sessions end": ((session,), (A.SESSION_WRITE,)),
        "sessions delete": ((session, "--yes"), (A.SESSION_DELETE,)),
        "sessions clean": (("--yes",), (A.SESSION_DELETE, A.MEMORY_DELETE)),
        "sessions export": ((session,), (A.SESSION_READ,)),
        "sessions import": ((f"{folder}/exported.jsonl",), (A.SESSION_WRITE,)),
        "sessions imports": ((), (A.SESSION_READ,)),
        "sessions checkpoints save": ((session, "here"), (A.SESSION_WRITE,)),
        "sessions checkpoints list": ((), (A.SESSION_READ,)),
        "sessions checkpoints resume": (("here",), (A.SESSION_WRITE,)),
        "sessions checkpoints fork": ((session, "1"), (A.SESSION_WRITE,)),
        "sessions checkpoints delete": (("here",), (A.SESSION_DELETE,)),
        "projects list": ((), (A.MEMORY_READ,)),
        "projects add": ((folder,), (A.MEMORY_WRITE,)),
        "projects show": (("nowhere",), (A.MEMORY_READ,)),
        "projects rename": (("nowhere", "elsewhere"), (A.MEMORY_WRITE,)),
        "projects link": (("nowhere", folder), (A.MEMORY_WRITE,)),
        "projects forget": (("nowhere", "--yes"), (A.MEMORY_READ,)),
        "purge project": (("nowhere", "--yes"), (A.MEMORY_READ,)),
        "tasks save": (("t", "--data", "{}"), (A.TASK_WRITE,)),
        "tasks load": (("t", f"{folder}/new"), (A.TASK_READ, A.FILE_FOLLOW)),
        "tasks list": ((), (A.TASK_READ,)),
        "tasks show": (("t",), (A.TASK_READ,)),
        # It looks first, and there is none.
        "tasks delete": (("t", "--yes"), (A.TASK_READ,)),
        "tasks retain": (("--yes",), (A.TASK_DELETE,)),
        "notes add": ((folder,), (A.FILE_FOLLOW, A.NOTE_WRITE)),
        "notes list": ((), (A.NOTE_READ,)),
        "notes sync": ((), (A.NOTE_WRITE,)),
        "notes remove": ((folder,), (A.NOTE_WRITE,)),
        "daemon hosts take": ((), (A.FILE_FOLLOW, A.NOTE_WRITE, A.TRANSCRIPT_WRITE)),
        "notes global show": ((), (A.NOTE_READ,)),
        "notes global path": ((), (A.NOTE_READ,)),
        "notes global edit": (("be brief",), (A.NOTE_WRITE,)),
        "sessions transcripts follow": ((f"{folder}/said.jsonl",), (A.FILE_FOLLOW, A.TRANSCRIPT_WRITE)),
        "sessions transcripts list": ((), (A.TRANSCRIPT_READ,)),
        "sessions transcripts sync": ((), (A.TRANSCRIPT_WRITE, A.SESSION_WRITE)),
        "sessions transcripts unfollow": ((f"{folder}/said.jsonl",), (A.TRANSCRIPT_WRITE,)),
        "import": ((f"{folder}/said.jsonl", "--yes"), (A.FILE_FOLLOW, A.SESSION_WRITE, A.MEMORY_WRITE)),
        "mcp import-graph": ((f"{folder}/graph.jsonl",), (A.SESSION_WRITE, A.MEMORY_WRITE)),
    }


def _of_state() -> Commands:
    """About what agents keep besides."""
    return {
        "history add": (("ls -l",), (A.STATE_WRITE,)),
        "history list": ((), (A.STATE_READ,)),
        "history search": (("ls",), (A.STATE_READ,)),
        "history clear": (("--yes",), (A.STATE_DELETE,)),
        "state show": ((), (A.STATE_READ,)),
        "state get": (("theme",), (A.STATE_READ,)),
        "state set": (("theme", "dark"), (A.STATE_WRITE,)),
        "state unset": (("theme",), (A.STATE_DELETE,)),
        "accounts list": ((), (A.STATE_READ,)),
        "accounts add": (("google", "ada@example.com"), (A.STATE_WRITE,)),
        "accounts use": (("google", "ada@example.com"), (A.STATE_WRITE,)),
        "accounts remove": (("google", "ada@example.com"), (A.STATE_DELETE,)),
    }


def _of_upkeep(held: Held, folder: str) -> Commands:
    """About what keeps memory in order, and what takes it away."""
    memory, session = held.memories["active"], held.sessions[0]
    return {
        "consolidate": ((session,), (A.CONSOLIDATION_RUN, A.MEMORY_WRITE)),
        "review grow": ((), (A.REVIEW_PROPOSE,)),
        "undo list": ((), (A.EVENT_READ,)),
        "undo last": ((), _UNDO),
        "undo event": (("1",), _UNDO),
        "undo import": (("imp_none",), (A.UNDO_RUN, A.QUARANTINE_WRITE, A.MEMORY_DELETE, A.SESSION_DELETE)),
        "undo diff": (("--since", "2026-01-01"), (A.EVENT_READ,)),
        "events": ((), (A.EVENT_READ,)),
        "index status": ((), (A.INDEX_READ,)),
        "index update": ((), (A.INDEX_WRITE,)),
        "index rebuild": ((), (A.INDEX_WRITE,)),
        "index rollback": ((), (A.INDEX_WRITE,)),
        "index verify": ((), (A.INDEX_READ,)),
        "lifecycle preview": ((), (A.MEMORY_READ,)),
        "lifecycle retention": ((), (A.MEMORY_READ,)),
        "lifecycle restore": ((), (A.MEMORY_WRITE,)),
        "lifecycle run": ((), (A.LIFECYCLE_RUN,)),
        "lifecycle reports": ((), (A.MEMORY_READ,)),
        "quarantine put": (("tool:look", "--yes"), (A.QUARANTINE_WRITE, A.MEMORY_WRITE)),
        "quarantine list": ((), (A.QUARANTINE_READ,)),
        "quarantine release": (("qua_none",), (A.QUARANTINE_WRITE, A.MEMORY_WRITE)),
        "purge user": (("alice", "--yes"), _PURGE),
        "purge session": ((session, "--yes"), _PURGE),
        "purge source": (("imported", "--yes"), _PURGE),
        "purge older-than": (("1", "--yes"), _PURGE),
        "purge memory": ((memory, "--yes"), _PURGE),
        "purge history": (("--yes",), _PURGE),
        "purge finish": ((), _PURGE),
        "purge receipts list": ((), (A.RECEIPT_READ,)),
        "purge receipts show": (("rcp_none",), (A.RECEIPT_READ,)),
        "purge receipts key": ((), (A.RECEIPT_READ,)),
        "purge receipts verify": ((f"{folder}/receipt.json",), (A.RECEIPT_READ,)),
        "review list": ((), (A.REVIEW_READ,)),
        "review show": (("prp_none",), (A.REVIEW_READ,)),
        "review approve": (("prp_none",), (A.REVIEW_DECIDE, A.MEMORY_WRITE, A.MEMORY_DELETE)),
        "review reject": (("prp_none",), (A.REVIEW_DECIDE,)),
    }


def _of_the_home() -> Commands:
    """About people, grants and keys."""
    return {
        "users list": ((), (A.PERSON_READ,)),
        "users add": (("zoe",), (A.PERSON_WRITE,)),
        "users show": (("alice",), (A.PERSON_READ,)),
        "users link": (("alice", "telegram:42"), (A.PERSON_WRITE,)),
        "users unlink": (("alice", "telegram:42"), (A.PERSON_WRITE,)),
        "users merge": (("carol", "dave", "--yes"), (A.PERSON_READ, A.PERSON_WRITE)),
        "users unmerge": (("mrg_none",), (A.PERSON_WRITE,)),
        "users merges": ((), (A.PERSON_READ,)),
        "users tenants list": ((), (A.PERSON_READ,)),
        "users tenants set": (("acme", "--active-days", "10"), (A.PERSON_WRITE,)),
        "keys create": ((), (A.KEY_WRITE,)),
        "keys rotate": (("key_none",), (A.KEY_WRITE,)),
        "keys list": ((), (A.KEY_READ,)),
        "keys revoke": (("key_none",), (A.KEY_WRITE,)),
        "extensions list": ((), (A.EXTENSION_READ,)),
        "extensions show": (("none",), (A.EXTENSION_READ,)),
        "extensions mcp": ((), (A.EXTENSION_READ,)),
        "extensions files": ((), (A.EXTENSION_READ,)),
        "extensions install": (("none", "--yes"), (A.EXTENSION_WRITE,)),
        "extensions trust": (("none", "--yes"), (A.EXTENSION_WRITE,)),
        "extensions enable": (("none",), (A.EXTENSION_WRITE,)),
        "extensions disable": (("none",), (A.EXTENSION_WRITE,)),
        "extensions update": (("none", "--yes"), (A.EXTENSION_WRITE,)),
        "extensions uninstall": (("none", "--yes"), (A.EXTENSION_WRITE,)),
        "users grants add": (("--to", "carol", "--owner", "alice", "--permission", "read"), (A.KEY_WRITE,)),
        "users grants list": ((), (A.KEY_READ,)),
        "users grants withdraw": (("grt_none",), (A.KEY_WRITE,)),
    }


#: What is about the home, its files and its programs, for the process owner, and about nobody's memory.
ABOUT_THE_HOME = frozenset(
    {"init", "status", "models", "upgrade", "backup", "restore", "doctor", "repair", "move", "export"}
    | {
        "serve",
        "connect",
        "console",
        "daemon status",
        "daemon stop",
        "daemon run",
        "daemon hosts list",
        "mcp install",
        "mcp uninstall",
        "bench recall",
    }
    | {f"settings {verb}" for verb in ("show", "get", "set", "unset", "migrate", "path")}
    | {f"credentials {verb}" for verb in ("set", "list", "delete", "accounts", "use", "import", "status")}
    | {f"encryption {verb}" for verb in ("status", "new-code", "recover", "passphrase", "rekey", "move-keys")}
    | {f"projects {verb}" for verb in ("trust", "distrust")}
    | {f"policy {verb}" for verb in ("check", "explain", "test")}
)
#: What has a table of its own: what a chat offers, and the events of a hook.
APART = frozenset({"chat", "hook"})


def chat_lines(memory: str) -> dict[str, tuple[str, Actions]]:
    """By the slash command or the tool of the model: the lines that are typed, and what they do."""
    return {
        "/remember": ("/remember tea", (A.MEMORY_WRITE,)),
        "/memory": ("/memory", (A.MEMORY_READ,)),
        "/forget": (f"/forget {memory}\ny", (A.MEMORY_DELETE,)),
        "/context": ("/context zebra", (A.MEMORY_SEARCH,)),
        "/reset": ("/reset", (A.CONSOLIDATION_RUN, A.MEMORY_WRITE, A.SESSION_WRITE)),
        "/purge": ("/purge\ny\ny", _PURGE),
        "/checkpoint": ("/checkpoint here", (A.SESSION_WRITE,)),
        "/resume": ("/resume here", (A.SESSION_WRITE,)),
        # It tells of what was shown before, the help of the commands, and the end of the chat.
        "/why": ("/why", ()),
        "/help": ("/help", ()),
        "/quit": ("/quit", ()),
        "remember": ("remember that Grace lives in Lyon", (A.MEMORY_WRITE, A.SESSION_WRITE)),
        "recall": ("what do you know about Grace", (A.MEMORY_SEARCH,)),
    }


#: By the moment of a hook: what its answer takes, and what is recorded behind it.
HOOKS: dict[Moment, tuple[Actions, Actions]] = {
    Moment.STARTED: ((A.MEMORY_SEARCH,), (A.SESSION_WRITE,)),
    Moment.ASKED: ((A.MEMORY_SEARCH,), (A.SESSION_WRITE,)),
    Moment.ANSWERED: ((), (A.SESSION_WRITE,)),
    Moment.COMPACTING: ((), (A.SESSION_WRITE,)),
    Moment.ENDED: ((), (A.SESSION_WRITE, A.CONSOLIDATION_RUN, A.MEMORY_WRITE)),
}
#: What agents call each moment.
EVENTS = {
    Moment.STARTED: "SessionStart",
    Moment.ASKED: "UserPromptSubmit",
    Moment.ANSWERED: "Stop",
    Moment.COMPACTING: "PreCompact",
    Moment.ENDED: "SessionEnd",
}
