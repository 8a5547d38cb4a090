"""Does what the memory tool of Anthropic's API asks for: files below /memories, each kept as one document of a vault.

The answers and the errors are those of the reference implementation, word for word: models are trained on them.
"""

import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING

from recollectum.adapters.documents import Document, Documents, Folder
from recollectum.domain.errors import Conflict
from recollectum.domain.message import ToolUse

if TYPE_CHECKING:
    from recollectum.vault.vault import Vault

ROOT = "/memories"
_KIND, _AGENT = "file", "anthropic-memory"
_USE = ToolUse(tool="memory", agent=_AGENT, channel="memory")
_MAX_LINES, _MAX_SEGMENTS, _MAX_PATH_BYTES = 999_999, 20, 1024
_NUMBER_WIDTH = 6
_DEPTH = 2
_RETRIES = 4
_UNITS = ("B", "K", "M", "G")


class MemoryFileError(Exception):
    """A command cannot be done; the text is for the model."""


class MemoryFiles:
    """The files of one vault; each change keeps the previous text as a version, and deleted files are in the trash."""

    def __init__(self, vault: "Vault") -> None:
        self._documents = Documents(vault, _KIND, _AGENT, has_search=False)

    def view(self, path: str, view_range: list[int] | None = None) -> str:
        """Return a file with line numbers, or what is in a directory."""
        labels = _labels(path)
        found = self._find(labels)
        if found is not None:
            return _numbered(path, _text(found), view_range)
        below = list(self._documents.list(labels))
        if labels and not below:
            raise MemoryFileError(f"The path {path} does not exist. Please provide a valid path.")
        sizes = [(one.folder[len(labels) :], one.name, len(_text(one).encode())) for one in below]
        lines = [f"{_size(sum(size for _, _, size in sizes))}\t{path}", *_listed(path, sizes)]
        head = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
        return "\n".join([head, *lines])

    def create(self, path: str, file_text: str) -> str:
        """Create a file; one that exists is not overwritten."""
        labels = _labels(path)
        if not labels or self._is_taken(labels):
            raise MemoryFileError(f"File {path} already exists")
        self._check_way(labels)
        self._documents.save([(labels[:-1], labels[-1], {"text": file_text}, None)], said_by=_USE)
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old_str: str, new_str: str) -> str:
        """Replace a text that occurs once in a file."""
        before, after = self._edit(path, lambda text: _replaced(path, text, old_str, new_str))
        line = before[: before.find(old_str)].count("\n")
        lines = after.split("\n")
        snippet = [
            _line(number, lines[number - 1]) for number in range(max(0, line - 2) + 1, min(len(lines), line + 3) + 1)
        ]
        head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return "\n".join([head, *snippet])

    def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        """Insert a text after a line of a file; 0 is the beginning."""

        def inserted(text: str) -> str:
            lines = text.split("\n")
            if lines[-1] == "":
                lines.pop()
            if not 0 <= insert_line <= len(lines):
                raise MemoryFileError(
                    f"Invalid `insert_line` parameter: {insert_line}. It should be within the range [0, {len(lines)}]."
                )
            lines.insert(insert_line, insert_text.rstrip("\n"))
            joined = "\n".join(lines)
            return joined if joined.endswith("\n") else joined + "\n"

        self._edit(path, inserted)
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        """Delete a file, or a directory with everything in it."""
        labels = _labels(path)
        if not labels:
            raise MemoryFileError("Cannot delete the /memories directory itself")
        for document in self._at_or_below(labels, f"The path {path} does not exist"):
            self._documents.forget_memory(document.memory)
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        """Move a file, or a directory with everything in it."""
        old, new = _labels(old_path), _labels(new_path)
        if not old:
            raise MemoryFileError("Cannot rename the /memories directory itself")
        if not new or self._is_taken(new):
            raise MemoryFileError(f"The destination {new_path} already exists")
        moved = self._at_or_below(old, f"The path {old_path} does not exist")
        self._check_way(new)
        if new[: len(old)] == old:
            raise MemoryFileError(f"Cannot move {old_path} into itself")
        places = [(one, (*new, *(*one.folder, one.name)[len(old) :])) for one in moved]
        self._documents.save([(to[:-1], to[-1], one.body, None) for one, to in places], said_by=_USE)
        for one in moved:
            self._documents.forget_memory(one.memory)
        return f"Successfully renamed {old_path} to {new_path}"

    def clear(self) -> str:
        """Delete all files."""
        for document in list(self._documents.list()):
            self._documents.forget_memory(document.memory)
        return "All memory cleared"

    def _find(self, labels: Folder) -> Document | None:
        return self._documents.find(labels[:-1], labels[-1]) if labels else None

    def _at_or_below(self, labels: Folder, missing: str) -> list[Document]:
        found = self._find(labels)
        several = list(self._documents.list(labels)) if found is None else [found]
        if not several:
            raise MemoryFileError(missing)
        return several

    def _is_taken(self, labels: Folder) -> bool:
        return self._find(labels) is not None or next(self._documents.list(labels), None) is not None

    def _check_way(self, labels: Folder) -> None:
        """Raise when a file is where a directory of the path has to be."""
        for depth in range(1, len(labels)):
            if self._find(labels[:depth]):
                raise MemoryFileError(f"The path {'/'.join((ROOT, *labels[:depth]))} is not a directory.")

    def _edit(self, path: str, change: Callable[[str], str]) -> tuple[str, str]:
        """Change the text of a file; return it before and after. Text that somebody changes meanwhile is read again."""
        for _ in range(_RETRIES):
            try:
                return self._edit_once(path, change)
            except Conflict:
                continue
        return self._edit_once(path, change)

    def _edit_once(self, path: str, change: Callable[[str], str]) -> tuple[str, str]:
        before, document = self._read(path)
        after = change(before)
        self._documents.edit(document, {"text": after})
        return before, after

    def _read(self, path: str) -> tuple[str, Document]:
        labels = _labels(path)
        found = self._find(labels)
        if found is not None:
            return _text(found), found
        if not labels or next(self._documents.list(labels), None):
            raise MemoryFileError(f"The path {path} is not a file.")
        raise MemoryFileError(f"The path {path} does not exist. Please provide a valid path.")


def _labels(path: str) -> Folder:
    """Return the parts of a path below /memories; raise for any that could be taken for another one."""
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise MemoryFileError(f"Path must start with {ROOT}, got: {path}")
    labels = tuple(label for label in path.removeprefix(ROOT).split("/") if label)
    if any(label in (".", "..") for label in labels):
        raise MemoryFileError(f"Path {path} would escape {ROOT} directory")
    if any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in path) or "\\" in path:
        raise MemoryFileError(f"Path {path!r} contains a control character, a format character or a backslash.")
    if unicodedata.normalize("NFC", path) != path:
        raise MemoryFileError(f"Path {path} is not in Unicode's NFC form.")
    if len(labels) > _MAX_SEGMENTS or len(path.encode()) > _MAX_PATH_BYTES:
        raise MemoryFileError(f"Path of {len(labels)} parts and {len(path.encode())} bytes is too long.")
    return labels


def _text(document: Document) -> str:
    return str(document.body.get("text", ""))


def _line(number: int, line: str) -> str:
    return f"{number:>{_NUMBER_WIDTH}}\t{line}"


def _numbered(path: str, text: str, view_range: list[int] | None) -> str:
    lines = text.split("\n")
    if len(lines) > _MAX_LINES:
        raise MemoryFileError(f"File {path} exceeds maximum line limit of 999,999 lines.")
    start, shown = 0, lines
    if view_range and len(view_range) == 2:
        start = max(1, view_range[0]) - 1
        shown = lines[start : len(lines) if view_range[1] == -1 else view_range[1]]
    numbered = [_line(number, line) for number, line in enumerate(shown, start + 1)]
    return f"Here's the content of {path} with line numbers:\n" + "\n".join(numbered)


def _replaced(path: str, text: str, old: str, new: str) -> str:
    count = text.count(old)
    if count == 1:
        return text.replace(old, new)
    if count == 0:
        raise MemoryFileError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    places: list[int] = []
    at = text.find(old)
    while at != -1:
        places.append(text[:at].count("\n") + 1)
        at = text.find(old, at + 1)
    raise MemoryFileError(
        f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
        f"{', '.join(map(str, places))}. Please ensure it is unique"
    )


def _listed(path: str, sizes: list[tuple[Folder, str, int]], depth: int = 1) -> list[str]:
    """Return a line for each visible file and directory, two levels deep."""
    lines: list[str] = []
    for name in sorted({folder[0] if folder else name for folder, name, _ in sizes}):
        inside = [(folder[1:], file, size) for folder, file, size in sizes if folder and folder[0] == name]
        if name.startswith("."):
            continue
        if inside:
            lines.append(f"{_size(sum(size for _, _, size in inside))}\t{path}/{name}/")
            lines += _listed(f"{path}/{name}", inside, depth + 1) if depth < _DEPTH else []
        else:
            lines += [f"{_size(size)}\t{path}/{name}" for folder, file, size in sizes if not folder and file == name]
    return lines


def _size(size: int) -> str:
    unit = min(max(size.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    scaled = size / 1024**unit
    return f"{int(scaled)}{_UNITS[unit]}" if scaled == int(scaled) else f"{scaled:.1f}{_UNITS[unit]}"
