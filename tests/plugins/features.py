"""Ties tests to features: `pytest --features` prints docs/features.md with the tests that prove each row."""

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "features.md"
NO_PROOF = "— no proof yet"
#: The words by which a test module outside of the doors shows that it uses the Python interface.
_PYTHON_DOOR = re.compile(r"\b(Recollectum|AsyncRecollectum|Vault|open_home|home_with)\b")
_ROW = re.compile(r"^\| (?P<id>[A-Z]\d+) \| (?P<does>.+) \| (?P<state>[^|]+) \|$", re.MULTILINE)

#: What one step of collection makes: nothing, one node, or several.
Made = None | pytest.Item | pytest.Collector | list[pytest.Item | pytest.Collector]


@dataclass(frozen=True, slots=True)
class Feature:
    """One row of the table."""

    id: str
    does: str
    state: str


def read_features(page: str) -> list[Feature]:
    """The rows of the tables on the features page, in order."""
    return [Feature(row["id"], row["does"].strip(), row["state"].strip()) for row in _ROW.finditer(page)]


def listing(features: Iterable[Feature], proofs: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The table as lines of text, each feature followed by its proofs."""
    for feature in features:
        yield f"{feature.id:<4} [{feature.state}] {feature.does}"
        for proof in proofs.get(feature.id) or [NO_PROOF]:
            yield f"       {proof}"


def summary(features: Sequence[Feature], proofs: Mapping[str, Sequence[str]], root: Path) -> Iterator[str]:
    """How many features are proven, how many of them at a door, and which are not."""
    doors = [one.id for one in features if any(is_at_door(proof, root) for proof in proofs.get(one.id, ()))]
    proven = [one.id for one in features if proofs.get(one.id)]
    yield (
        f"{len(proven)} of {len(features)} features are proven, {len(doors)} of them at a door: "
        "the command line, HTTP, MCP, the console or the Python interface"
    )
    missing = [one.id for one in features if one.id not in doors]
    if missing:
        yield f"not at a door: {', '.join(missing)}"


def is_at_door(proof: str, root: Path) -> bool:
    """Whether a test goes through a way in that people and programs use."""
    path = proof.partition("::")[0]
    if path.startswith(("tests/doors/", "tests/adapters/")):
        return True
    return _PYTHON_DOOR.search((root / path).read_text(encoding="utf-8")) is not None


@cache
def _page() -> tuple[Feature, ...]:
    return tuple(read_features(PAGE.read_text(encoding="utf-8")))


def _claims(item: pytest.Item) -> list[str]:
    """The ids that a test says it proves."""
    return [str(id_) for marker in item.iter_markers("feature") for id_ in marker.args]


def _proofs(items: Iterable[pytest.Item]) -> dict[str, list[str]]:
    """Which tests prove each feature; the cases of one test count once."""
    proofs: dict[str, list[str]] = {}
    for item in items:
        test = item.nodeid.partition("[")[0]
        for id_ in _claims(item):
            tests = proofs.setdefault(id_, [])
            if test not in tests:
                tests.append(test)
    return proofs


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--features", action="store_true", help="print every feature with the tests that prove it")


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: pytest.Collector) -> Generator[None, Made, Made]:
    """Refuse a test that claims to prove what is not on the page."""
    made = yield
    listed = {feature.id for feature in _page()}
    nodes = made if isinstance(made, list) else [made]
    for item in (node for node in nodes if isinstance(node, pytest.Item)):
        for id_ in _claims(item):
            if id_ not in listed:
                raise collector.CollectError(
                    f"{item.name} is marked feature({id_!r}), which docs/features.md does not list; "
                    "add the row there or correct the id"
                )
    return made


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Print the table instead of running, unless collection failed and must be heard first."""
    if not session.config.getoption("features") or session.testsfailed:
        return None
    reporter = cast("pytest.TerminalReporter", session.config.pluginmanager.getplugin("terminalreporter"))
    proofs = _proofs(session.items)
    for line in (*listing(_page(), proofs), *summary(_page(), proofs, session.config.rootpath)):
        reporter.write_line(line)
    return True
