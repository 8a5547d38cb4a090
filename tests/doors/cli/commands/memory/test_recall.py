"""`recollectum recall`: its filters, its reasons, and the word it gives when it could not do its best."""

import pytest

from tests.doors.cli.calls import call, ok, refused

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]

WITHOUT = ""


@pytest.mark.feature("A12")
def test_json_has_the_rung_what_was_missing_and_the_reasons() -> None:
    ok("remember", "Grace plays the piano")
    found = ok("recall", "piano", "--json")
    assert (found.json["rung"], found.err) == ("text", WITHOUT)
    # Who chose to do without an embedder is not told at every question.
    assert found.json["degraded"] is None
    (hit,) = found.json["hits"]
    reasons = hit["reasons"]
    assert (reasons["rung"], reasons["text_rank"], reasons["vector_rank"]) == ("text", 1, None)
    assert reasons["text_score"] > 0
    assert reasons["terms"] == ["piano"]


def test_explain_shows_the_arms_the_terms_and_what_was_added() -> None:
    ok("remember", "Grace plays the piano", "--importance", "0.9")
    assert "rung:" not in ok("recall", "piano").out
    lines = [line.strip() for line in ok("recall", "the piano", "--explain").out.splitlines()]
    assert lines[0] == "1. Grace plays the piano"
    assert lines[3] == "rung: text"
    assert lines[4].startswith("by words: place 1, BM25 ")
    assert lines[5:7] == ["by meaning: not compared", "terms: piano"]
    assert lines[7] == "added: importance +0.16"


@pytest.mark.feature("G11")
def test_explain_names_the_place_by_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_EMBEDDING__PROVIDER", "local")
    ok("remember", "Grace plays the piano")
    found = ok("recall", "which instrument can she play?", "--explain")
    assert found.err == ""
    assert "rung: hybrid" in found.out
    assert "by meaning: place 1, cosine 0." in found.out


def test_a_speaker_and_a_time_narrow_the_answer() -> None:
    ok("sessions", "add", "user", "my piano is old")
    ok("remember", "the piano is new")
    assert len(ok("recall", "piano", "--json").json["hits"]) == 2
    assert ok("recall", "piano", "--speaker", "Nobody", "--json").json["hits"] == []
    assert len(ok("recall", "piano", "--since", "2020-01-01", "--until", "+1d", "--json").json["hits"]) == 2
    assert ok("recall", "piano", "--until", "2020-01-01", "--json").json["hits"] == []
    assert ok("recall", "piano", "--since", "+1d", "--json").json["hits"] == []


def test_hits_are_cut_to_a_token_budget() -> None:
    for place in range(4):
        ok("remember", f"piano number {place} stands in a room of its own")
    assert len(ok("recall", "piano", "--json").json["hits"]) == 4
    assert len(ok("recall", "piano", "--tokens", "25", "--json").json["hits"]) == 2


def test_a_date_that_is_none_is_refused() -> None:
    assert "'yesterday-ish' is not a date" in refused("recall", "piano", "--since", "yesterday-ish")


def test_a_minimum_that_is_no_chance_is_refused_by_its_value() -> None:
    ok("remember", "Grace lives in Lyon")
    assert refused("recall", "Lyon", "--min-score", "2") == "min_score 2.0 is out of range; use 0 to 1"


def test_a_score_that_is_no_chance_says_so() -> None:
    ok("remember", "Grace plays the piano")
    by_words, by_letters = ok("recall", "piano").out, ok("recall", "ian").out
    assert "· score " in by_words
    assert "Grace plays the piano" in by_letters
    assert "· uncalibrated score " in by_letters


def test_where_nothing_reaches_the_minimum_the_nearest_text_is_told() -> None:
    ok("remember", "Grace lives in Lyon")
    answer = ok("recall", "where does Grace live?", "--min-score", "1")
    assert answer.out == ""
    assert answer.err.startswith("nothing close; nearest: Grace lives in Lyon (score ")
    assert "Grace lives in Lyon" in ok("recall", "where does Grace live?", "--min-score", "0").out


def test_archived_memories_that_match_are_counted_with_the_way_back() -> None:
    ok("remember", "the piano is black")
    first = ok("remember", "the piano stands in the hall", "--json").json["memory"]["id"]
    second = ok("remember", "the piano was tuned in May", "--json").json["memory"]["id"]
    assert "archived" not in ok("recall", "piano").err
    assert ok("recall", "piano", "--json").json["archived"] == {"count": 0, "cut": False, "ids": []}
    for one in (first, second):
        ok("memories", "archive", one)
    found = ok("recall", "where is the piano?")
    assert "hall" not in found.out
    assert f"2 archived memories match ({second}, {first}); bring one back with: recollectum memories restore ID; " in (
        found.err
    )
    assert "recollectum memories list --state archived" in found.err
    assert ok("recall", "piano", "--json").json["archived"] == {"count": 2, "cut": False, "ids": [second, first]}
    ok("memories", "restore", first)
    found = ok("recall", "where is the piano?")
    assert "hall" in found.out
    assert f"1 archived memory matches ({second})" in found.err
    assert "archived" not in ok("recall", "violin").err


def test_a_question_needs_no_quotes() -> None:
    ok("remember", "I", "play", "the", "piano", "--kind", "preference")
    (hit,) = ok("recall", "which", "piano", "--json", "--limit", "1").json["hits"]
    assert hit["text"] == "I play the piano"
    assert "piano" in ok("context", "the", "piano").out


def test_a_question_without_words_is_refused() -> None:
    for line in (("recall", ""), ("recall", " ", "--json"), ("recall", "-")):
        assert call(*line).code == 2
    assert "give some words" in refused("recall", "", code=2)


def test_yesterday_is_a_time() -> None:
    ok("remember", "the piano is new")
    for since in ("yesterday", "-7d", "2 weeks ago"):
        assert len(ok("recall", "piano", "--since", since, "--json").json["hits"]) == 1
        assert ok("recall", "piano", "--until", since, "--json").json["hits"] == []


def test_a_long_text_is_shown_around_the_match_and_in_full_on_request() -> None:
    ok("remember", "\n".join(f"line {number} is about nothing" for number in range(40)) + "\nthe piano is old")
    found = ok("recall", "piano").out
    assert len(found.splitlines()) == 3
    assert "the piano is old" in found
    assert "line 3 is" not in found
    assert "line 3 is about nothing\n" in ok("recall", "piano", "--full").out
    assert "line 3 is about nothing" in ok("recall", "piano", "--json").json["hits"][0]["text"]
