"""Texts that a backtracking pattern chokes on, made from the pattern: what it begins to match and never ends."""

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

# The parser of patterns has no public name.
sre: Any = import_module("re._constants")
parser: Any = import_module("re._parser")
_ALWAYS = ("a", "A", "1", " ", "\n", "\r", ".", "@", "-", "'", "\\", "[")
_CATEGORY = {
    "CATEGORY_SPACE": " ",
    "CATEGORY_DIGIT": "1",
    "CATEGORY_WORD": "a",
    "CATEGORY_NOT_SPACE": "a",
    "CATEGORY_NOT_DIGIT": "a",
    "CATEGORY_NOT_WORD": "-",
}
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
_MOST_LETTERS = 6
_MOST_TIMES = 30
Tree = Any


def hostile_texts(pattern: re.Pattern[str], size: int) -> Iterator[str]:
    """Texts of about one size: letters of the pattern, pairs of them, and beginnings of what it matches, repeated."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    known = sorted({letter for letter in _letters(tree) if letter.isprintable() or letter.isspace()})
    own = known[:: max(1, len(known) // _MOST_LETTERS)][:_MOST_LETTERS]
    letters = list(dict.fromkeys([*own, *_ALWAYS]))
    matched = list(dict.fromkeys(_sample(tree, times, branch) for branch in range(2) for times in (0, 2)))
    begun = {text[: len(text) * part // 4] for text in matched for part in (1, 2, 3, 4)} | {m[:-1] for m in matched}
    units = {*letters, *(a + b for a in own for b in own), *begun} - {""}
    for unit in sorted(units):
        yield (unit * (size // len(unit) + 1))[:size]
    for letter in letters:
        # What fits as far as it goes, and then does not.
        yield letter * size + "\x01"
    for start in sorted({text[:-1] for text in matched}):
        for letter in (*own, *_ALWAYS[:5]):
            yield start + letter * size


def _sample(tree: Tree, times: int, branch: int) -> str:
    """One text that the pattern matches, or nearly."""
    return "".join(_sampled(kind, value, times, branch) for kind, value in tree)


def _sampled(kind: object, value: Any, times: int, branch: int) -> str:  # noqa: ANN401 - a node of the parser
    if kind is sre.LITERAL:
        return chr(value)
    if kind is sre.IN:
        return _one_of(value)
    if kind is sre.BRANCH:
        return _sample(value[1][branch % len(value[1])], times, branch)
    if kind in (sre.SUBPATTERN, sre.ATOMIC_GROUP):
        return _sample(value[-1] if kind is sre.SUBPATTERN else value, times, branch)
    if kind in _REPEATS:
        count = min(max(value[0], min(times, value[1])), _MOST_TIMES)
        return _sample(value[2], times, branch) * count
    return "a" if kind in (sre.NOT_LITERAL, sre.ANY) else ""


def _letters(tree: Tree) -> Iterator[str]:
    for kind, value in tree:
        if kind is sre.LITERAL:
            yield chr(value)
        elif kind is sre.IN:
            yield _one_of(value)
            yield from _members(value)
        elif kind is sre.BRANCH:
            for one in value[1]:
                yield from _letters(one)
        elif kind is sre.ATOMIC_GROUP:
            yield from _letters(value)
        elif kind in (*_REPEATS, sre.SUBPATTERN, sre.ASSERT, sre.ASSERT_NOT):
            yield from _letters(value[-1])


def _members(items: Sequence[Any]) -> Iterator[str]:
    for kind, value in items:
        if kind is sre.LITERAL:
            yield chr(value)
        elif kind is sre.RANGE:
            yield from (chr(value[0]), chr(value[1]))
        elif kind is sre.CATEGORY:
            yield _CATEGORY[str(value)]


def _one_of(items: Sequence[Any]) -> str:
    """A letter that a class of letters has."""
    if items[0][0] is not sre.NEGATE:
        return next(_members(items))
    pattern = re.compile("[^" + "".join(map(_written, items[1:])) + "]")
    return next((letter for letter in "a1 -.,:;!?xX\n\"'@é" if pattern.match(letter)), "a")


def _written(item: Any) -> str:  # noqa: ANN401 - a node of the parser
    kind, value = item
    if kind is sre.LITERAL:
        return re.escape(chr(value))
    if kind is sre.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    name = str(value)
    short = {"SPACE": "s", "DIGIT": "d", "WORD": "w"}[name.rpartition("_")[2]]
    return "\\" + (short.upper() if "_NOT_" in name else short)
