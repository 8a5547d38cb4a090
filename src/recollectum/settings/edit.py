"""Sets or unsets one value in settings.toml and keeps every other line."""

from copy import deepcopy
from pathlib import Path
from typing import cast

from recollectum.domain.errors import SettingsError
from recollectum.home.files import make_private_folder, write_atomic
from recollectum.home.paths import Home
from recollectum.settings.check import SettingOrigin, SettingsScope, Tree, check_tree, show_wrong
from recollectum.settings.migrate import migrate
from recollectum.settings.read import parse_toml, read_text
from recollectum.settings.registry import Setting, all_settings, is_like, nearest
from recollectum.settings.render import to_toml_value
from recollectum.settings.spec import Value


def set_value(home: Home, dotted_key: str, text: str) -> None:
    """Set one value, written as on a command line: a number, or a text without quotes, which may hold `${NAME}`."""
    setting = all_settings().get(dotted_key)
    if setting is None:
        raise SettingsError(unknown_setting(dotted_key))
    value = _value(home, setting, text)
    before = _text_of(home)
    wanted = _with(parse_toml(before, home.settings_file), dotted_key, value)
    _save(home, dotted_key, _edited(before, dotted_key, value), wanted)


def unset_value(home: Home, dotted_key: str) -> None:
    """Remove one value, so that a lower scope decides; do nothing when it is not set."""
    before = _text_of(home)
    tree = parse_toml(before, home.settings_file)
    wanted = _with(tree, dotted_key, None)
    if wanted == _pruned(tree):
        # An unknown key may be removed, which repairs the file, but a request for a missing unknown key is an error.
        if dotted_key not in all_settings():
            raise SettingsError(unknown_setting(dotted_key))
        return
    _save(home, dotted_key, _edited(before, dotted_key, None), wanted)


def unknown_setting(key: str) -> str:
    """Return the sentence about a key that is no setting, with the one that it may have meant."""
    # A name that is like none would be answered with one that means something else.
    if is_like(key, near := nearest(key, all_settings())):
        return f"{key!r} is not a setting; the nearest is {near!r}"
    return f"{key!r} is not a setting; list them with: recollectum settings show"


def _value(home: Home, setting: Setting, text: str) -> Value:
    if "$" in text:
        # Keep a reference as it is; it is resolved whenever the file is read.
        return text
    value = setting.take(setting.from_text(text))
    if value is None:
        shown = show_wrong(setting, text)
        raise SettingsError(f"{home.settings_file}: {setting.key} is {shown}; it must be {setting.allowed}")
    return value


def _text_of(home: Home) -> str:
    # A new settings.toml would hide the settings of the old file.
    migrate(home, dry_run=False)
    return read_text(home.settings_file) or ""


def _edited(text: str, key: str, value: Value | None) -> str:
    """Return the text with the value set, or removed for None, and every other line unchanged."""
    import tomlkit  # noqa: PLC0415 - only a change of the file needs it

    newline = "\r\n" if "\r\n" in text else "\n"
    document = tomlkit.parse(text.replace("\r\n", "\n"))
    section, _, name = key.rpartition(".")
    table: object = document.setdefault(section, tomlkit.table()) if section else document
    above = ""
    if isinstance(table, dict):
        inner = cast("dict[str, object]", table)
        if value is None:
            inner.pop(name, None)
        elif section or name in inner:
            inner[name] = value
        else:
            # At the top, where no section begins: tomlkit would put it between a section and the comment above that.
            above = f"{name} = {to_toml_value(value)}\n"
    after = above + document.as_string()
    return (after if after.endswith("\n") else f"{after}\n").replace("\n", newline)


def _with(tree: Tree, key: str, value: Value | None) -> dict[str, object]:
    """Return the tree with the value set, or removed for None."""
    wanted = deepcopy(dict(tree))
    section, _, name = key.rpartition(".")
    table = wanted.setdefault(section, {}) if section else wanted
    if isinstance(table, dict):
        inner = cast("dict[str, object]", table)
        if value is None:
            inner.pop(name, None)
        else:
            inner[name] = value
    return _pruned(wanted)


def _pruned(tree: Tree) -> dict[str, object]:
    """Return the tree without empty tables, which set nothing."""
    return {name: inner for name, inner in tree.items() if inner != {}}


def _save(home: Home, key: str, text: str, wanted: dict[str, object]) -> None:
    """Write the text, after checking that it has the wanted values and no problems."""
    path = home.settings_file
    tree = _parsed(text, path)
    if tree is None or _pruned(tree) != wanted:
        raise SettingsError(f"{path} sets {key} in a form that cannot be edited automatically; change it in an editor")
    layer = check_tree(tree, SettingOrigin(SettingsScope.USER, str(path)), None)
    if layer.problems:
        # One value was given, so report one problem; the file as a whole is checked when it is loaded.
        raise SettingsError(layer.problems[0])
    make_private_folder(home.root)
    # The file may be a link into a collection of dotfiles: change its target.
    write_atomic(path.resolve(), text.encode())


def _parsed(text: str, path: Path) -> Tree | None:
    try:
        return parse_toml(text, path)
    except SettingsError:
        # The previous text could be parsed, so our change does not fit its form.
        return None
