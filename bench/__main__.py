"""Runs the benchmarks named on the command line, or all: python -m bench [--list] [NAME ...].

Arguments after the name of a benchmark that takes any are passed to it: python -m bench recall FOLDER --svg FILE.
"""

import argparse
import ast
import importlib
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from recollectum.domain.errors import RecollectumError

FOLDER = Path(__file__).parent


def benchmarks(folder: Path) -> dict[str, str]:
    """Return the name of every module in the folder that has a main(), with its first docstring line."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("[!_]*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if _main_of(tree):
            found[path.stem] = (ast.get_docstring(tree) or "").partition("\n")[0]
    return found


def split(arguments: Sequence[str], folder: Path) -> tuple[list[str], list[str]]:
    """Return our arguments, and those of the first benchmark on the line that takes any."""
    for place, word in enumerate(arguments, start=1):
        path = folder / f"{word}.py"
        if word.isidentifier() and path.exists():
            found = _main_of(ast.parse(path.read_text(encoding="utf-8")))
            if found and found.args.args:
                return list(arguments[:place]), list(arguments[place:])
    return list(arguments), []


def _main_of(tree: ast.Module) -> ast.FunctionDef | None:
    return next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "main"), None)


def main(arguments: Sequence[str] | None = None) -> None:
    """List the benchmarks, or run them one after the other."""
    found = benchmarks(FOLDER)
    ours, theirs = split(sys.argv[1:] if arguments is None else arguments, FOLDER)
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Run benchmarks; all of them when none is named."
    )
    parser.add_argument("--list", action="store_true", help="only say which there are")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(found) or "there are none yet")
    asked = parser.parse_args(ours)
    names: list[str] = asked.names
    if unknown := [name for name in names if name not in found]:
        parser.error(f"no benchmark {unknown[0]!r}; there are: {', '.join(found) or 'none yet'}")
    if asked.list or not found:
        print("\n".join(f"{name:<16} {job}" for name, job in found.items()) or "no benchmarks yet")
        return
    for name in names or found:
        print(f"== {name}", flush=True)
        work = importlib.import_module(f"bench.{name}").main
        # Only the last benchmark on the line can have arguments: everything after its name.
        with _errors_in_words(name):
            if theirs and name == names[-1]:
                work(theirs)
            else:
                work()


@contextmanager
def _errors_in_words(name: str) -> Generator[None]:
    """End with the sentence of an error that was raised on purpose, and not with a traceback."""
    try:
        yield
    except RecollectumError as error:
        raise SystemExit(f"python -m bench {name}: {error}") from None


if __name__ == "__main__":
    main()
