"""Docstrings, comments, messages and pages are plain sentences, without the phrases we dropped."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

import pytest

from tests.docs.pages import blocks, markdown_files
from tests.shape.source import ROOT, Module, modules, named

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
#: The same for texts that users read, where more phrases have a plain word of the field, such as quarantine or restore.
SHOWN = re.compile(
    DROPPED.pattern
    + r"|\b(?:what would go|stands? (?:in|among|below|beside|behind|under|here|there)|(?:set|put) aside|held back"
    r"|look(?:s|ed|ing)? after|anew|nobody says|for want of|came of|shall|(?:there|followed|served|listed) no more"
    r"|(?:is|are|was|were) told|of (?:your|our) own(?! \w))\b",
    re.IGNORECASE,
)
#: The same for pages, which are read by people who look for a word that they know.
ON_PAGES = re.compile(
    SHOWN.pattern
    + r"|\b(?:(?:go|goes|went) on(?! \w+ing)|of no use|bears? on|(?:Left out|Counted|Wanted) (?:is|are)|need not"
    r"|no part of|pass(?:es)? (?:it|them) by|however (?:long|large|well|many|old|much)|tells? so|(?:is|are) not felt"
    r"|in force|all the same|lest|thereof|therein|hitherto|the face of)\b",
    re.IGNORECASE,
)
#: Pages that are no prose of ours for a reader of today: what changed once, prompts whose wording was measured, and
#: what is made from docstrings and settings, which are searched themselves.
_OTHER_PAGES = ("CHANGELOG.md", "src/", "packages/", "tests/", "docs/reference/")
#: Modules whose texts are the vocabulary that they look for in what people write.
_VOCABULARIES = ("src/recollectum/distil/", "src/recollectum/text/")
_TEMPLATES = "src/recollectum/doors/console/templates"
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
    if not any("#" in line and DROPPED.search(line) for line in module.text.splitlines()):
        return
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.COMMENT:
            yield from (f"line {token.start[0]}: {found[0]}" for found in DROPPED.finditer(token.string))


def shown_phrases(module: Module) -> Iterator[str]:
    """The phrases in the strings of a module, which become messages, help texts and descriptions, with their lines."""
    tree = module.tree
    owners = (tree, *(node for _, node in named(tree)))
    docstrings = {id(node.body[0].value) for node in owners if node.body and isinstance(node.body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield from (f"line {node.lineno}: {found[0]}" for found in SHOWN.finditer(" ".join(node.value.split())))


def phrases_of_page(text: str) -> Iterator[str]:
    """The phrases in the prose of a page, whose code blocks are left out."""
    for block in blocks(text):
        text = text.replace(block.code, "")
    yield from (found[0] for found in ON_PAGES.finditer(" ".join(text.split())))


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


def test_messages_and_descriptions_use_none_of_the_phrases_we_dropped() -> None:
    searched = (one for one in modules("src") if not one.path.startswith(_VOCABULARIES))
    found = [f"{one.path} {place}" for one in searched for place in shown_phrases(one)]
    assert not found, "say these in plain words: " + ", ".join(found)


def test_pages_and_templates_use_none_of_the_phrases_we_dropped() -> None:
    pages = [one for one in markdown_files() if not one.relative_to(ROOT).as_posix().startswith(_OTHER_PAGES)]
    templates = sorted((ROOT / _TEMPLATES).glob("*.html"))
    assert len(pages) > len(templates) > 1
    found = [
        f"{one.relative_to(ROOT)}: {phrase}"
        for one in (*pages, *templates)
        for phrase in phrases_of_page(one.read_text(encoding="utf-8"))
    ]
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


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('raise NotFound(f"{name} is there no more")', ["line 1: there no more"]),
        ('help="All that is\\nset aside."', ["line 1: set aside"]),
        ('"""Return whoever asked."""', []),
        ('text = "the settings of its own section"', []),
    ],
)
def test_a_phrase_is_found_in_a_string_and_not_in_a_docstring(source: str, found: list[str]) -> None:
    assert list(shown_phrases(Module("one.py", f"{source}\n"))) == found


def test_a_phrase_of_a_page_is_found_over_two_lines_and_not_in_code() -> None:
    page = "It stands\nin the vault.\n\n```sh\nrecollectum remember 'Shall we?'\n```\n"
    assert list(phrases_of_page(page)) == ["stands in"]
    assert list(phrases_of_page("Left out is the index,\nand the program goes on.")) == ["Left out is", "goes on"]


def test_a_dropped_phrase_is_found_in_a_comment_and_not_in_a_text() -> None:
    module = Module("one.py", 'one = "whoever"  # a text\ntwo = 2  # for whoever asks\n')
    assert list(dropped_phrases(module)) == ["line 2: whoever"]
