"""No pattern of ours takes more than linear time, whatever text it is given.

A pattern runs in one call that lets no other thread work, so one that grows with the square of a text stops everybody.
Every pattern of the source is made here as the program makes it and run against texts that are made from it. Time is
compared with that of a simple pattern in the same run, and with that of a text a quarter as long.
"""

import ast
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from tests.shape.source import ROOT, modules
from tests.text.hostile_texts import hostile_texts

pytestmark = [pytest.mark.process, pytest.mark.slow]

_SIZE = 4_096
#: Times as long as a simple pattern on as long a text; what is quicker than that does not grow with the square.
_SUSPECT = 40
#: Four times the text takes four times as long, and sixteen times where it grows with the square.
_SQUARE = 9.0
#: What a pattern on a text of bounded length may take at the most, in the same measure.
_BOUNDED = 1_000
_ANCHORED = frozenset({"match", "fullmatch"})
_SOURCE = "src/recollectum/"
#: Patterns that are made from values when they are needed, or stand in a function, with what bounds their texts.
MADE_LATER = {
    "context/fences.py re.escape(mark)": "a literal",
    "distil/rules/corrections.py f'(?<!": "a literal",
    "doors/console/rendering.py": "literal words of a search",
    "doors/http/body_shape.py b": "bytes; a string that does not end ends the look",
    "home/extensions/manifest_form.py self.pattern": "patterns of our own form, for texts of at most 2,000 characters",
    "models/language/json_schema.py wanted": "a pattern of our own schemas",
    "text/contacts/statements.py": "sentences of texts of at most 2,000 characters",
    "text/ignore.py": "globs; tests/text/test_ignore.py has the hostile ones",
    "text/secrets/disguises.py f'(?P<head>": "at most 400 characters on each side of a literal",
    "text/secrets/told.py '[0-9]{4,8}'": "a value that was found",
    "text/secrets/values.py '[0-9]{4,20}'": "a value that was found",
    "text/tokens.py": "the name of a model",
    "vault/learnings/document.py": "the marks of a block",
}
#: Patterns in lists, which are only run at one place of a text.
AT_BEGIN = (
    "distil/rules/statements.py",
    "models/language/rule_model.py",
    "text/contacts/grammar.py",
    "text/time/patterns.py",
)
#: Patterns for texts that are cut before, and the length they are cut to.
CUT_TO = {
    "distil/model/choices.py": 400,
    "distil/rules/statements.py": 300,
    "distil/rules/corrections.py": 500,
    "distil/summary.py": 2_000,
    "doors/cli/terminal/times.py": 200,
    "doors/http/problems.py": 2_000,
    "policy/rules/policy_file.py": 1_000,
    "text/contacts/addresses.py": 2_000,
    "text/contacts/hints.py": 2_000,
    "text/contacts/grammar.py": 2_000,
    "text/contacts/statements.py": 2_000,
    "text/time/event_references.py": 2_000,
}


@cache
def collected() -> list[tuple[str, int, str, int]]:
    program = [sys.executable, "-m", "tests.text.pattern_collecting_program"]
    done = subprocess.run(program, capture_output=True, text=True, check=True, cwd=ROOT, timeout=120)
    return [(file, line, pattern, flags) for file, line, pattern, flags in json.loads(done.stdout)]


def written() -> Iterator[tuple[str, range, str]]:
    """Where the source makes a pattern: the file, the lines of the call, and the pattern as it is written."""
    for module in modules("src/recollectum"):
        for node in module.nodes:
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name)) if name != "escape":
                    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                    yield module.path.removeprefix(_SOURCE), lines, ast.unparse(node.args[0])
                case _:
                    pass


def test_every_pattern_of_the_source_is_looked_at() -> None:
    made = {(file, line) for file, line, _, _ in collected()}
    missing = [
        f"{file} {pattern}" for file, lines, pattern in written() if not any((file, line) in made for line in lines)
    ]
    assert not [one for one in missing if not one.startswith(tuple(MADE_LATER))]
    assert not [one for one in MADE_LATER if not any(found.startswith(one) for found in missing)]


def methods(file: str, line: int) -> set[str]:
    """By which methods a pattern is run that is a constant of its module, or that a function of it makes late.

    Empty where that cannot be seen.
    """
    tree = ast.parse((ROOT / _SOURCE / file).read_text(encoding="utf-8"))
    names = {name for node in tree.body for name in _named(node) if _holds(node, line)}
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _name_of(node.value) in names}


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _named(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [node.name] if any(_name_of(one) == "cache" for one in node.decorator_list) else []
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _name_of(node: ast.expr) -> str | None:
    called = node.func if isinstance(node, ast.Call) else node
    return called.id if isinstance(called, ast.Name) else None


def _cost(run: Callable[[str], object], text: str, rounds: int = 1) -> float:
    found: list[float] = []
    for _ in range(rounds):
        began = time.thread_time()
        run(text)
        found.append(time.thread_time() - began)
    return min(found)


def _all_of(pattern: re.Pattern[str]) -> Callable[[str], object]:
    return lambda text: sum(1 for _ in pattern.finditer(text))


def _grows_too_fast(pattern: re.Pattern[str], runs: list[Callable[[str], object]], cut: int | None) -> str | None:
    """A text on which a pattern takes too long; None where there is none."""
    simple = _cost(_all_of(re.compile("[bc]d")), "b" * _SIZE, 5)
    # From short to long: what doubles with each letter would never come back from a long one.
    for size in (24, 250, min(cut or _SIZE, _SIZE)):
        for text in hostile_texts(pattern, size):
            for run in runs:
                if _cost(run, text) < _SUSPECT * simple:
                    continue
                # It may have been the machine: once more, and then beside a quarter of the text.
                whole = _cost(run, text, 3)
                quarter = _cost(run, text[: len(text) // 4], 3)
                if whole > _BOUNDED * simple or (whole > max(_SUSPECT * simple, _SQUARE * quarter) and cut is None):
                    return text
    return None


def test_no_pattern_grows_faster_than_its_text() -> None:
    slow: list[str] = []
    for file, line, written_as, flags in collected():
        pattern = re.compile(written_as, flags & ~re.DEBUG)
        anchored = methods(file, line)
        at_begin: list[Callable[[str], object]] = [pattern.match, pattern.fullmatch]
        begins = anchored <= _ANCHORED if anchored else file in AT_BEGIN
        runs = at_begin if begins else [_all_of(pattern)]
        if (text := _grows_too_fast(pattern, runs, CUT_TO.get(file))) is not None:
            slow.append(f"{file}:{line} {text[:40]!r} {written_as[:60]}")
    assert not slow


@pytest.mark.parametrize("pattern", [r"\w*\d\w*", r"\S+@\S+", r"\s+$", r"(a+)+b", r"^[ ]*\[[^\]]*; by [^\]]*; trust"])
def test_a_pattern_that_grows_too_fast_is_found(pattern: str) -> None:
    compiled = re.compile(pattern, re.MULTILINE)
    assert _grows_too_fast(compiled, [_all_of(compiled)], None) is not None
