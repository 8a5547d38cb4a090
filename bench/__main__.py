"""Runs the benchmarks named on the command line, or all: python -m bench [--list] [NAME ...]."""

import argparse
import ast
import importlib
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).parent


def benchmarks(folder: Path) -> dict[str, str]:
    """The name of every module in the folder that has a main(), with the sentence that says its job."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("[!_]*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body):
            found[path.stem] = (ast.get_docstring(tree) or "").partition("\n")[0]
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """List the benchmarks, or run them one after the other."""
    found = benchmarks(FOLDER)
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Run benchmarks; all of them when none is named."
    )
    parser.add_argument("--list", action="store_true", help="only say which there are")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(found) or "there are none yet")
    asked = parser.parse_args(arguments)
    names: list[str] = asked.names
    if unknown := [name for name in names if name not in found]:
        parser.error(f"no benchmark {unknown[0]!r}; there are: {', '.join(found) or 'none yet'}")
    if asked.list or not found:
        print("\n".join(f"{name:<16} {job}" for name, job in found.items()) or "no benchmarks yet")
        return
    for name in names or found:
        print(f"== {name}", flush=True)
        importlib.import_module(f"bench.{name}").main()


if __name__ == "__main__":
    main()
