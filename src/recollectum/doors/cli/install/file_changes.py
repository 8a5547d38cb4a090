"""Plans changes of an agent's files, checks that nothing else changes, and writes them with a backup copy."""

import contextlib
import stat
from collections.abc import Generator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path
from typing import cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass
from recollectum.doors.cli.install import jsonc, toml_tables
from recollectum.doors.cli.install.agents import (
    PLUGIN_MARK,
    ConfigEntry,
    ConfigFile,
    ConfigFormat,
    EntryPart,
    calls_our_hook,
)
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
    #: Whether the version before is kept beside it; not when an older copy says all that it does, without our entries.
    copied: bool = True

    def diff(self) -> list[str]:
        """Return the changes, line by line."""
        old, new = (self.before or "").splitlines(), (self.after or "").splitlines()
        name, nothing = str(self.path), "/dev/null"
        names = (nothing if self.before is None else name, nothing if self.after is None else name)
        return list(unified_diff(old, new, *names, lineterm=""))


def plan_changes(documents: Sequence[ConfigFile], parts: Set[EntryPart]) -> list[FileChange]:
    """Return the changes that add these parts of our entries and remove the others; leave out unchanged files."""
    changes = [_planned(one, parts) for one in documents]
    return [change for change in changes if change.before != change.after]


def _planned(document: ConfigFile, parts: Set[EntryPart]) -> FileChange:
    """Return the change of one file; a removal restores the bytes from before us where nothing else has changed."""
    change = _change(document, parts, _text_of(document.path))
    copy = _text_of(_copy_of(document.path))
    if copy is None or change.before is None or document.form is ConfigFormat.OURS:
        return change
    with suppress(InvalidInput):
        without = _change(document, frozenset(), change.before).after
        same = _change(document, frozenset(), copy).after == copy and _says(document, copy) == _says(document, without)
        if same and not parts:
            return replace(change, after=copy)
        return replace(change, copied=not same or without == change.before)
    return change


def _says(document: ConfigFile, text: str | None) -> object:
    """Return the values of a file, without empty containers."""
    value = jsonc.read(text or "").value if document.form is ConfigFormat.JSON else toml_tables.read(text or "")
    return _without_ours(value, (), (), ())


def _copy_of(path: Path) -> Path:
    real = path.resolve()
    return real.with_name(real.name + BACKUP_SUFFIX)


def find_spare_copies(documents: Sequence[ConfigFile]) -> list[Path]:
    """Return the backup copies that hold, besides entries of ours, just what their file holds without them."""
    found: list[Path] = []
    for document in documents:
        copy = _copy_of(document.path)
        kept = _text_of(copy)
        if kept is None:
            continue
        with suppress(InvalidInput):
            own = [_change(document, frozenset(), text).after for text in (kept, _text_of(document.path))]
            found += [copy] if own[0] == own[1] else []
    return found


def apply_changes(changes: Sequence[FileChange], *, backup: bool = True) -> list[Path]:
    """Write the changes; return the backup copies, if any are made."""
    copies: list[Path] = []
    for change in changes:
        # The file may be a link into a collection of dotfiles: change its target.
        path = change.path.resolve()
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
        if backup and change.copied and change.before is not None:
            copy = _copy_of(path)
            write_atomic(copy, change.before.encode())
            copies.append(copy)
        if change.after is None:
            path.unlink(missing_ok=True)
            # A link to it would lead nowhere.
            change.path.unlink(missing_ok=True)
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


def _change(document: ConfigFile, parts: Set[EntryPart], before: str | None) -> FileChange:
    if document.form is ConfigFormat.OURS:
        if EntryPart.HOOKS in parts:
            return FileChange(document.path, before, document.text)
        # Somebody may have put a plugin under the same name.
        return FileChange(document.path, before, None if (before or "").startswith(PLUGIN_MARK) else before)
    edit = _json if document.form is ConfigFormat.JSON else _toml
    with _named(document.path):
        after = edit(before or "", document.entries, parts)
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


def _json(text: str, entries: Sequence[ConfigEntry], parts: Set[EntryPart]) -> str:
    root = jsonc.read(text)
    if root.kind != "object":
        raise InvalidInput("line 1: it is not an object")
    after = text
    for entry in entries:
        after = _json_with(after, entry) if entry.part in parts else _json_without(after, entry)
    _check(_pruned(jsonc.read(after).value, entries), _pruned(root.value, entries))
    return after


def _json_with(text: str, entry: ConfigEntry) -> str:
    if not entry.item:
        if entry.path == ("version",) and jsonc.find(jsonc.read(text), entry.path) is not None:
            # Required by the file's format, but not overwritten where somebody set it already.
            return text
        return jsonc.with_value(text, entry.path, entry.value)
    ours = [one.node.value for one in jsonc.find_members(text, entry.path) if entry.is_ours(one.node.value)]
    if ours == [entry.value]:
        return text
    return jsonc.with_item(jsonc.without_items(text, entry.path, entry.is_ours), entry.path, entry.value)


def _json_without(text: str, entry: ConfigEntry) -> str:
    if not text.strip() or entry.path == ("version",):
        return text
    if entry.item:
        return jsonc.without_items(text, entry.path, entry.is_ours)
    found = jsonc.find(jsonc.read(text), entry.path)
    return jsonc.without(text, entry.path) if found is not None and entry.is_ours(found.value) else text


def _toml(text: str, entries: Sequence[ConfigEntry], parts: Set[EntryPart]) -> str:
    before = toml_tables.read(text)
    after, wanted = text, dict[tuple[str, ...], object]()
    for entry in entries:
        found = toml_tables.find(before, entry.path)
        if entry.part in parts:
            wanted[entry.path] = entry.value
            after = toml_tables.with_table(after, entry.path, cast("Mapping[str, object]", entry.value))
        elif entry.is_ours(found):
            wanted[entry.path] = None
            after = toml_tables.without_table(after, entry.path)
    try:
        read = toml_tables.read(after)
    except InvalidInput:
        raise _unfit() from None
    if any(toml_tables.find(read, path) != value for path, value in wanted.items()):
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
    allowed = [entry.value for entry in entries if entry.part is EntryPart.ALLOW]
    return _without_ours(value, [entry.path for entry in entries if not entry.item], allowed, ())


def _without_ours(
    value: object, ours: Sequence[tuple[str, ...]], allowed: Sequence[object], path: tuple[str, ...]
) -> object:
    if isinstance(value, dict):
        inner = {
            name: _without_ours(one, ours, allowed, (*path, name))
            for name, one in cast("dict[str, object]", value).items()
            if (*path, name) not in ours
        }
        return {name: one for name, one in inner.items() if one not in ({}, [])}
    if isinstance(value, list):
        return [one for one in cast("list[object]", value) if not calls_our_hook(one) and one not in allowed]
    return value


@contextlib.contextmanager
def _named(path: Path) -> Generator[None]:
    """Add the file's name to errors about its text."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"{path}, {error}; correct it first, nothing was changed") from None
