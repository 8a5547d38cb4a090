"""Switches core dumps off for the programs of Recollectum: a dump of a crashed process would contain the master key."""

import sys
from collections.abc import Mapping
from contextlib import suppress

#: Set to 1 to allow core dumps, to find the fault in a program that crashes.
VARIABLE = "RECOLLECTUM_CORE_DUMPS"
#: From Linux's prctl.h.
_PR_SET_DUMPABLE = 4


def forbid_core_dumps(environ: Mapping[str, str]) -> None:
    """Forbid core dumps of this process; only programs call it, because a library must not change its host's limits."""
    if environ.get(VARIABLE) == "1" or sys.platform == "win32":
        return
    # Imported here: Windows has no such module.
    import resource  # noqa: PLC0415

    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    if sys.platform == "linux":
        _make_undumpable()


def _make_undumpable() -> None:
    """Tell Linux as well: a system that pipes dumps to a program, as systemd does, ignores the limit."""
    # Imported here: only Linux needs it.
    import ctypes  # noqa: PLC0415

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
