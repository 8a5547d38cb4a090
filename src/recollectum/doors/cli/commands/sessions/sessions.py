"""`recollectum sessions`: shows conversations, adds to them, ends and destroys them."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.ids import parse_enum
from recollectum.domain.message import Message, Role
from recollectum.domain.session import MAIN, Session
from recollectum.doors.cli.terminal.errors import FAILED, Misuse
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import (
    answer,
    answer_rows,
    listing,
    moment,
    note,
    plural,
    step_progress,
    tell,
    tell_of_more,
)
from recollectum.doors.cli.terminal.prompts import confirm, read_text_or_stdin
from recollectum.doors.cli.terminal.sanitise import one_line, visible
from recollectum.doors.cli.terminal.target import open_user_vault, open_vault, totals_of
from recollectum.vault.intake.new_message import NewMessage, check_message

if TYPE_CHECKING:
    from recollectum.vault.sessions.echoes import EchoReport
    from recollectum.vault.vault import Vault

app = new_group("List, show, extend, clean, import, export, end and destroy conversations.")

SessionId = Annotated[str, typer.Argument(metavar="ID", help="The session's id.")]

_SHORT = 200


@command(app, "list")
def list_sessions(
    run: Run,
    *,
    key: Annotated[str | None, typer.Option(metavar="PREFIX", help="Only keys that begin with this.")] = None,
    limit: Annotated[int, typer.Option(help="How many at most.")] = 50,
    before: Annotated[str | None, typer.Option(metavar="ID", help="Only those older than this one.")] = None,
) -> None:
    """List the newest sessions."""
    with open_vault(run) as vault:
        found = vault.sessions.list(cursor=before, key_prefix=key, limit=limit)
        totals = totals_of(vault) if found.next and not key and not before else None
    rows = [(one.id, one.key, one.updated_at, one.message_count, one.title) for one in found]
    answer_rows(run, {"sessions": found}, ("id", "key", "last", "messages", "title"), rows)
    if found.next:
        tell_of_more(len(found), totals.sessions if totals else None, found.next)
    if not found:
        note("no sessions")


@command(app, "show")
def show(
    run: Run,
    session_id: SessionId,
    *,
    limit: Annotated[int, typer.Option(help="How many of the last messages.")] = 50,
    full: Annotated[bool, typer.Option("--full", help="Whole messages, with tool calls.")] = False,
) -> None:
    """Show a session and its last messages."""
    with open_vault(run) as vault:
        chat = vault.sessions.chat(session_id)
        session, messages = chat.info(), chat.messages(limit=limit)
    lines = [line for message in messages for line in (_whole(message) if full else [_short(message)])]
    answer(run, {"session": session, "messages": messages}, [*listing(_details(session)), "", *lines])


@command(app, "add")
def add(
    run: Run,
    words: Annotated[
        list[str], typer.Argument(metavar="[ID] ROLE TEXT", help="Who speaks, and the text; `-` reads stdin.")
    ],
    *,
    channel: Annotated[str, typer.Option(help="The channel, such as telegram.")] = MAIN,
    agent: Annotated[str, typer.Option(help="The agent spoken with.")] = MAIN,
    group: Annotated[str | None, typer.Option(metavar="ID", help="The group on the channel.")] = None,
    topic: Annotated[str | None, typer.Option(metavar="ID", help="The thread.")] = None,
    hook: Annotated[str | None, typer.Option(metavar="ID", help="A session that a program started.")] = None,
    native_id: Annotated[
        str | None, typer.Option(metavar="ID", help="The agent's id of the message; the same id is added once.")
    ] = None,
) -> None:
    """Record one message in the session with that ID, or in the one of that channel, agent, group or hook."""
    session_id, role, text = _split(
        words, placed=(channel, agent, group, topic, hook) != (MAIN, MAIN, None, None, None)
    )
    said = NewMessage(role=parse_enum(Role, role, "role"), content=read_text_or_stdin(text), native_id=native_id)
    # A refused message opens no session.
    check_message(said)
    with open_vault(run, create=True) as vault:
        if session_id is not None:
            chat = vault.sessions.chat(session_id)
        else:
            chat = vault.sessions.open(channel=channel, agent=agent, group=group, topic=topic, hook=hook)
        (message,) = chat.add_many([said])
    notice = chat.notice + message.notice
    answer(run, {"message": message, "notice": notice}, [message.id])
    note(f"message {message.position} of {message.session_id}")
    tell(notice)


@command(app, "end")
def end(run: Run, session_id: SessionId) -> None:
    """End a session; the next message in its channel starts a new one. Nothing is deleted."""
    with open_vault(run) as vault:
        session = vault.sessions.chat(session_id).end()
    answer(run, {"session": session}, [f"{session.id} ended on {moment(session.ended_at)}"])


@command(app, "delete")
def delete(
    run: Run,
    session_id: SessionId,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Destroy a session and its messages for good."""
    with open_user_vault(run) as vault:
        session = vault.sessions.get(session_id)
        what = f"session {session_id} and its {plural(session.message_count, 'message')} would be destroyed for good"
        if not confirm(what, yes=yes):
            note("nothing was deleted")
            raise typer.Exit(FAILED)
        erased = vault.sessions.delete(session_id)
    answer(run, {"deleted": session_id, "erased": erased}, [f"{session_id} is destroyed"])
    if not erased:
        note(
            "another program is reading the vault, so its log still contains it; finish with: recollectum lifecycle run"
        )


@command(app, "clean")
def clean(
    run: Run,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be cut out.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Cut out what Recollectum itself had inserted into conversations, before it recognised its own echoes.

    Memories that come from nothing else are moved to the trash, and such proposals are deleted.
    """
    with open_user_vault(run) as vault:
        if dry_run or not yes:
            found = _preview_echoes(run, vault)
            agreed = not dry_run and bool(found.messages) and _agrees(found)
        else:
            found, agreed = None, True
        if agreed or found is None:
            with step_progress(run, "cutting out", None) as advance:
                found = vault.sessions.echoes.remove(advance)
    answer(run, {"echoes": found}, [_echo_words(found) if found.messages else "no message holds an echo"])
    if not found.erased:
        note(
            "another program is reading the vault, so its log still contains it; finish with: recollectum lifecycle run"
        )


def _agrees(found: "EchoReport") -> bool:
    """Return True when the person agrees; end the command when not."""
    if not confirm(f"{_echo_words(found)}; it would be cut out for good", yes=False):
        note("nothing was changed")
        raise typer.Exit(FAILED)
    return True


def _preview_echoes(run: Run, vault: "Vault") -> "EchoReport":
    with step_progress(run, "reading messages", None) as advance:
        return vault.sessions.echoes.preview(advance)


def _echo_words(found: "EchoReport") -> str:
    count = plural(len(found.messages), "message")
    said = f"{count} {'held' if found.removed else 'with'} text that Recollectum itself had inserted"
    counted = ((len(found.memories), "memory"), (len(found.proposals), "proposal"))
    others = [f"{plural(count, noun)} made from nothing else" for count, noun in counted if count]
    return ", ".join([said, *others])


def _split(words: list[str], *, placed: bool) -> tuple[str | None, str, str]:
    match words:
        case [role, text]:
            return None, role, text
        case [session_id, role, text] if not placed:
            return session_id, role, text
        case [_, _, _]:
            raise Misuse("name the session by its ID or by its place, not by both")
        case _:
            raise Misuse(f"expected ROLE TEXT or ID ROLE TEXT, not {plural(len(words), 'word')}; quote the text")


def _details(session: Session) -> list[tuple[str, object]]:
    return [
        ("id", session.id),
        ("key", session.key),
        ("title", session.title),
        ("begun", session.created_at),
        ("last", session.updated_at),
        ("ended", session.ended_at),
        ("messages", session.message_count),
        ("tokens", f"about {session.token_estimate}"),
        ("imported", "yes, so its text does not count as the owner's own words" if session.imported else None),
        ("summary", session.summary),
    ]


def _short(message: Message) -> str:
    calls = f" ({plural(len(message.tool_calls), 'tool call')})" if message.tool_calls else ""
    return f"{message.position}. {_speaker(message)}: {one_line(message.text, _SHORT)}{calls}"


def _whole(message: Message) -> list[str]:
    head = f"{message.position}. {_speaker(message)} · {moment(message.created_at)} · {message.id}"
    calls = [f"tool {call.name} ({call.status})" for call in message.tool_calls]
    return [head, *("    " + line for line in [*visible(message.text).splitlines(), *map(visible, calls)]), ""]


def _speaker(message: Message) -> str:
    return one_line(message.speaker or message.role)
