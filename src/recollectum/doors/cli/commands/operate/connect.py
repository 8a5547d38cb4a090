"""`recollectum connect`: lets this machine use the vault of a server, shows which one, or leaves it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run, command, format_owner
from recollectum.doors.cli.terminal.output import answer, note
from recollectum.doors.cli.terminal.prompts import ask_secret
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import connection_of, place_of
from recollectum.home.connection import (
    CA_VARIABLE,
    Connection,
    check_secret,
    check_url,
    remove_connection,
    store_connection,
)
from recollectum.upkeep.presence import is_made

_NONE: Mapping[str, object] = {"url": None, "person": None, "permissions": [], "version": None}


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "connect")(connect)


def connect(
    run: Run,
    url: Annotated[
        str | None, typer.Argument(metavar="[URL]", help="Such as https://memory.example.org:8443; none shows it.")
    ] = None,
    *,
    ca_file: Annotated[
        str | None, typer.Option("--ca-file", metavar="FILE", help="Your own certificate authority, as a PEM file.")
    ] = None,
    off: Annotated[bool, typer.Option("--off", help="Forget the server and its key, and use the home again.")] = False,
) -> None:
    """Use the vault of a server on this machine: its API key is asked for, or read from stdin, and stored."""
    if off and (url or ca_file):
        raise Misuse("--off takes no URL and no --ca-file")
    if off:
        removed = remove_connection(place_of(run))
        answer(run, _NONE, ["the server and its key are forgotten" if removed else "no server was stored"])
        return
    if url is None:
        if ca_file is not None:
            raise Misuse("--ca-file goes with the URL of a server; give both")
        _show(run)
        return
    place = check_url(url)
    connection = checked_connection(run, place, check_secret(ask_secret("API key").strip()), ca_file)
    _show(run, connection)


def checked_connection(run: Run, url: str, key: str, ca_file: str | None) -> Connection:
    """Ask the server whose key it is, and store both; nothing is stored when it refuses."""
    named = ca_file or run.environ.get(CA_VARIABLE, "").strip()
    authority = str(Path(named).expanduser().absolute()) if named else None
    connection = Connection(url=url, key=key, ca_file=authority, stored=True)
    _person_of(connection)
    home = place_of(run)
    store_connection(home, connection)
    if is_made(home):
        note(f"the memories in {home.root} stay there; to use them again: recollectum connect --off")
    return connection


def _show(run: Run, connection: Connection | None = None) -> None:
    used = connection or connection_of(run)
    if used is None:
        answer(run, _NONE, [visible(f"no server is used; memories are in {place_of(run).root}")])
        return
    person, permissions, version = _person_of(used)
    document = {"url": used.url, "person": person, "permissions": permissions, "version": version}
    told = f"{used.url}, as {person} ({', '.join(permissions)}), Recollectum {version}"
    answer(run, document, [visible(told)])


def _person_of(connection: Connection) -> tuple[str, list[str], str]:
    # Imported here: no other command needs it at once.
    from recollectum.doors.remote.vault import open_served_vault  # noqa: PLC0415

    vault = open_served_vault(connection)
    try:
        me = vault.me()
    finally:
        vault.close()
    return format_owner(me.person), [one.value for one in me.permissions], me.version
