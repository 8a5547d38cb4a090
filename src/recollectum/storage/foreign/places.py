"""Knows where programs keep their files below a person's home directory, and the files beside a database."""

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


def places_below(home: Path) -> list[Path]:
    """Return the places that exist, in order; links are not followed."""
    found: dict[Path, None] = {}
    for place in PLACES:
        try:
            for path in sorted(home.glob(place)) if "*" in place else [home / place]:
                if path.exists() and not path.is_symlink():
                    found[path] = None
        except OSError:
            continue
    return list(found)
