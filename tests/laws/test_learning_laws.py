"""Laws of LEARNINGS.md: nothing that anyone wrote is lost, two syncs are as good as one, and a file is its pieces."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import count
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollectum import Recollectum
from recollectum.domain.learning import CATEGORIES
from recollectum.domain.memory import Kind
from recollectum.vault.learnings.document import (
    DocumentChanges,
    LearningEntry,
    MalformedLearnings,
    PlacedPart,
    apply_changes,
    document_text,
    join_parts,
    parse_learnings,
    strip_line_ends,
    to_entry,
)
from recollectum.vault.learnings.merge import is_same_learning
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home, quick_folder

pytestmark = pytest.mark.slow

_AGENTS = count()
_DAY = date(2026, 11, 15)
_VOCABULARY = """
use tabs spaces never not always 2 4 tea in python files the old project
"""
_WORDS = st.sampled_from(_VOCABULARY.split())
_SENTENCES = st.lists(_WORDS, min_size=1, max_size=8).map(" ".join)
_ODD = st.text(st.sampled_from("ab- #`~[]<>!*\n\t\r\x0b\u2028é"), min_size=1, max_size=20).filter(
    lambda one: strip_line_ends(one)
)
_TEXTS = _SENTENCES | _ODD | st.builds("{}\n\n  {}".format, _SENTENCES, _SENTENCES)
_KINDS = st.sampled_from(list(CATEGORIES))
_NUMBERS = st.integers(0, 20)
_LINES = st.sampled_from(
    [
        "## Preferences",
        "## Corrections ##",
        "## My own",
        "# Title",
        "### Deeper",
        "- [2026-01-02] one",
        "- two",
        "* [2026-01-02]",
        "  indented",
        "\ttabbed",
        "",
        "   ",
        "<!-- a remark -->",
        "<!-- open",
        "close -->",
        "```",
        "text",
        "- [2026-99-99] never",
        "\ufeff## Patterns",
    ]
)
_FILES = st.lists(_LINES, max_size=12).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n"]).map(lambda end: end.join(lines))
)


@dataclass(slots=True)
class Pair:
    """One agent's learnings and file, and all that anyone wrote into either."""

    vault: Vault
    agent: str
    written: set[str] = field(default_factory=set[str])
    remarks: list[str] = field(default_factory=list[str])

    @property
    def path(self) -> Path:
        return self.vault.learnings.file(self.agent)

    def sync(self) -> bool:
        if self.path.exists():
            self.written |= {entry.text for entry in self.entries()}
        report = self.vault.learnings.sync(self.agent)
        assert report.problem is None
        return report.any()

    def pieces(self) -> list[LearningEntry | object]:
        return list(parse_learnings(self.path.read_bytes().decode()))

    def entries(self) -> list[LearningEntry]:
        return [one for one in self.pieces() if isinstance(one, LearningEntry)]

    def kept(self) -> set[str]:
        """Every text that can still be had: served, in the history, or in the trash."""
        found: set[str] = set()
        for state in ("active", "soft_deleted"):
            for memory in self.vault.memories.list(state=state, limit=1000):
                if memory.agent == self.agent:
                    found.add(strip_line_ends(memory.content))
                    live = state == "active" or self.vault.memories.move(memory.id, "active")
                    assert live
                    versions = self.vault.memories.history(memory.id).versions
                    found |= {strip_line_ends(version.content) for version in versions}
        return found


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that somebody does to a learning, or to a file."""

    what: str
    number: int
    kind: Kind
    text: str

    def on(self, pair: Pair) -> None:
        served = pair.vault.learnings.list(agent=pair.agent, limit=1000)
        chosen = served[self.number % len(served)] if served else None
        match self.what:
            case "add":
                pair.vault.learnings.save(self.text, self.kind, agent=pair.agent)
                pair.written.add(strip_line_ends(self.text))
            case "edit" if chosen:
                pair.vault.memories.edit(chosen.id, self.text, kind=self.kind)
                pair.written.add(strip_line_ends(self.text))
            case "forget" if chosen:
                pair.vault.learnings.forget(chosen.id)
            case "sync":
                pair.sync()
            case _ if pair.path.exists():
                self._by_hand(pair)
            case _:
                pass

    def _by_hand(self, pair: Pair) -> None:
        pieces = parse_learnings(pair.path.read_bytes().decode())
        places = [place for place, one in enumerate(pieces) if isinstance(one, LearningEntry)]
        place = places[self.number % len(places)] if places else None
        line = to_entry(self.kind, _DAY, self.text)
        if self.what == "remark":
            pair.remarks.append(f"remark {len(pair.remarks)} {self.number}")
            at = self.number % (len(pieces) + 1)
            raws = [one.raw for one in pieces]
            text = "".join([*raws[:at], pair.remarks[-1] + "\n", *raws[at:]])
        elif self.what == "write":
            changed = apply_changes(pieces, DocumentChanges({}, new=[("", PlacedPart(line))]))
            text = document_text(changed)
        elif place is not None:
            found = pieces[place]
            assert isinstance(found, LearningEntry)
            raw = "" if self.what == "cut" else to_entry(found.category or self.kind, _DAY, self.text).raw
            text = "".join([*(one.raw for one in pieces[:place]), raw, *(one.raw for one in pieces[place + 1 :])])
        else:
            return
        pair.path.write_bytes(text.encode())


_ACTS = st.builds(
    Act,
    what=st.sampled_from(["add", "add", "edit", "forget", "sync", "sync", "write", "rewrite", "cut", "remark"]),
    number=_NUMBERS,
    kind=_KINDS,
    text=_TEXTS,
)


@pytest.fixture(scope="module")
def home() -> Iterator[Recollectum]:
    with quick_folder() as folder, open_home(folder, Turning()) as opened:
        yield opened


@pytest.mark.feature("G14")
@settings(max_examples=150, deadline=None)
@given(acts=st.lists(_ACTS, max_size=14))
def test_nothing_that_anyone_wrote_is_lost_and_syncs_converge(home: Recollectum, acts: list[Act]) -> None:
    pair = Pair(home.vault("user:alice"), f"agent{next(_AGENTS)}")
    pair.sync()
    for act in acts:
        act.on(pair)
    pair.sync()
    before = pair.path.read_bytes()
    assert not pair.sync(), "a second sync changes something"
    assert pair.path.read_bytes() == before

    served = pair.vault.learnings.list(agent=pair.agent, limit=1000)
    shown = sorted((one.category or "", one.day or _DAY, one.text) for one in pair.entries())
    assert shown == sorted((one.category, one.day, strip_line_ends(one.text)) for one in served)
    text = before.decode()
    assert all(remark in text for remark in pair.remarks)
    kept = pair.kept()
    lost = {one for one in pair.written - kept if not any(is_same_learning(one, other) for other in kept)}
    assert not lost


@pytest.mark.feature("G14")
@given(text=_FILES | st.text())
def test_a_file_is_its_pieces(text: str) -> None:
    try:
        pieces = parse_learnings(text)
    except MalformedLearnings as error:
        line = error.line
    else:
        line = 1
        assert join_parts(pieces) == text
        assert parse_learnings(join_parts(pieces)) == pieces
    assert 1 <= line <= text.count("\n") + 1


@given(kind=_KINDS, content=_TEXTS | st.text().filter(lambda one: "\0" not in one and strip_line_ends(one)))
def test_what_is_written_is_read_back(kind: Kind, content: str) -> None:
    written = to_entry(kind, _DAY, content)
    laid = apply_changes(parse_learnings("# Learnings\n"), DocumentChanges({}, new=[("", PlacedPart(written))]))
    (entry,) = [one for one in parse_learnings(document_text(laid)) if isinstance(one, LearningEntry)]
    assert (entry.category, entry.day, entry.text) == (kind, _DAY, strip_line_ends(content))
    assert strip_line_ends(strip_line_ends(content)) == strip_line_ends(content)


@example(file="## Preferences\n\n  indented", kinds=[Kind.PREFERENCE], dropped=set())
@given(file=_FILES, kinds=st.lists(_KINDS, max_size=4), dropped=st.sets(st.integers(0, 5)))
def test_a_change_of_one_line_changes_no_other(file: str, kinds: list[Kind], dropped: set[int]) -> None:
    try:
        pieces = parse_learnings(file)
    except MalformedLearnings:
        return
    entries = [one for one in pieces if isinstance(one, LearningEntry)]
    gone = {place for place in dropped if place < len(entries) and entries[place].category}
    new = [("", PlacedPart(to_entry(kind, _DAY, f"new {number}"))) for number, kind in enumerate(kinds)]
    laid = apply_changes(pieces, DocumentChanges(dict.fromkeys(gone), new=new))
    after = [
        (one.category, one.day, one.text)
        for one in parse_learnings(document_text(laid))
        if isinstance(one, LearningEntry)
    ]
    stayed = [(one.category, one.day, one.text) for place, one in enumerate(entries) if place not in gone]
    added = [(kind, _DAY, f"new {number}") for number, kind in enumerate(kinds)]
    assert sorted(map(str, after)) == sorted(map(str, [*stayed, *added]))
