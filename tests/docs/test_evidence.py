"""Every claim of the evidence page has a figure, a date and a command, and agrees with the page it links to."""

import re
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

import pytest

from bench.__main__ import FOLDER, benchmarks
from bench.peers_list import NOT_RUN, PEERS
from tests.docs.pages import ROOT, links

PAGE = ROOT / "docs" / "evidence.md"
HEAD = ("claim", "figure", "measured", "command")
#: Tables that a command prints as a whole; the paragraph above them has the date and the command.
_PRINTED = "system"
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")
_MEASURED = re.compile(r"(?P<day>\d{1,2} \w+ \d{4})(?:, (?P<commit>[0-9a-f]{8}))?")
_FIRST = datetime(2026, 11, 1, tzinfo=UTC)


class Claim(NamedTuple):
    """One row: a claim with its figure, its date and its command."""

    claim: str
    figure: str
    measured: str
    command: str


def tables(text: str) -> Iterator[list[list[str]]]:
    """Yield each table of a page as rows of cells, without the line below the heading."""
    for found in re.finditer(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in found[0].splitlines()]
        yield [rows[0], *rows[2:]]


def claims(text: str) -> list[Claim]:
    """Return the rows of all tables of claims."""
    return [Claim(*row) for table in tables(text) if tuple(table[0]) == HEAD for row in table[1:]]


def faults(row: Claim) -> Iterator[str]:
    """Yield what is wrong with a row."""
    if not _NUMBER.search(row.figure) and row.figure != "every test":
        yield "has no figure"
    measured = _MEASURED.fullmatch(row.measured)
    if not measured or not _FIRST <= _day(measured["day"]) <= datetime.now(UTC):
        yield "has no date between 1 November 2026 and today"
    if not command_exists(row.command):
        yield f"names a command that does not exist: {row.command}"
    pages = [link for link in links(row.claim) if "://" not in link]
    if measured and measured["commit"] and not pages:
        yield "is older than the page, and links to no page that has the figure"
    known = " ".join((PAGE.parent / link.partition("#")[0]).read_text("utf-8") for link in pages)
    if pages and (other := [one for one in _NUMBER.findall(row.figure) if one not in known]):
        yield f"has figures that the linked page has not: {', '.join(other)}"


def command_exists(cell: str) -> bool:
    """Return whether the cell is one command in code quotes that can be run in the repository."""
    match shlex.split(cell.strip("`")) if cell.startswith("`") and cell.endswith("`") else []:
        case ["python", "-m", "bench", name, *_]:
            return name in benchmarks(FOLDER)
        case ["make", target]:
            return bool(re.search(rf"^{re.escape(target)}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
        case ["pytest", place]:
            path, _, name = place.partition("::")
            return (ROOT / path).exists() and f"def {name}" in (ROOT / path).read_text("utf-8")
        case _:
            return False


def _day(text: str) -> datetime:
    return datetime.strptime(text, "%d %B %Y").replace(tzinfo=UTC)


@pytest.mark.slow
def test_every_claim_has_a_figure_a_date_and_a_command() -> None:
    found = claims(PAGE.read_text("utf-8"))
    assert len(found) > 20
    wrong = [f"{row.claim}: {fault}" for row in found for fault in faults(row)]
    assert not wrong, "\n".join(wrong)


def test_every_other_table_is_printed_by_a_command_with_a_date() -> None:
    text = PAGE.read_text("utf-8")
    assert {table[0][0] for table in tables(text)} == {HEAD[0], _PRINTED}
    above = text.partition("## Peers")[2].partition("|")[0]
    assert _MEASURED.search(above)
    assert all(command_exists(f"`{one}`") for one in re.findall(r"`(python [^`]+)`", above))
    assert "python -m bench peers" in above


def test_the_table_of_peers_has_every_system_that_the_command_runs() -> None:
    text = PAGE.read_text("utf-8")
    for table in tables(text):
        if table[0][0] == _PRINTED:
            named = " ".join(row[0] for row in table)
            assert all(peer.title in named for peer in PEERS)
    assert all(part in text for name in NOT_RUN for part in name.split(", "))


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"figure": "much better"}, "has no figure"),
        ({"measured": "lately"}, "has no date between 1 November 2026 and today"),
        ({"measured": "1 May 2031"}, "has no date between 1 November 2026 and today"),
        ({"measured": "16 November 2026, f3310cc2"}, "links to no page"),
        ({"command": "`python -m bench nobody`"}, "does not exist"),
        ({"command": "`make nothing`"}, "does not exist"),
        ({"command": "python -m bench write"}, "does not exist"),
        ({"command": "`pytest tests/docs/test_features.py::test_nobody`"}, "does not exist"),
        ({"claim": "see [there](guides/benchmarks.md)", "figure": "7.777 ms"}, "has not: 7.777"),
    ],
)
def test_each_fault_is_found(changed: dict[str, str], fault: str) -> None:
    right = Claim("quick", "1 ms", "16 November 2026", "`python -m bench write`")
    assert not list(faults(right))
    assert [one for one in faults(right._replace(**changed)) if fault in one]
