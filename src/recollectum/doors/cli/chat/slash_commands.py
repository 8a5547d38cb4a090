"""Runs the slash commands of a chat."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from recollectum.domain.context import Context, PartKind
from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.hit import Hit
from recollectum.domain.ids import is_id
from recollectum.domain.memory import Memory
from recollectum.domain.records import dataclass
from recollectum.doors.cli.chat.conversation import Conversation
from recollectum.doors.cli.chat.terminal_io import ask_text, ask_yes_no
from recollectum.doors.cli.commands.memory.context import ledger_lines
from recollectum.doors.cli.commands.memory.recall import citation, explain_reasons
from recollectum.doors.cli.terminal.output import moment, plural
from recollectum.doors.cli.terminal.sanitise import one_line, visible
from recollectum.settings.registry import nearest

if TYPE_CHECKING:
    from recollectum.vault.purge.request import Preview

_LONGEST_HIT = 120
_MOST_HITS = 100


def show_context(talk: Conversation, query: str) -> Iterable[str]:
    """Show the context that the model would get now, with its ledger."""
    made = talk.agent.context(query, talk.agent.chat().id)
    return [*visible(made.whole).splitlines(), "", *ledger_lines(made.ledger)]


def explain_context(talk: Conversation, rest: str) -> Iterable[str]:
    """Explain the last context: the ledger, and the reasons of the recalled texts."""
    del rest
    if talk.agent.last is None:
        return ["nothing was asked yet"]
    query, made = talk.agent.last
    return [*ledger_lines(made.ledger), *_recalled(talk, query, made)]


def _recalled(talk: Conversation, query: str, made: Context) -> Iterator[str]:
    """Yield the recalled texts of a context with their reasons, if recall still finds them."""
    ids = {id for part in made.ledger.parts if part.kind is PartKind.MEMORY for id in part.ids}
    if not ids:
        yield "nothing was recalled"
        return
    for hit in talk.vault.recall(query, limit=_MOST_HITS):
        if _id(hit) in ids:
            yield f"recalled: {one_line(hit.text, _LONGEST_HIT)}"
            yield from (f"  {line}" for line in (citation(hit.source), *explain_reasons(hit.reasons)))


def _id(hit: Hit) -> str:
    """Return the id of a recalled text in a ledger."""
    return hit.source.memory_id or hit.source.message_id or str(hit.source)


_SHOWN = 20
_MATCHES = 5
_LONGEST_MEMORY = 200


def remember_text(talk: Conversation, text: str) -> Iterable[str]:
    """Save a text verbatim."""
    if not text:
        raise InvalidInput("there is nothing to remember; write /remember TEXT")
    # A new and a renewed memory get the same answer: it is saved.
    saved = talk.vault.memories.save(text)
    return [f"remembered ({saved.id})", *saved.notice.sentences()]


def list_memories(talk: Conversation, query: str) -> Iterable[str]:
    """List memories about a topic, or the newest."""
    found = _matching(talk, query, _SHOWN) if query else talk.vault.memories.list(limit=_SHOWN)
    return [_line(one) for one in found] or ["nothing is remembered about that" if query else "nothing is remembered"]


def forget_memory(talk: Conversation, what: str) -> Iterable[str]:
    """Forget one memory, after showing it and asking the person."""
    if not what:
        raise InvalidInput("there is nothing to forget; write /forget ID or /forget TEXT")
    found = [talk.vault.memories.get(what)] if is_id(what, "mem") else _matching(talk, what, _MATCHES)
    if not found:
        raise NotFound("no memory matches that; see /memory")
    for place, one in enumerate(found, start=1):
        print(f"{place}. {_line(one)}", flush=True)
    chosen = found[0] if len(found) == 1 else _chosen(talk, found)
    if chosen is None or not ask_yes_no(talk.ask, f"Forget {chosen.id}?"):
        return ["nothing was forgotten"]
    talk.vault.memories.forget(chosen.id)
    return [f"forgotten; for some days it can be restored with: recollectum memories restore {chosen.id}"]


def _matching(talk: Conversation, query: str, limit: int) -> list[Memory]:
    hits = talk.vault.recall(query, limit=limit, source="memories")
    ids = dict.fromkeys(hit.source.memory_id for hit in hits if hit.source.memory_id)
    return [talk.vault.memories.get(id) for id in ids]


def _chosen(talk: Conversation, found: Sequence[Memory]) -> Memory | None:
    typed = ask_text(talk.ask, f"Which one? [1-{len(found)}, empty for none] ")
    if not typed:
        return None
    if not typed.isascii() or not typed.isdigit() or not 1 <= int(typed[:9]) <= len(found):
        raise InvalidInput(f"there is no number {typed[:20]!r} in the list; nothing was forgotten")
    return found[int(typed) - 1]


def _line(memory: Memory) -> str:
    return f"{one_line(memory.content, _LONGEST_MEMORY)}  ({memory.id}, {memory.created_at.date()})"


def reset_session(talk: Conversation, rest: str) -> Iterable[str]:
    """End the conversation, consolidate it, and start a new one."""
    del rest
    session_id = talk.agent.chat().id
    talk.upkeep.timer.stop(session_id)
    outcome = talk.vault.admin.consolidation.reset(session_id)
    talk.agent.last = None
    if outcome.trouble:
        return [one_line(f"a new conversation begins; the old one will be read later: {outcome.trouble}")]
    if outcome.run is None:
        return ["a new conversation begins; there was nothing to keep"]
    run = outcome.run
    kept = run.added + run.updated + run.superseded
    return [f"a new conversation begins; {plural(kept, 'change')} kept, {run.proposed} to review (by: {run.by})"]


def purge_session(talk: Conversation, rest: str) -> Iterable[str]:
    """Destroy the conversation for good, after asking twice. It is not a tool: only a person can do it."""
    if rest:
        raise InvalidInput("/purge takes no argument; it destroys this conversation after asking you")
    session = talk.agent.chat().info()
    if not session.message_count:
        return ["this conversation is empty; there is nothing to purge"]
    # Imported here: most chats purge nothing, and the module is slow to import.
    from recollectum.vault.purge.request import PurgeRequest  # noqa: PLC0415

    seen = talk.vault.privacy.purge.preview(PurgeRequest.sessions(session.id))
    what = f"{plural(session.message_count, 'message')} since {moment(session.created_at)}"
    print(f"This conversation ({session.id}) has {what}.", flush=True)
    for line in _preview_lines(seen):
        print(line, flush=True)
    if not ask_yes_no(talk.ask, "Erase it?") or not ask_yes_no(talk.ask, "It cannot be restored. Really erase it?"):
        return ["nothing was purged"]
    talk.upkeep.timer.stop(session.id)
    receipt = talk.vault.privacy.purge.run(seen.token)
    talk.agent.last = None
    return [one_line(f"purged ({receipt.id}, {receipt.state}){f': {receipt.reason}' if receipt.reason else ''}")]


def save_checkpoint(talk: Conversation, name: str) -> Iterable[str]:
    """Save a checkpoint at this position of the conversation."""
    if not name:
        raise InvalidInput("the checkpoint has no name; write /checkpoint NAME")
    made = talk.vault.sessions.checkpoints.save(talk.agent.chat().id, name)
    return [one_line(f"{made.name} is at message {made.position}; continue from it with /resume {made.name}")]


def resume_checkpoint(talk: Conversation, name: str) -> Iterable[str]:
    """Resume from a checkpoint in a copy that ends there; also one from another channel."""
    if not name:
        raise InvalidInput("no checkpoint is named; write /resume NAME")
    chat = talk.vault.sessions.checkpoints.resume(name)
    talk.agent.key, talk.agent.last = chat.key, None
    return [f"continuing from {one_line(name)}, at message {chat.info().message_count}"]


def _preview_lines(seen: "Preview") -> list[str]:
    """Return what is erased with the conversation, and what stays."""
    told = (
        (seen.memories_derived, "with no other source: erased too"),
        (seen.memories_kept, "with another source: kept"),
        (len(seen.backups), "that contain it: destroyed"),
    )
    names = ("memory", "memory", "backup")
    return [f"{plural(count, name)} {what}" for (count, what), name in zip(told, names, strict=True) if count]


#: A command: takes the conversation and its argument, and returns the lines of its answer.
SlashFunction = Callable[[Conversation, str], Iterable[str]]


class LeaveChat(Exception):
    """Raised when the person leaves the chat."""


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """One command, as the help shows it."""

    work: SlashFunction
    takes: str
    does: str


def is_command(text: str) -> bool:
    """Return whether a line is a command; two slashes start a text with one slash."""
    return text.startswith("/") and not text.startswith("//")


def run_slash_command(talk: Conversation, line: str) -> list[str]:
    """Run a command; return its answer, or suggest the nearest name for an unknown one."""
    name, _, rest = line.removeprefix("/").partition(" ")
    command = COMMANDS.get(name.casefold())
    if command is None:
        raise InvalidInput(f"there is no command /{name[:40]}; the nearest is /{nearest(name, COMMANDS)}")
    return list(command.work(talk, rest.strip()))


def _help(talk: Conversation, rest: str) -> Iterable[str]:
    del talk, rest
    heads = {name: f"/{name} {one.takes}".rstrip() for name, one in COMMANDS.items()}
    width = max(map(len, heads.values()))
    return [
        *(f"{heads[name]:<{width}}  {one.does}" for name, one in COMMANDS.items()),
        "To send a line that begins with a slash, type two slashes. Ctrl-C stops a reply, Ctrl-D leaves.",
    ]


def _quit(talk: Conversation, rest: str) -> Iterable[str]:
    del talk, rest
    raise LeaveChat


COMMANDS = {
    "remember": SlashCommand(remember_text, "TEXT", "Save a text verbatim."),
    "memory": SlashCommand(list_memories, "[QUERY]", "List memories about something, or the newest ones."),
    "forget": SlashCommand(forget_memory, "ID|TEXT", "Forget a memory, after showing it and asking you."),
    "context": SlashCommand(show_context, "[QUERY]", "Show what the model would see, and its tokens."),
    "why": SlashCommand(explain_context, "", "Explain what the last context contained."),
    "reset": SlashCommand(reset_session, "", "End this conversation, consolidate it, and start a new one."),
    "purge": SlashCommand(purge_session, "", "Erase this conversation for good, after asking twice."),
    "checkpoint": SlashCommand(save_checkpoint, "NAME", "Save this place in the conversation under a name."),
    "resume": SlashCommand(resume_checkpoint, "NAME", "Continue from a checkpoint."),
    "help": SlashCommand(_help, "", "Show this."),
    "quit": SlashCommand(_quit, "", "Leave."),
}
