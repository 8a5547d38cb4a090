"""Sets or unsets one value in settings.toml and keeps every other line."""

import re
from copy import deepcopy
from pathlib import Path
from typing import cast

from recollectum.domain.errors import SettingsError
from recollectum.home.files import make_private_folder, write_atomic
from recollectum.home.paths import Home
from recollectum.settings.check import SettingOrigin, SettingsScope, Tree, check_tree
from recollectum.settings.migrate import migrate
from recollectum.settings.read import parse_toml, read_text
from recollectum.settings.registry import Setting, all_settings, nearest
from recollectum.settings.render import to_toml_value
from recollectum.settings.spec import Value

_HEADER = re.compile(r"\s*\[\s*(?P<name>[^\[\]#]+?)\s*\]\s*(?:#.*)?")
_KEY = re.compile(
    r"(?P<head>\s*(?P<name>[^=#\[]+?)\s*=\s*)"
    r"""(?P<value>"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'#\[{][^#]*?)"""
    r"(?P<tail>\s*(?:#.*)?)"
)
_QUOTES_AND_SPACES = re.compile(r"[\s\"']")


class TomlLines:
    """The lines of a settings file.

    It knows the plain forms, `name = value` below `[section]` or `section.name = value`. Whoever uses it parses the
    result and compares, so a file that is written otherwise is refused and never spoilt.
    """

    def __init__(self, text: str) -> None:
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []

    def __str__(self) -> str:
        """The file again, with the line ends it had."""
        return "".join(line + self._newline for line in self._lines)

    def set(self, key: str, literal: str) -> None:
        """Give the key this value, on its own line where it has one."""
        at = self._find(key)
        found = _KEY.fullmatch(self._lines[at]) if at is not None else None
        if at is not None and found:
            self._lines[at] = f"{found['head']}{literal}{found['tail']}"
        else:
            self._add(key, literal)

    def remove(self, key: str) -> None:
        """Take the line of the key out, where it has one."""
        at = self._find(key)
        if at is not None:
            del self._lines[at]

    def _find(self, key: str) -> int | None:
        section = ""
        for number, line in enumerate(self._lines):
            if header := _HEADER.fullmatch(line):
                section = _plain(header["name"])
            elif found := _KEY.fullmatch(line):
                name = _plain(found["name"])
                if (f"{section}.{name}" if section else name) == key:
                    return number
        return None

    def _add(self, key: str, literal: str) -> None:
        section, _, name = key.rpartition(".")
        line = f"{name} = {literal}"
        if not section:
            self._lines.insert(self._end_of_top(), line)
            return
        end = self._end_of(section)
        if end is None:
            gap = [""] if self._lines and self._lines[-1].strip() else []
            self._lines += [*gap, f"[{section}]", line]
        else:
            self._lines.insert(end, line)

    def _end_of(self, section: str) -> int | None:
        """The place after the last value of the section; None when there is no such section."""
        end: int | None = None
        inside = False
        for number, line in enumerate(self._lines):
            if header := _HEADER.fullmatch(line):
                inside = _plain(header["name"]) == section
            if inside and line.strip() and not line.lstrip().startswith("#"):
                end = number + 1
        return end

    def _end_of_top(self) -> int:
        """The place after the last value that stands above all sections."""
        end: int | None = None
        for number, line in enumerate(self._lines):
            if line.lstrip().startswith("["):
                # The comment right above a section is about it.
                while end is None and number and self._lines[number - 1].lstrip().startswith("#"):
                    number -= 1
                return number if end is None else end
            if _KEY.fullmatch(line):
                end = number + 1
        return len(self._lines) if end is None else end


def _plain(name: str) -> str:
    return _QUOTES_AND_SPACES.sub("", name)


def set_value(home: Home, dotted_key: str, text: str) -> None:
    """Set one value, given as one would write it: a number, or a text without its quotes, which may hold `${NAME}`."""
    setting = all_settings().get(dotted_key)
    if setting is None:
        raise SettingsError(_not_a_setting(dotted_key))
    value = _value(home, setting, text)
    before = _text_of(home)
    lines = TomlLines(before)
    lines.set(dotted_key, to_toml_value(value))
    wanted = _with(parse_toml(before, home.settings_file), dotted_key, value)
    _save(home, dotted_key, str(lines), wanted)


def unset_value(home: Home, dotted_key: str) -> None:
    """Take one value out, so that a lower scope decides; nothing happens when it is not there."""
    before = _text_of(home)
    lines = TomlLines(before)
    tree = parse_toml(before, home.settings_file)
    wanted = _with(tree, dotted_key, None)
    if wanted == _pruned(tree):
        # A key that is not a setting can be taken out, which cures the file, but not asked for in vain.
        if dotted_key not in all_settings():
            raise SettingsError(_not_a_setting(dotted_key))
        return
    lines.remove(dotted_key)
    _save(home, dotted_key, str(lines), wanted)


def _not_a_setting(key: str) -> str:
    return f"{key!r} is not a setting; the nearest is {nearest(key, all_settings())!r}"


def _value(home: Home, setting: Setting, text: str) -> Value:
    if "$" in text:
        # A reference stays one; what it stands for is looked up whenever the file is read.
        return text
    value = setting.take(setting.from_text(text))
    if value is None:
        raise SettingsError(f"{home.settings_file}: {setting.key} is {text!r}; it must be {setting.allowed}")
    return value


def _text_of(home: Home) -> str:
    # A new settings.toml would hide what the old file says.
    migrate(home, dry_run=False)
    return read_text(home.settings_file) or ""


def _with(tree: Tree, key: str, value: Value | None) -> dict[str, object]:
    """The tree with the value set, or taken out for None."""
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
    """The tree without empty tables, which set nothing."""
    return {name: inner for name, inner in tree.items() if inner != {}}


def _save(home: Home, key: str, text: str, wanted: dict[str, object]) -> None:
    """Write the text, once it is sure to say what was wanted and nothing in it is wrong."""
    path = home.settings_file
    tree = _parsed(text, path)
    if tree is None or _pruned(tree) != wanted:
        raise SettingsError(f"{path} sets {key} in a form that cannot be changed from here; change it in an editor")
    layer = check_tree(tree, SettingOrigin(SettingsScope.USER, str(path)), None)
    if layer.problems:
        # One value was given, so one sentence is the answer; the file as a whole is judged when it is loaded.
        raise SettingsError(layer.problems[0])
    make_private_folder(home.root)
    # The file may be a link into somebody's collection of dotfiles: change what it points to.
    write_atomic(path.resolve(), text.encode())


def _parsed(text: str, path: Path) -> Tree | None:
    try:
        return parse_toml(text, path)
    except SettingsError:
        # What was there before could be read, so it is our change that does not fit its form.
        return None
