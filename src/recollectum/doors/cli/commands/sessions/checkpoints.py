"""`recollectum sessions checkpoints`: saves checkpoints in conversations, and resumes or forks from them."""

from typing import Annotated

import typer

from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, note
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import open_user_vault

app = new_group("Save a place in a conversation under a name, and resume from it later.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The checkpoint's name.")]
SessionId = Annotated[str, typer.Argument(metavar="SESSION", help="The session's id.")]


@command(app, "save")
def save(run: Run, session: SessionId, name: Name) -> None:
    """Save a session's current position under a name; a name that is taken moves here."""
    with open_user_vault(run) as vault:
        made = vault.sessions.checkpoints.save(session, name)
    answer(run, {"checkpoint": made}, [one_line(f"{made.name}: message {made.position} of {made.session_id}")])


@command(app, "list")
def list_checkpoints(
    run: Run, *, session: Annotated[str | None, typer.Option(metavar="ID", help="Only of this session.")] = None
) -> None:
    """List the checkpoints, newest first."""
    with open_user_vault(run) as vault:
        found = vault.sessions.checkpoints.list(session)
    rows = [(one.name, one.session_id, one.position, one.saved_at) for one in found]
    answer_rows(run, {"checkpoints": found}, ("name", "session", "message", "saved"), rows)
    if not found:
        note("there is no checkpoint; make one with: recollectum sessions checkpoints save SESSION NAME")


@command(app, "resume")
def resume(run: Run, name: Name) -> None:
    """Resume from a checkpoint in a new session, and print its id; the original stays as it is."""
    with open_user_vault(run) as vault:
        made = vault.sessions.checkpoints.resume(name).info()
    answer(run, {"session": made}, [made.id])


@command(app, "fork")
def fork(
    run: Run,
    session: SessionId,
    position: Annotated[int, typer.Argument(metavar="POSITION", help="The last message to take over, from 1.")],
) -> None:
    """Fork at any message into a new session, and print its id; the original stays as it is."""
    with open_user_vault(run) as vault:
        made = vault.sessions.checkpoints.fork(session, position).info()
    answer(run, {"session": made}, [made.id])


@command(app, "delete")
def delete(run: Run, name: Name) -> None:
    """Delete a checkpoint; the conversation and its forks stay."""
    with open_user_vault(run) as vault:
        vault.sessions.checkpoints.remove(name)
    answer(run, {"deleted": name}, [one_line(f"{name} is deleted")])
