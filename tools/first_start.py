"""Times the first minutes of a newcomer in a fresh environment: `python -m tools.first_start ['recollectum[all]']`.

It takes the wheels of `make dist` and the index that this account uses, types what the README says, and prints a table
of what each step downloads and takes. Nothing is left: the environment and the home are in a temporary folder.
"""

import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tools.pip_progress import Progress, follow_pip, megabytes

ROOT = Path(__file__).parents[1]
_EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = (
    ("recollectum", "init"),
    ("recollectum", "remember", "I am vegetarian"),
    ("recollectum", "recall", "what do I eat?"),
)


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """What each step took, as rows of a table."""

    rows: list[str] = field(default_factory=list[str])

    @contextmanager
    def step(self, name: str, fetched: Callable[[], int] = lambda: 0) -> Generator[None]:
        """Time a step, which is ended when all programs that it started are."""
        wall, cpu = time.monotonic(), _processor_seconds()
        yield
        spent = time.monotonic() - wall, _processor_seconds() - cpu
        size = megabytes(fetched()) if fetched() else "nothing"
        self.rows.append(f"| {name} | {size} | {spent[0]:.1f} s | {spent[1]:.1f} s |")


def main(requirement: str, dist: Path = ROOT / "dist") -> None:
    """Install it, type the first commands and run the README's example; print the table."""
    if not any(dist.glob("recollectum-*.whl")):
        raise SystemExit(f"{dist} has no wheel; run: make dist")
    watch = Stopwatch()
    with tempfile.TemporaryDirectory(prefix="recollectum-start-") as folder:
        place = Path(folder)
        programs = place / "env" / "bin"
        with watch.step("`python -m venv`"):
            subprocess.run([sys.executable, "-m", "venv", str(place / "env")], check=True)
        progress = Progress()
        with watch.step(f"`pip install '{requirement}'`", lambda: progress.fetched):
            if follow_pip(str(programs / "python"), ["--find-links", str(dist), requirement], progress):
                raise SystemExit("\n".join(progress.last))
        environ = _own_folders(place)
        for command in COMMANDS:
            with watch.step(f"`{shlex.join(command)}`"):
                _run([str(programs / command[0]), *command[1:]], environ)
        with watch.step("the README's example"):
            _run([str(programs / "python"), "-c", readme_example()], environ)
    print("\n| step | download | time | processor time |\n|---|---|---|---|", *watch.rows, sep="\n")


def readme_example() -> str:
    """Return the first example in Python of the README."""
    found = _EXAMPLE.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def _own_folders(place: Path) -> dict[str, str]:
    """Return an environment in which the home and the key are below a folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECTUM_")}
    no_keyring = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
    return {**kept, "HOME": str(place), "XDG_CONFIG_HOME": str(place / "config"), **no_keyring}


def _run(line: list[str], environ: Mapping[str, str]) -> None:
    done = subprocess.run(line, env=environ, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{line[-1]!r} failed:\n{done.stderr[-2000:]}")


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "recollectum[all]")
