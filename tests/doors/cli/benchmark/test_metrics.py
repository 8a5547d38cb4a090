"""Metrics against values worked out by hand."""

import math

import pytest

from recollectum.doors.cli.benchmark.labelled_set import LabelledQuery
from recollectum.doors.cli.benchmark.metrics import means, percentile, score

SESSIONS = {"a": "s1", "b": "s1", "c": "s2", "d": "s3", "e": "s4", "f": "s5", "g": "s6"}


def query(gold: set[str], sessions: set[str]) -> LabelledQuery:
    return LabelledQuery(
        space="n",
        id="q",
        category="",
        text="?",
        gold=frozenset(gold),
        gold_sessions=frozenset(sessions),
        asked_at=None,
    )


def test_every_metric_of_one_ranking() -> None:
    found = score(query({"b", "c"}, {"s2", "s6"}), ["a", "b", "d", "c", "e", "f", "g"], SESSIONS)
    ideal = 1 + 1 / math.log2(3)
    assert found == pytest.approx(
        {
            "R@1": 0,
            "R@5": 1,
            "R@10": 1,
            "hit@1": 0,
            "MRR": 1 / 2,
            "nDCG@10": (1 / math.log2(3) + 1 / math.log2(5)) / ideal,
            # In order: s1 s3 s2 s4 s5 s6.
            "session R@5": 1 / 2,
            "session R@10": 1,
        }
    )


def test_the_first_place_counts_most_and_the_eleventh_only_for_the_mean_rank() -> None:
    assert set(score(query({"a"}, set()), ["a"], SESSIONS).values()) == {1.0}
    ranked = [f"x{number}" for number in range(10)] + ["a"]
    found = score(query({"a"}, set()), ranked, SESSIONS)
    assert found.pop("MRR") == pytest.approx(1 / 11)
    assert set(found.values()) == {0.0}


def test_what_has_no_gold_has_no_metric() -> None:
    assert set(score(query(set(), {"s1"}), [], SESSIONS)) == {"session R@5", "session R@10"}
    assert score(query({"a"}, set()), [], SESSIONS)["hit@1"] == 0


def test_a_mean_is_over_the_rows_that_have_the_metric() -> None:
    assert means([{"R@5": 1.0}, {"R@5": 0.0, "MRR": 0.3}, {}]) == {"R@5": 0.5, "MRR": 0.3}


@pytest.mark.parametrize(("share", "value"), [(0.5, 10), (0.95, 19), (1.0, 20), (0.01, 1)])
def test_percentiles_are_values_that_were_seen(share: float, value: float) -> None:
    assert percentile([float(number) for number in range(20, 0, -1)], share) == value
    assert percentile([], share) == 0
