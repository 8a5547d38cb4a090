"""Finds the command lines that our documentation shows and that the program prints, and holds them to the parser."""

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from recollectum.doors.cli.main import PROGRAM, program
from tests.docs.pages import ROOT, blocks, markdown_files

_SPAN = re.compile(rf"`(?:\$ )?{PROGRAM}\s+(?P<line>[^`]+)`")
#: In a sentence a line ends with its code span, its clause or its sentence.
_SAID = re.compile(rf"(?<![\w./'\[-]){PROGRAM}\s+(?P<line>(?!import\b)[a-z-](?:[^`<\n;,().\"]|\.(?=\S))*)")
_SHOWN = re.compile(rf"^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\S+/)?{PROGRAM} +(?P<line>.+)$", re.MULTILINE)
_PIPES = frozenset({"|", ">", ">>", "<", "&&", "||", "&"})
_NUMBERS = frozenset({"N", "DAYS", "NUMBER"})
_SAMPLES = {"DATE": "2026-11-15", "COMMAND": "status"}
#: Names that only look like a command line, by the file they are in.
_NAMES = frozenset({("src/recollectum/home/credentials/keychain.py", "credentials ID")})


@dataclass(frozen=True, slots=True)
class Advice:
    """One line that somebody may type, without the program's name, and where it is said."""

    line: str
    place: str
    #: A line to be typed as it stands; otherwise the name of a command may be all that is said.
    whole: bool

    def words(self) -> list[str]:
        """The arguments, with samples in the places that the reader fills."""
        return [_sample(word) for word in _split(self.line)]


def documented() -> Iterator[Advice]:
    """What the pages show."""
    for path in markdown_files():
        if path.parent.name == "reference":
            # Made from the parser.
            continue
        text = path.read_text(encoding="utf-8")
        place = path.relative_to(ROOT).as_posix()
        for block in blocks(text):
            if block.info in ("", "sh", "bash", "console", "text"):
                yield from (Advice(found["line"], place, whole=True) for found in _SHOWN.finditer(block.code))
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        yield from (Advice(" ".join(found["line"].split()), place, whole=False) for found in _SPAN.finditer(prose))


def printed() -> Iterator[Advice]:
    """What the program says, in its texts and its templates."""
    for path in sorted((ROOT / "src").rglob("*")):
        place = path.relative_to(ROOT).as_posix()
        if path.suffix == ".py":
            for text in texts(path.read_text(encoding="utf-8")):
                yield from said(text, place)
        elif path.suffix in (".html", ".toml", ".txt"):
            yield from said(path.read_text(encoding="utf-8"), place)


def said(text: str, place: str) -> Iterator[Advice]:
    """The command lines in a sentence."""
    for found in _SAID.finditer(text):
        line = found["line"].strip()
        if (place, line) not in _NAMES:
            yield Advice(line, place, whole=False)


def texts(source: str) -> Iterator[str]:
    """Every text in a program; what is filled in when it runs stands there as a placeholder."""
    inside: set[ast.AST] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            inside.update(node.values)
            yield "".join(str(one.value) if isinstance(one, ast.Constant) else "ID" for one in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inside:
            yield node.value


def problem(advice: Advice) -> str | None:
    """What the real parser has against a line; None where it would take it."""
    found: TyperCommand | TyperGroup = program()
    words = advice.words()
    name = PROGRAM
    while isinstance(found, TyperGroup):
        words = _without_options(found, words)
        if not words:
            return None
        name, *words = words
        below = found.commands.get(name)
        if below is None:
            return f"there is no command {name!r}"
        assert isinstance(below, TyperCommand | TyperGroup)
        found = below
    try:
        found.make_context(name, words)
    except typer.Exit:
        return None
    except typer.TyperException as error:
        if not advice.whole and type(error).__name__ == "MissingParameter":
            return None
        return str(error)
    return None


def _without_options(group: TyperGroup, words: list[str]) -> list[str]:
    """The words from the name of the command on: options of the group may stand before it."""
    options = {name: one for one in group.params for name in one.opts if isinstance(one, TyperOption)}
    while words and words[0] in {"--help", *options}:
        flag = words[0] == "--help" or options[words[0]].is_flag
        words = words[1 if flag else 2 :]
    return words


def _split(line: str) -> list[str]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        words = line.split()
    for at, word in enumerate(words):
        if word in _PIPES or word.startswith(("2>", ">")):
            return words[:at]
    return [word for word in words if word not in ("...", "…")]


def _sample(word: str) -> str:
    if word in _NUMBERS or word.strip("[]") in _NUMBERS:
        return "3"
    return _SAMPLES.get(word, word)
