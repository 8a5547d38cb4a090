"""Prints every pattern that the package compiles when all of it is loaded, as JSON: file, line, pattern and flags."""

import functools
import importlib
import inspect
import json
import pkgutil
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import recollectum

SOURCE = Path(recollectum.__file__).parent
_COMPILE = "_compile"


def main() -> None:
    """Load everything while each call of the compiler is noted."""
    # The package itself has only compiled what its first line needs; its modules are loaded anew below.
    for name in [one for one in sys.modules if one.startswith("recollectum")]:
        del sys.modules[name]
    found: dict[tuple[str, int, str, int], None] = {}
    inner = getattr(re, _COMPILE)

    @functools.wraps(inner)
    def noting(pattern: object, flags: int) -> object:
        made = inner(pattern, flags)
        frame = inspect.currentframe()
        while frame is not None and frame.f_code.co_filename in (re.__file__, __file__):
            frame = frame.f_back
        path = Path(frame.f_code.co_filename) if frame else Path()
        if frame and isinstance(made.pattern, str) and path.is_relative_to(SOURCE):
            found[str(path.relative_to(SOURCE)), frame.f_lineno, made.pattern, made.flags] = None
        return made

    setattr(re, _COMPILE, noting)
    for info in pkgutil.walk_packages([str(SOURCE)], "recollectum."):
        if not info.name.endswith("__main__"):
            _make_all(importlib.import_module(info.name))
    print(json.dumps(list(found)))


def _make_all(module: ModuleType) -> None:
    """Call what makes patterns when they are first needed."""
    made: list[Any] = list(vars(module).values())
    for one in made:
        if isinstance(one, tuple | list):
            for kind in cast("list[object]", one):
                # Some are compiled when they are first asked for.
                getattr(kind, "pattern", None)
        elif hasattr(one, "cache_info") and one.__module__ == module.__name__:
            signature = inspect.signature(one)
            reads_text = module.__name__.startswith(("recollectum.text.", "recollectum.distil."))
            if not signature.parameters and (reads_text or "Pattern" in str(signature.return_annotation)):
                one()


if __name__ == "__main__":
    main()
