"""`recollectum chat`: runs the reference agent in the terminal."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.errors import RecollectumError
from recollectum.domain.session import MAIN
from recollectum.doors.cli.terminal.errors import INTERRUPTED, Misuse
from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.output import note, print_json

if TYPE_CHECKING:
    from recollectum.doors.cli.chat.agent import ChatTurn
    from recollectum.doors.cli.chat.conversation import Conversation
    from recollectum.doors.cli.chat.terminal_io import InputLines

_PROMPT = "> "
#: Conversations that a single turn consolidates afterwards, so that scripts that ask once also learn.
_AFTER_ONCE = 3


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "chat")(chat)


def chat(
    run: Run,
    *,
    model: Annotated[
        str | None, typer.Option(metavar="PROVIDER[/MODEL]", help="Answer with this model; `scripted`, or `none`.")
    ] = None,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="The agent that answers.")] = None,
    channel: Annotated[str | None, typer.Option(metavar="NAME", help="The channel of the conversation.")] = None,
    session: Annotated[str | None, typer.Option(metavar="KEY", help="Continue the conversation with this key.")] = None,
    tokens: Annotated[int | None, typer.Option(help="Maximum tokens of a context.")] = None,
    once: Annotated[str | None, typer.Option(metavar="TEXT", help="Send this text, show the reply and exit.")] = None,
) -> None:
    """Talk with a model that remembers, line by line; type /help for its commands, and Ctrl-D to leave."""
    if session is not None and (agent is not None or channel is not None):
        raise Misuse("--session names agent and channel already; leave --agent and --channel out")
    if run.json and once is None:
        raise Misuse("--json answers one turn; add --once TEXT")
    # The engine takes 150 ms to import, which `--help` must not pay.
    from recollectum.domain.context import MAX_TOKENS  # noqa: PLC0415
    from recollectum.doors.cli.chat.conversation import ChatOptions, Conversation, with_model, with_passphrase  # noqa: PLC0415  # noqa: PLC0415
    from recollectum.doors.cli.chat.terminal_io import (  # noqa: PLC0415
        InputLines,
        NullSink,
        StdoutSink,
    )
    from recollectum.vault.intake.draft import check_limit  # noqa: PLC0415

    if tokens is not None:
        check_limit(tokens, MAX_TOKENS, "tokens")
    wanted = ChatOptions(agent=agent or MAIN, channel=channel or MAIN, session=session, tokens=tokens)
    chosen = with_passphrase(with_model(run, model))
    lines = InputLines()
    talk = Conversation(chosen, wanted, NullSink() if run.json else StdoutSink(), lines.ask)
    try:
        _say_once(run, talk, once) if once is not None else _chat_loop(talk, lines)
    finally:
        talk.close()


def _say_once(run: Run, talk: "Conversation", text: str) -> None:
    from recollectum.doors.cli.chat.slash_commands import LeaveChat, is_command, run_slash_command  # noqa: PLC0415 - see above

    if not is_command(text):
        answered = talk.turn(text.removeprefix("/") if text.startswith("//") else text)
        if run.json:
            print_json(_document(answered))
        if answered.interrupted:
            raise typer.Exit(INTERRUPTED)
        talk.upkeep.summarise()
        talk.upkeep.sweep(_AFTER_ONCE)
        return
    if run.json:
        raise Misuse("chat commands have no JSON output; use the matching command of the command line")
    try:
        print("\n".join(run_slash_command(talk, text)))
    except LeaveChat:
        return


def _chat_loop(talk: "Conversation", lines: "InputLines") -> None:
    from recollectum.doors.cli.chat.slash_commands import LeaveChat  # noqa: PLC0415 - see above

    if sys.stdin.isatty():
        note("type /help for the commands; Ctrl-D leaves")
    talk.start()
    while True:
        try:
            line = lines.ask(_PROMPT)
            if line is None:
                return
            if line.strip():
                _handle_line(talk, line.strip())
        except LeaveChat:
            return
        except KeyboardInterrupt:
            note("stopped")
        except RecollectumError as error:
            note(str(error))


def _handle_line(talk: "Conversation", line: str) -> None:
    from recollectum.doors.cli.chat.slash_commands import is_command, run_slash_command  # noqa: PLC0415 - see above

    talk.refresh()
    if is_command(line):
        for answer in run_slash_command(talk, line):
            print(answer, flush=True)
        return
    answered = talk.turn(line[1:] if line.startswith("//") else line)
    if answered.interrupted:
        note("stopped; the reply so far is saved")
    elif not answered.reply.strip():
        note(f"{answered.by} said nothing")


def _document(answered: "ChatTurn") -> dict[str, object]:
    return {
        "reply": answered.reply,
        "by": answered.by,
        "interrupted": answered.interrupted,
        "session_id": answered.session_id,
        "message_id": answered.message_id,
        "tool_calls": list(answered.tool_calls),
        "notice": answered.notice,
        "ledger": answered.context.ledger.to_dict(),
    }
