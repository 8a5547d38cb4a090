"""Runs mutmut over the modules that pyproject.toml names, and lists the mutants that no test notices.

`python -m tools.mutants [PATTERN]...` tries the mutants whose names match, such as `recollectum.text.*`.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

_MUTMUT = str(Path(sys.executable).with_name("mutmut"))
#: Mutants that may survive, each with the reason.
_SURVIVORS = Path(__file__).with_name("mutants.toml")
_KILLED = ("killed", "timeout", "caught by type check")


def main(patterns: list[str]) -> int:
    """Try the mutants; return 1 when one survives that is not listed."""
    done = subprocess.run([_MUTMUT, "run", *patterns], check=False)
    if done.returncode:
        return done.returncode
    known = {(one["before"], one["after"]) for one in tomllib.loads(_SURVIVORS.read_text("utf-8"))["survivor"]}
    found = {name: _change(name) for name in _alive()}
    new = {name: change for name, change in found.items() if change not in known}
    for name, (before, after) in new.items():
        print(f"{name} survives\n  - {before}\n  + {after}")
    print(f"{len(new)} mutants survive that tools/mutants.toml does not list, {len(found) - len(new)} that it lists")
    return 1 if new else 0


def _alive() -> list[str]:
    """Return the names of the mutants that were tried and not killed."""
    rows = (line.strip().rpartition(": ") for line in _said("results").splitlines())
    return [name for name, _, state in rows if name and state not in (*_KILLED, "not checked")]


def _change(name: str) -> tuple[str, str]:
    """Return the line before and after the mutation."""
    lines = [line for line in _said("show", name).splitlines() if not line.startswith(("---", "+++"))]
    before = " ".join(line[1:].strip() for line in lines if line.startswith("-"))
    return before, " ".join(line[1:].strip() for line in lines if line.startswith("+"))


def _said(*words: str) -> str:
    return subprocess.run([_MUTMUT, *words], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
