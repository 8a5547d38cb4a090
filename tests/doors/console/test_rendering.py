"""How the console says things: differences by word, marks, drawings, names, and characters that could act."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.domain.context import Budget, Ledger, PartCost, PartKind
from recollectum.domain.event import Event, EventType
from recollectum.domain.hit import Hit, Reasons, SearchMode, Source, SourceKind
from recollectum.domain.trust import Trust
from recollectum.doors.console.context import segments
from recollectum.doors.console.page_requests import local_path
from recollectum.doors.console.rendering import (
    Reader,
    actor,
    beginning,
    clipped,
    counted,
    day,
    marked,
    moment,
    plural,
    reading,
    shown,
    size,
    spanned,
    utc,
)
from recollectum.doors.console.search import describe_match, excerpt
from recollectum.doors.console.text_diff import WordChange, diff_words
from recollectum.doors.console.timeline_plot import BARS, HEIGHT, WIDTH, ChangeSort, TimeStep, count, draw

NOW = datetime(2026, 8, 14, 12, tzinfo=UTC)


@given(st.text(), st.text())
def test_a_difference_holds_both_texts_whole(before: str, after: str) -> None:
    pieces = diff_words(before, after)
    assert "".join(one.text for one in pieces if one.change is not WordChange.NEW) == shown(before)
    assert "".join(one.text for one in pieces if one.change is not WordChange.GONE) == shown(after)


def test_a_difference_is_told_by_the_word() -> None:
    pieces = diff_words("lessons on Thursdays at six", "lessons on Fridays at six")
    assert [(one.change.value, one.text) for one in pieces] == [
        ("same", "lessons on "),
        ("gone", "Thursdays "),
        ("new", "Fridays "),
        ("same", "at six"),
    ]


def test_texts_of_any_length_are_compared_in_no_time() -> None:
    long = "word " * 200_000
    assert diff_words(long, long + "more")[-1].change is WordChange.NEW
    assert diff_words("x" * 100_000, "y" * 100_000)


@given(st.text(), st.integers(-5, 50), st.integers(-5, 50))
def test_a_marked_span_loses_no_character(text: str, start: int, end: int) -> None:
    assert "".join(piece for piece, _ in spanned(text, start, end)) == shown(text)


@given(st.text(), st.lists(st.text()))
def test_marked_terms_lose_no_character(text: str, terms: list[str]) -> None:
    assert "".join(piece for piece, _ in marked(text, terms)) == shown(text)


def test_a_term_is_marked_where_a_word_begins_with_it() -> None:
    assert marked("Walnuts, not a coconut", ["walnut", "nut"]) == [("Walnuts", True), (", not a coconut", False)]


@pytest.mark.parametrize("mark", ["\u202e", "\u2066", "\x00", "\x1b", "\u2028", "\ufeff", "\ud800"])
def test_a_character_that_could_act_is_spelled_out(mark: str) -> None:
    assert shown(f"a{mark}b") == f"a⟨U+{ord(mark):04X}⟩b"
    assert shown("line\n\ttab") == "line\n\ttab"


def test_a_long_text_is_cut_for_a_list() -> None:
    assert clipped("one  two\nthree") == "one two three"
    assert len(clipped("x" * 100_000)) == 320
    assert clipped("y " * 100_000).endswith("…")


def test_counts_sizes_and_times_are_words() -> None:
    assert [plural(1, "memory"), plural(2, "memory"), plural(90, "day")] == ["1 memory", "2 memories", "90 days"]
    assert [size(12), size(2048), size(300 * 2**20)] == ["12 bytes", "2.0 KiB", "300 MiB"]
    assert [counted(1, "vaults"), counted(1, "memories"), counted(1, "archived")] == [
        "1 vault",
        "1 memory",
        "1 archived",
    ]
    assert [counted(2, "vaults"), counted(1200, "pieces"), counted(0, "vaults")] == [
        "2 vaults",
        "1,200 pieces",
        "0 vaults",
    ]
    assert utc(NOW) == utc(NOW.isoformat()) == "2026-08-14 12:00:00 UTC"


@pytest.mark.parametrize(
    ("zone", "told"),
    [
        (ZoneInfo("America/Los_Angeles"), "14 August 2026, 05:00"),
        (ZoneInfo("Pacific/Auckland"), "15 August 2026, 00:00"),
        (None, f"{NOW.astimezone().day} August 2026, {NOW.astimezone():%H:%M %Z}"),
    ],
)
def test_a_time_is_the_readers_and_names_its_zone_only_where_that_is_the_servers(
    zone: ZoneInfo | None, told: str
) -> None:
    with reading(Reader(zone=zone)):
        assert moment(NOW) == moment(NOW.isoformat()) == told
        assert told.startswith(day(NOW))
    assert moment(None) == day(None) == "never"


def test_an_author_is_named_as_the_reader_knows_them() -> None:
    names = ("person:user:ada", "person:user:bob", "process", "key:key_1", "lifecycle", "user", "")
    with reading(Reader(person="user:ada")):
        assert [actor(name) for name in names] == [
            "you or your agent",
            "bob",
            "a command or an agent on this machine",
            "the API key key_1",
            "the retention rules",
            "user",
            "unknown",
        ]
        assert actor("person:user:ada") != "ada"
    assert actor("person:user:ada") == "ada"


@given(st.text(min_size=1), st.integers(20, 200))
def test_a_beginning_is_of_the_text_and_says_that_it_goes_on(text: str, longest: int) -> None:
    made = beginning(text, longest)
    assert made.endswith(" …")
    assert shown(text).startswith(made.removesuffix(" …"))


def _hit(score: float, **why: object) -> Hit:
    reasons = Reasons(**{"rung": SearchMode.HYBRID, **why})  # pyright: ignore[reportArgumentType]
    source = Source(kind=SourceKind.MEMORIES, memory_id="mem_1", start=0, end=1)
    return Hit(text="x", score=score, source=source, trust=Trust.OWNER, author="", created_at=NOW, reasons=reasons)


def test_a_match_is_told_in_words() -> None:
    both = {"text_rank": 1, "vector_rank": 2}
    assert describe_match(_hit(0.8, **both), calibrated=True) == "strong match: words and meaning"
    assert describe_match(_hit(0.3, vector_rank=1), calibrated=True) == "good match: meaning"
    assert describe_match(_hit(0.1, text_rank=4), calibrated=True) == "possible match: words"
    assert describe_match(_hit(0.8, **both), calibrated=False) == "match: words and meaning"
    part = _hit(0.2, text_rank=1, rung=SearchMode.SUBSTRING)
    assert describe_match(part, calibrated=True) == "good match: a part of a word"
    assert describe_match(_hit(0.0), calibrated=True) == "possible match: it is beside what was found"


def test_of_a_long_hit_the_part_with_the_words_is_shown() -> None:
    text = "sand " * 400 + "a walnut tree " + "sea " * 400
    pieces = excerpt(text, ["walnut"])
    assert ("walnut", True) in pieces
    assert pieces[0] == pieces[-1] == ("…", False)
    assert len("".join(piece for piece, _ in pieces)) < 500
    assert excerpt("a short walnut", ["walnut"]) == [("a short ", False), ("walnut", True)]
    assert excerpt("sand " * 400, ["walnut"])[0][0].startswith("sand")


@given(st.text(min_size=1, max_size=9), st.text(min_size=2, max_size=3))
def test_an_excerpt_has_only_characters_of_its_text(part: str, term: str) -> None:
    text = part * 1000
    assert "".join(piece for piece, _ in excerpt(text, [term])).strip("…") in shown(text) + "…"


def _event(number: int, type: EventType, days: float, subject: str = "memory") -> Event:
    at = NOW - timedelta(days=days)
    return Event(number=number, at=at, type=type, subject=subject, subject_id="x", actor="process", payload={})


@pytest.mark.parametrize("step", list(TimeStep))
def test_events_are_counted_where_they_happened(step: TimeStep) -> None:
    events = [
        _event(1, EventType.CREATED, 0),
        _event(2, EventType.EDITED, 0),
        _event(3, EventType.DELETED, 0),
        _event(4, EventType.CREATED, 0, "session"),
        _event(5, EventType.CREATED, 5000),
    ]
    rows = count(events, NOW, step, UTC)
    assert len(rows) == BARS[step]
    assert [row.total for row in rows[:-1]] == [0] * (BARS[step] - 1)
    assert dict(rows[-1].counts) == {ChangeSort.LEARNED: 1, ChangeSort.CHANGED: 1, ChangeSort.FORGOTTEN: 1}
    assert [row.begins for row in rows] == sorted({row.begins for row in rows})


@given(st.lists(st.tuples(st.sampled_from(list(EventType)), st.floats(0, 400))), st.sampled_from(list(TimeStep)))
def test_every_bar_stands_inside_the_drawing(happened: list[tuple[EventType, float]], step: TimeStep) -> None:
    rows = count([_event(1, type, days) for type, days in happened], NOW, step, UTC)
    plot = draw(rows, step)
    assert sum(row.total for row in rows) >= len(plot.boxes)
    for box in plot.boxes:
        assert box.x >= 0
        assert box.x + box.width <= WIDTH
        assert box.y >= 0
        assert box.y + box.height <= HEIGHT
        assert box.height > 0


def test_the_bar_of_a_context_is_as_long_as_its_budget() -> None:
    parts = (PartCost(kind=PartKind.PROFILE, tokens=250, ids=("1",)), PartCost(kind=PartKind.MESSAGE, tokens=500))
    ledger = Ledger(parts=parts, left_out=(), budget=Budget(tokens=1000), counter="words", exact=True)
    assert [(one.x, one.width) for one in segments(ledger)] == [(0, 250), (250, 500)]


@pytest.mark.parametrize(
    "path", ["//evil.example", "https://evil.example", "/\\evil.example", "evil", "", "/a\r\nb", "javascript:x", "/é"]
)
def test_the_way_back_never_leaves_the_console(path: str) -> None:
    assert local_path(path) == "/"
    assert local_path("/console/memories?state=active") == "/console/memories?state=active"
