"""Measures CPU seconds against imports that never change, so that a budget holds on a machine that others use too."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

#: Modules of Python alone, and the CPU seconds of importing them where the budgets were measured and nothing else ran.
_YARDSTICK = (
    "import asyncio, concurrent.futures.process, ctypes.util, email.mime.multipart, http.server, logging.config, pdb, "
    "sqlite3, tarfile, unittest.mock, xml.dom.minidom, xmlrpc.client, zipfile"
)
_YARDSTICK_S = 0.080
_FEWEST, _MOST = 4, 12


def best_and_limit(measure: Callable[[], float], budget: float, cache: Path) -> tuple[float, float]:
    """The best of several measurements, and the budget, larger by as much as this machine is slower now.

    Neighbours who share the cores and their caches make every run slower, CPU seconds included, and never quicker.
    """
    best = yardstick = float("inf")
    limit = budget
    for turn in range(_MOST):
        best = min(best, measure())
        yardstick = min(yardstick, import_seconds(_YARDSTICK, cache))
        limit = budget * max(1, yardstick / _YARDSTICK_S)
        if turn + 1 >= _FEWEST and best <= limit:
            break
    return best, limit


def import_seconds(statement: str, cache: Path) -> float:
    """The CPU seconds of one statement in a new process."""
    return float(run(f"import time; t = time.process_time(); {statement}; print(time.process_time() - t)", cache))


def run(program: str, cache: Path) -> str:
    """What a program prints, with compiled modules, as an installed package has them."""
    environ = {**os.environ, "PYTHONPYCACHEPREFIX": str(cache)}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environ
    ).stdout
