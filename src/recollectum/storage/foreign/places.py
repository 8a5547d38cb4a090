"""Knows where programs keep their files below a person's home directory, and the files beside a database."""

from collections.abc import Mapping
from pathlib import Path

#: Files that SQLite keeps beside a database.
COMPANIONS = ("-wal", "-shm", "-journal")
#: Files and folders, in the order in which they are offered; a star stands for a name.
PLACES = (
    ".claude/projects",
    ".codex/sessions",
    ".codex/archived_sessions",
    ".gemini/tmp",
    ".local/share/opencode/opencode.db",
    ".openclaw/agents/*/agent/openclaw-agent.sqlite",
    ".openclaw/agents/*/sessions",
    ".config/Cursor/User/globalStorage/state.vscdb",
    "Library/Application Support/Cursor/User/globalStorage/state.vscdb",
    "AppData/Roaming/Cursor/User/globalStorage/state.vscdb",
    ".gaia/sessions.db",
    ".gaia/memory",
    ".mem0/history.db",
    ".aider.chat.history.md",
    "*/.aider.chat.history.md",
)


#: Folders that a variable of the environment moves elsewhere.
_MOVED = {".claude": "CLAUDE_CONFIG_DIR", ".codex": "CODEX_HOME", ".local/share": "XDG_DATA_HOME"}


def places_below(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """Return the places that exist, in order; links are not followed."""
    moved = {folder: environ[name] for folder, name in _MOVED.items() if environ.get(name)}
    others = [
        (Path(root), place.removeprefix(f"{folder}/"))
        for folder, root in moved.items()
        for place in PLACES
        if place.startswith(f"{folder}/")
    ]
    found: dict[Path, None] = {}
    for root, place in [*((home, place) for place in PLACES), *others]:
        try:
            for path in sorted(root.glob(place)) if "*" in place else [root / place]:
                if path.exists() and not path.is_symlink():
                    found[path] = None
        except OSError:
            continue
    return list(found)
