"""A text in the person's own editor, in a folder that nobody else can enter and that is gone afterwards."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from recollectum.domain.errors import InvalidInput
from recollectum.doors.cli.edge import Misuse


def edited(text: str, environ: Mapping[str, str]) -> str:
    """The text as the editor left it; nothing of it stays outside the vault."""
    # Only the commands that open an editor need them.
    import subprocess  # noqa: PLC0415
    import tempfile  # noqa: PLC0415

    command = _editor(environ)
    # The run-time folder is in memory and private; an editor's own backup files go with the folder.
    with tempfile.TemporaryDirectory(prefix="recollectum-", dir=_memory_folder(environ)) as folder:
        path = Path(folder) / "memory.txt"
        path.write_text(text, encoding="utf-8", newline="")
        try:
            done = subprocess.run([*command, str(path)], check=False)
        except OSError as error:
            raise InvalidInput(f"the editor {command[0]!r} cannot be started ({error.strerror}); set EDITOR") from error
        if done.returncode:
            raise InvalidInput(f"the editor ended with {done.returncode}; nothing was changed")
        return _read(path)


def _editor(environ: Mapping[str, str]) -> list[str]:
    chosen = environ.get("VISUAL") or environ.get("EDITOR") or ""
    try:
        words = shlex.split(chosen)
    except ValueError:
        words = []
    if not words:
        raise Misuse("no editor is named; give the new text on the command line, or set EDITOR")
    return words


def _memory_folder(environ: Mapping[str, str]) -> str | None:
    named = environ.get("XDG_RUNTIME_DIR", "")
    return named if named and Path(named).is_dir() else None


def _read(path: Path) -> str:
    try:
        # Editors end a file with a newline that nobody typed.
        return path.read_bytes().decode().removesuffix("\n").removesuffix("\r")
    except (FileNotFoundError, UnicodeDecodeError):
        raise InvalidInput("the editor left no UTF-8 text behind; nothing was changed") from None
