"""Finds the services of this account that start Recollectum, as the guide to the daemon shows how to make them."""

import re
from pathlib import Path

from recollectum.doors.cli.install.agents import NAME, InstallRequest
from recollectum.doors.cli.install.file_changes import FileChange

_OURS = re.compile(rf"^ExecStart=.*\b{NAME}\b.*\b(?:serve|daemon)\b", re.MULTILINE)


def service_files(request: InstallRequest) -> list[FileChange]:
    """Return the removal of the unit that starts `recollectum serve`, and of the link that enables it."""
    config = request.environ.get("XDG_CONFIG_HOME", "")
    folder = (Path(config) if config else request.account / ".config") / "systemd" / "user"
    unit = folder / f"{NAME}.service"
    try:
        text = unit.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    if not _OURS.search(text):
        # A unit of the same name that starts something else is not ours.
        return []
    link = folder / "default.target.wants" / unit.name
    return [FileChange(unit, text, None), *([FileChange(link, text, None)] if link.is_symlink() else [])]
