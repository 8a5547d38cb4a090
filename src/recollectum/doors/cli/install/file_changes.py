"""Plans changes of an agent's files, checks that nothing else changes, and writes them with a backup copy."""

import contextlib
import stat
from collections.abc import Callable, Generator, Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass
from recollectum.doors.cli.install import jsonc, toml_tables
from recollectum.doors.cli.install.agents import ConfigEntry, ConfigFile, ConfigFormat, is_ours
from recollectum.home.files import explain, write_atomic

#: What is left of a file when everything in it was ours.
_EMPTY = frozenset({"", "{}", '{\n  "version": 1\n}'})
BACKUP_SUFFIX = ".recollectum-backup"


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file before and after; None for a missing file."""

    path: Path
    before: str | None
    after: str | None

    def diff(self) -> list[str]:
        """Return the changes, line by line."""
        old, new = (self.before or "").splitlines(), (self.after or "").splitlines()
        name, nothing = str(self.path), "/dev/null"
        names = (nothing if self.before is None else name, nothing if self.after is None else name)
        return list(unified_diff(old, new, *names, lineterm=""))


def plan_changes(documents: Sequence[ConfigFile], *, server: bool, hooks: bool) -> list[FileChange]:
    """Return the changes that add or remove the server and the hooks; leave out unchanged files."""
    changes = [_change(one, lambda hook: hooks if hook else server) for one in documents]
    return [change for change in changes if change.before != change.after]


def apply_changes(changes: Sequence[FileChange]) -> list[Path]:
    """Write the changes; return the backup copies."""
    copies: list[Path] = []
    for change in changes:
        # The file may be a link into a collection of dotfiles: change its target.
        path = change.path.resolve()
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
        if change.before is not None:
            copy = path.with_name(path.name + BACKUP_SUFFIX)
            write_atomic(copy, change.before.encode())
            copies.append(copy)
        if change.after is None:
            path.unlink(missing_ok=True)
            continue
        _make_folder(path.parent)
        write_atomic(path, change.after.encode())
        if mode is not None:
            path.chmod(mode)
    return copies


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain(error, path) from error


def _change(document: ConfigFile, wanted: Callable[[bool], bool]) -> FileChange:
    before = _text_of(document.path)
    if document.form is ConfigFormat.OURS:
        return FileChange(document.path, before, document.text if wanted(True) else None)
    edit = _json if document.form is ConfigFormat.JSON else _toml
    with _named(document.path):
        after = edit(before or "", document.entries, wanted)
    shorter = len(after) < len(before or "")
    if (before is None or shorter) and after.strip() in _EMPTY:
        return FileChange(document.path, before, None)
    return FileChange(document.path, before, after)


def _text_of(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not UTF-8; correct it first, nothing was changed") from None
    except OSError as error:
        raise explain(error, path) from error


def _json(text: str, entries: Sequence[ConfigEntry], wanted: Callable[[bool], bool]) -> str:
    root = jsonc.read(text)
    if root.kind != "object":
        raise InvalidInput("line 1: it is not an object")
    after = text
    for entry in entries:
        after = _json_with(after, entry) if wanted(entry.hook) else _json_without(after, entry)
    _check(_pruned(jsonc.read(after).value, entries), _pruned(root.value, entries))
    return after


def _json_with(text: str, entry: ConfigEntry) -> str:
    if not entry.item:
        if entry.path == ("version",) and jsonc.find(jsonc.read(text), entry.path) is not None:
            # Required by the file's format, but not overwritten where somebody set it already.
            return text
        return jsonc.with_value(text, entry.path, entry.value)
    ours = [one.node.value for one in jsonc.find_members(text, entry.path) if is_ours(one.node.value)]
    if ours == [entry.value]:
        return text
    return jsonc.with_item(jsonc.without_items(text, entry.path, is_ours), entry.path, entry.value)


def _json_without(text: str, entry: ConfigEntry) -> str:
    if not text.strip() or entry.path == ("version",):
        return text
    if entry.item:
        return jsonc.without_items(text, entry.path, is_ours)
    return jsonc.without(text, entry.path)


def _toml(text: str, entries: Sequence[ConfigEntry], wanted: Callable[[bool], bool]) -> str:
    before = toml_tables.read(text)
    after = text
    for entry in entries:
        values = cast("Mapping[str, object]", entry.value)
        with_it = wanted(entry.hook)
        after = (
            toml_tables.with_table(after, entry.path, values)
            if with_it
            else toml_tables.without_table(after, entry.path)
        )
    try:
        read = toml_tables.read(after)
    except InvalidInput:
        raise _unfit() from None
    if any(toml_tables.find(read, entry.path) != (entry.value if wanted(entry.hook) else None) for entry in entries):
        raise _unfit()
    _check(_pruned(read, entries), _pruned(before, entries))
    return after


def _check(after: object, before: object) -> None:
    """Raise unless everything that is not ours is unchanged, so that nothing is written."""
    if after != before:
        raise _unfit()


def _unfit() -> InvalidInput:
    return InvalidInput("its format cannot be edited automatically; add the entry in an editor")


def _pruned(value: object, entries: Sequence[ConfigEntry]) -> object:
    """Return a document without our entries and without empty containers."""
    return _without_ours(value, [entry.path for entry in entries if not entry.item], ())


def _without_ours(value: object, ours: Sequence[tuple[str, ...]], path: tuple[str, ...]) -> object:
    if isinstance(value, dict):
        inner = {
            name: _without_ours(one, ours, (*path, name))
            for name, one in cast("dict[str, object]", value).items()
            if (*path, name) not in ours
        }
        return {name: one for name, one in inner.items() if one not in ({}, [])}
    if isinstance(value, list):
        return [one for one in cast("list[object]", value) if not is_ours(one)]
    return value


@contextlib.contextmanager
def _named(path: Path) -> Generator[None]:
    """Add the file's name to errors about its text."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"{path}, {error}; correct it first, nothing was changed") from None
