"""Adds the flags that every command takes (--json, --user, --home), and reads an owner as people type it."""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import wraps
from typing import Annotated, Any, Concatenate, ParamSpec, cast

import typer

from recollectum.domain.access.owner import Owner, OwnerKind
from recollectum.domain.records import dataclass
from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.help import CommandGroup


def parse_owner(text: str) -> Owner:
    """Parse an owner: `alice` is user:alice; `agent:coder`, `group:…` and `global` are taken literally."""
    return Owner.parse(text if ":" in text or text == OwnerKind.GLOBAL else f"{OwnerKind.USER}:{text}")


def format_owner(owner: Owner) -> str:
    """Return the shortest text that `parse_owner` reads as this owner."""
    plain = owner.kind is OwnerKind.USER and owner.agent is None and owner.name != OwnerKind.GLOBAL
    return owner.name if plain else str(owner)


_LOG_LEVEL = "RECOLLECTUM_LOG__LEVEL"
P = ParamSpec("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The common parameters of a command: output format, user and home."""

    json: bool = False
    user: str | None = None
    home: str | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)

    def told(self, *, json: bool, user: str | None, home: str | None) -> "Run":
        """Return the same with the flags that came later on the line, which take precedence."""
        return replace(
            self,
            json=json or self.json,
            user=self.user if user is None else user,
            home=self.home if home is None else home,
        )


Command = Callable[Concatenate[Run, P], None]
_Json = Annotated[bool, typer.Option("--json", help="Answer as JSON.")]
_User = Annotated[str | None, typer.Option("--user", metavar="NAME", help="Whose vault; a name or an owner.")]
_Home = Annotated[str | None, typer.Option("--home", metavar="PATH", help="The state directory.")]
_FLAGS = {"json": (_Json, False), "user": (_User, None), "home": (_Home, None)}


def new_group(summary: str) -> typer.Typer:
    """Return a group of commands under one noun."""
    group = typer.Typer(help=summary, cls=CommandGroup, rich_markup_mode=None, add_completion=False)
    group.callback()(_note_flags)
    return group


def command(app: typer.Typer, name: str) -> Callable[[Command[P]], Command[P]]:
    """Add a command; its first parameter is the `Run`, filled from the flags."""

    def add(work: Command[P]) -> Command[P]:
        app.command(name)(_with_flags(work))
        return work

    return add


def _with_flags(work: Callable[..., None]) -> Callable[..., None]:
    """Return the command for typer: without its first parameter, with the flags."""

    own = list(inspect.signature(work).parameters.values())[1:]
    options = [one.name for one in own if one.kind is inspect.Parameter.KEYWORD_ONLY]

    @wraps(work)
    def call(**given: object) -> None:
        ctx = cast("typer.Context", given.pop("ctx"))
        run = _merge_flags(ctx, {name: given.pop(name) for name in _FLAGS})
        _check_options(options, given)
        if run.user is not None:
            # Not every command looks the user up, but an invalid name is an error on every line.
            parse_owner(run.user)
        work(run, **given)

    parameters = [
        inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
        *own,
        *(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for name, (annotation, default) in _FLAGS.items()
        ),
    ]
    call.__dict__["__signature__"] = inspect.Signature(parameters)
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _check_options(options: Sequence[str], given: Mapping[str, object]) -> None:
    """Raise for an option with an empty value: most often an unset variable of a script."""
    for name in options:
        if given.get(name) == "":
            flag = name.strip("_").replace("_", "-")
            raise Misuse(f"--{flag} is empty; give it a value or leave it out")


def _note_flags(ctx: typer.Context, *, json: _Json = False, user: _User = None, home: _Home = None) -> None:
    note_flags(ctx, json=json, user=user, home=home)


def note_flags(ctx: typer.Context, *, json: bool, user: str | None, home: str | None, verbose: bool = False) -> None:
    """Store the flags that come before the name of a command."""
    run = _merge_flags(ctx, {"json": json, "user": user, "home": home})
    ctx.obj = replace(run, environ={**run.environ, _LOG_LEVEL: "debug"}) if verbose else run


def _merge_flags(ctx: typer.Context, flags: Mapping[str, Any]) -> Run:
    before = cast("Run | None", ctx.obj) or Run()
    return before.told(json=flags["json"], user=flags["user"], home=flags["home"])
