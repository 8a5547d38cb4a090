"""`recollectum settings`: shows the settings in force and their origin, and changes the person's own file."""

from typing import Annotated

import typer

from recollectum.domain.errors import SettingsError
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, note
from recollectum.doors.cli.terminal.target import home_of, settings_of
from recollectum.settings.check import SettingsScope
from recollectum.settings.edit import set_value, unknown_setting, unset_value
from recollectum.settings.load import LoadedSettings
from recollectum.settings.migrate import migrate
from recollectum.settings.registry import all_settings
from recollectum.settings.spec import Value

app = new_group("Show what is set and where it came from, and change your own settings.")

Key = Annotated[str, typer.Argument(metavar="KEY", help="A setting, such as lifecycle.grace_days.")]


@command(app, "show")
def show(run: Run) -> None:
    """Show every effective setting, and where its value comes from."""
    loaded = settings_of(run)
    document = {key: {"value": value_of(loaded, key), "origin": loaded.origins[key]} for key in all_settings()}
    rows = [(key, _shown(value_of(loaded, key)), loaded.origins[key]) for key in all_settings()]
    answer_rows(run, {"settings": document}, ("setting", "value", "from"), rows)


@command(app, "get")
def get(run: Run, key: Key) -> None:
    """Print one effective value."""
    loaded = settings_of(run)
    _check_key(key)
    value = value_of(loaded, key)
    answer(run, {"key": key, "value": value, "origin": loaded.origins[key]}, [str(value)])


@command(app, "set")
def set_(run: Run, key: Key, value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value.")]) -> None:
    """Set one value in your settings file; every other line stays as it is."""
    set_value(home_of(run), key, value)
    _answer_in_force(run, key, wanted=SettingsScope.USER)


@command(app, "unset")
def unset(run: Run, key: Key) -> None:
    """Remove one value from your settings file, so that the default applies again."""
    unset_value(home_of(run), key)
    if key in all_settings():
        _answer_in_force(run, key, wanted=None)
    else:
        answer(run, {"key": key, "value": None, "origin": None}, [f"{key} is removed"])


@command(app, "migrate")
def migrate_(
    run: Run,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be written, and write nothing.")] = False,
) -> None:
    """Convert an old settings.json into settings.toml; the old file is kept beside it."""
    home = home_of(run)
    done = migrate(home, dry_run=dry_run)
    if done.form == "none":
        answer(run, {"migration": done}, ["there is no settings.json to migrate"])
        return
    verb = "would be " if dry_run else ""
    lines = [f"{home.legacy_settings_file} is of form {done.form}; it {verb}kept as {done.kept.name}"]
    lines += [f"{old} {'becomes' if dry_run else 'is now'} {new}" for old, new in done.renamed.items()]
    if dry_run and done.text:
        lines += ["", f"{home.settings_file} would contain:", "", *done.text.splitlines()]
    answer(run, {"migration": done}, lines)


@command(app, "path")
def path(run: Run) -> None:
    """Print the path of your settings file, whether or not it exists."""
    home = home_of(run)
    answer(run, {"path": home.settings_file, "exists": home.settings_file.exists()}, [str(home.settings_file)])


def value_of(loaded: LoadedSettings, key: str) -> Value:
    """Return one effective value by its dotted key, without a password."""
    found: object = loaded.settings
    for name in key.split("."):
        found = getattr(found, name)
    return all_settings()[key].shown(found if isinstance(found, Value) else str(found))


def _answer_in_force(run: Run, key: str, *, wanted: SettingsScope | None) -> None:
    loaded = settings_of(run)
    value, origin = value_of(loaded, key), loaded.origins[key]
    answer(run, {"key": key, "value": value, "origin": origin}, [f"{key} = {_shown(value)}"])
    if wanted is not None and origin.scope is not wanted:
        note(f"your value has no effect: the value in force comes from {origin}")


def _shown(value: Value) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _check_key(key: str) -> None:
    if key not in all_settings():
        raise SettingsError(unknown_setting(key))
