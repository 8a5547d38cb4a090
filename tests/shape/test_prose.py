"""Docstrings and comments are plain sentences: a verb first, a whole first line, and none of the phrases we dropped."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

import pytest

from tests.shape.source import Module, modules, named

#: Words with which a noun phrase or a clause begins, so that the docstring says what is returned but not what is done.
NOT_A_VERB = re.compile(
    r"(?:An?|All|As|Both|By|Each|Every|Everything|False|For|From|How|In|Its|No|Nobody|None|Nothing|Of|One|Our|Some|So|Such"
    r"|That|The|Their|These|This|Those|True|What|When|Where|Whether|Which|Who|Whose|Why)\b"
)
#: Inversions and riddles: each has a plain word that a newcomer searches for.
DROPPED = re.compile(
    r"\b(?:what stands|whoever|(?:is|are|was|were) believed|by right|as above|fallen silent|the ground"
    r"|of (?:its|their|his|one's) own(?! \w))\b",
    re.IGNORECASE,
)
_WHOLE = (".", "?", "!", ":")


def functions_without_a_verb(module: Module) -> Iterator[str]:
    """The functions whose docstring begins with a word that is no verb; a property may be described by a noun."""
    for name, node in named(module.tree):
        if isinstance(node, ast.ClassDef) or _is_property(node):
            continue
        if NOT_A_VERB.match(ast.get_docstring(node) or ""):
            yield name


def broken_first_lines(module: Module) -> Iterator[str]:
    """The names whose docstring does not end its first sentence on the first line, which the reference shows alone."""
    for name, node in named(module.tree):
        first = (ast.get_docstring(node) or ".").partition("\n")[0]
        if not first.endswith(_WHOLE):
            yield name


def dropped_phrases(module: Module) -> Iterator[str]:
    """The phrases in docstrings and comments that we no longer use, with their places."""
    tree = module.tree
    for name, node in (("module", tree), *named(tree)):
        for found in DROPPED.finditer(" ".join((ast.get_docstring(node) or "").split())):
            yield f"{name}: {found[0]}"
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.COMMENT:
            yield from (f"line {token.start[0]}: {found[0]}" for found in DROPPED.finditer(token.string))


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    marks = {ast.unparse(mark).rpartition(".")[2] for mark in node.decorator_list}
    return bool(marks & {"property", "cached_property"})


def test_a_function_says_first_what_it_does() -> None:
    found = [f"{one.path} {name}" for one in modules("src") for name in functions_without_a_verb(one)]
    assert not found, "begin these docstrings with a verb, such as Return: " + ", ".join(found)


def test_the_first_line_of_a_docstring_is_a_whole_sentence() -> None:
    found = [f"{one.path} {name}" for one in modules("src") for name in broken_first_lines(one)]
    assert not found, "shorten the first sentence of these to one line: " + ", ".join(found)


def test_docstrings_and_comments_use_none_of_the_phrases_we_dropped() -> None:
    found = [f"{one.path} {place}" for one in modules("src", "bench", "tools") for place in dropped_phrases(one)]
    assert not found, "say these in plain words: " + ", ".join(found)


@pytest.mark.parametrize(
    ("docstring", "verbless", "broken", "dropped"),
    [
        ('"""Return the oldest row."""', False, False, False),
        ('"""The oldest row."""', True, False, False),
        ('"""Return the oldest row of a\n    table."""', False, True, False),
        ('"""Return whoever asked."""', False, False, True),
        ('"""Return a lock of\n    its own."""', False, True, True),
        ('"""Return the words of its own heading."""', False, False, False),
    ],
)
def test_each_of_these_faults_is_found(docstring: str, *, verbless: bool, broken: bool, dropped: bool) -> None:
    module = Module("one.py", f"def one():\n    {docstring}\n")
    found = (functions_without_a_verb(module), broken_first_lines(module), dropped_phrases(module))
    assert tuple(any(each) for each in found) == (verbless, broken, dropped)
