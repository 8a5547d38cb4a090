"""Finds PgBouncer, the pooler through which some tests reach PostgreSQL."""

import os
import shutil

#: Debian installs it where only administrators look.
_PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"))


def find_pooler() -> str | None:
    """The path of PgBouncer, or None."""
    return shutil.which("pgbouncer", path=_PATH)
