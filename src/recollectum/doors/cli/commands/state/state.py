"""`recollectum state`: shows and changes what user interfaces keep between runs."""

import json
from typing import TYPE_CHECKING, Annotated, cast

import typer

from recollectum.domain.agent_state.interface import DEFAULT_INTERFACE
from recollectum.domain.errors import InvalidInput
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, note, tell
from recollectum.doors.cli.terminal.prompts import read_text_or_stdin
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import open_user_vault

if TYPE_CHECKING:
    from recollectum.domain.message import Json

app = new_group("Keep what a user interface knows between runs: its theme, tips that were shown, versions seen.")

Key = Annotated[str, typer.Argument(metavar="KEY", help="The name of the value.")]
Interface = Annotated[str, typer.Option(metavar="NAME", help="The user interface.")]


@command(app, "show")
def show(run: Run, *, interface: Interface = DEFAULT_INTERFACE) -> None:
    """Show all values of a user interface."""
    with open_user_vault(run) as vault:
        found = vault.state.interfaces.list(interface)
        others = vault.state.interfaces.list_interfaces()
    document = {"interface": interface, "values": {one.key: one.value for one in found}, "interfaces": others}
    answer_rows(run, document, ("key", "value"), [(one.key, _spelled(one.value)) for one in found])
    if not found:
        note("it keeps nothing" + (f"; these keep something: {', '.join(others)}" if others else ""))


@command(app, "get")
def get(run: Run, key: Key, *, interface: Interface = DEFAULT_INTERFACE) -> None:
    """Print one value; a text as it is, anything else as JSON."""
    with open_user_vault(run) as vault:
        found = vault.state.interfaces.get(key, interface)
    answer(run, {"value": found}, [_spelled(found.value)])


@command(app, "set")
def save(
    run: Run,
    key: Key,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="JSON, or any other text; `-` reads stdin.")],
    *,
    interface: Interface = DEFAULT_INTERFACE,
) -> None:
    """Save a value in place of the one that the key has; the other values stay."""
    given = _parsed(read_text_or_stdin(value))
    with open_user_vault(run, create=True) as vault:
        saved = vault.state.interfaces.save(key, given, interface)
    answer(run, {"value": saved, "notice": saved.notice}, [one_line(f"{saved.key} is {_spelled(saved.value)}")])
    tell(saved.notice)


@command(app, "unset")
def unset(run: Run, key: Key, *, interface: Interface = DEFAULT_INTERFACE) -> None:
    """Delete one value."""
    with open_user_vault(run) as vault:
        vault.state.interfaces.delete(key, interface)
    answer(run, {"deleted": key}, [one_line(f"{key} is deleted")])


def _parsed(text: str) -> "Json":
    """Return the JSON value that a text spells, or the text itself."""
    try:
        return cast("Json", json.loads(text))
    except RecursionError:
        raise InvalidInput("the value is nested too deep; flatten it") from None
    except ValueError:
        return text


def _spelled(value: "Json") -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value))
