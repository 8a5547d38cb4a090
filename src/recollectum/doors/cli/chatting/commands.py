"""The commands of a chat: what begins with a slash, and what it does."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from recollectum.domain.errors import InvalidInput
from recollectum.doors.cli.chatting import about_context, about_memory, about_session
from recollectum.doors.cli.chatting.talk import Talk
from recollectum.settings.known import nearest

#: A command: the talk and what stands behind its name; the lines it answers with.
Work = Callable[[Talk, str], Iterable[str]]


class Leave(Exception):
    """The person has had enough."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command, as the help shows it."""

    work: Work
    takes: str
    does: str


def is_command(text: str) -> bool:
    """Whether a line is a command; two slashes begin a text with one."""
    return text.startswith("/") and not text.startswith("//")


def obey(talk: Talk, line: str) -> list[str]:
    """What a command answers; an unknown one is refused with the nearest."""
    name, _, rest = line.removeprefix("/").partition(" ")
    command = COMMANDS.get(name.casefold())
    if command is None:
        raise InvalidInput(f"there is no command /{name[:40]}; the nearest is /{nearest(name, COMMANDS)}")
    return list(command.work(talk, rest.strip()))


def _help(talk: Talk, rest: str) -> Iterable[str]:
    del talk, rest
    heads = {name: f"/{name} {one.takes}".rstrip() for name, one in COMMANDS.items()}
    width = max(map(len, heads.values()))
    return [
        *(f"{heads[name]:<{width}}  {one.does}" for name, one in COMMANDS.items()),
        "A line that begins with two slashes is said with one. Ctrl-C stops a reply, Ctrl-D leaves.",
    ]


def _quit(talk: Talk, rest: str) -> Iterable[str]:
    del talk, rest
    raise Leave


COMMANDS = {
    "remember": Command(about_memory.remember, "TEXT", "Keep a text as it stands."),
    "memory": Command(about_memory.memory, "[QUERY]", "What is remembered: about something, or the newest."),
    "forget": Command(about_memory.forget, "ID|TEXT", "Forget a memory, after it was shown and you said yes."),
    "context": Command(about_context.context, "[QUERY]", "What the model would be shown, and what it costs."),
    "why": Command(about_context.why, "", "Why the last context held what it held."),
    "reset": Command(about_session.reset, "", "End this conversation, keep what it said, and begin a new one."),
    "purge": Command(about_session.purge, "", "Erase this conversation for good, after you said yes twice."),
    "checkpoint": Command(about_session.checkpoint, "NAME", "Name this place in the conversation."),
    "resume": Command(about_session.resume, "NAME", "Go on from a checkpoint."),
    "help": Command(_help, "", "Show this."),
    "quit": Command(_quit, "", "Leave."),
}
