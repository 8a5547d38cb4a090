"""`recollectum connect`: lets this machine use the vault of a server, shows which one, or leaves it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run, command, format_owner
from recollectum.doors.cli.terminal.output import answer
from recollectum.doors.cli.terminal.prompts import ask_secret
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import connect_to, connection_of, holder_of, place_of
from recollectum.home.credentials.connection import (
    Connection,
    check_secret,
    check_url,
    remove_connection,
)

if TYPE_CHECKING:
    pass

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
    if run.user is not None:
        raise Misuse("--user has no meaning here: the key says who you are; leave it out")
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
    connection = connect_to(run, place, check_secret(ask_secret("API key").strip()), ca_file)
    _show(run, connection)


def _show(run: Run, connection: Connection | None = None) -> None:
    used = connection or connection_of(run)
    if used is None:
        answer(run, _NONE, [visible(f"no server is used; memories are in {place_of(run).root}")])
        return
    me = holder_of(used)
    person, permissions, version = format_owner(me.person), [one.value for one in me.permissions], me.version
    document = {"url": used.url, "person": person, "permissions": permissions, "version": version}
    told = f"{used.url}, as {person} ({', '.join(permissions)}), Recollectum {version}"
    answer(run, document, [visible(told)])
