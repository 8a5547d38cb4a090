"""The made sets of facts that change, and floors for what recall answers on a small one by words alone."""

import gzip
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from bench.facts import hits, line, measure
from bench.facts_set import QUESTIONS, relations, write_facts
from recollectum.doors.cli.benchmark.bench import Provider
from recollectum.doors.cli.benchmark.labelled_set import load_set

pytestmark = pytest.mark.process

_TOKENS = 6_000


def test_the_same_seed_makes_the_same_set_and_another_seed_another(tmp_path: Path) -> None:
    made = [write_facts(tmp_path / name, 1_000, seed) for name, seed in (("one", 1), ("again", 1), ("other", 2))]
    units, again, other = (gzip.decompress((folder / "units.jsonl.gz").read_bytes()) for folder in made)
    assert units == again != other
    queries, asked_again, _ = ((folder / "queries.jsonl").read_bytes() for folder in made)
    assert queries == asked_again


def test_every_relation_has_several_phrasings_each_with_its_question() -> None:
    assert len(relations()) >= 30
    for relation in relations():
        assert len(relation.statements) >= 2
        assert all("{s}" in text and "{v}" in text for text in relation.statements)
        assert all("{s}" in text and "{v}" not in text for text in [*relation.statements.values(), *relation.past])


def test_the_newest_version_is_the_answer_unless_the_past_is_asked_for(tmp_path: Path) -> None:
    data = load_set(write_facts(tmp_path, _TOKENS, 3))
    assert {query.category for query in data.queries} == QUESTIONS.keys()
    for query in data.queries:
        versions = _versions(query.text, {unit.id: unit.text for unit in data.units})
        match query.category:
            case "steady":
                assert [*query.gold] == versions
            case "both":
                assert query.gold == {*versions}
                assert len(versions) > 1
            case "past":
                assert query.gold
                assert query.gold <= {*versions[:-1]}
            case _:
                assert [*query.gold] == versions[-1:]
                assert len(versions) > 1


def _versions(question: str, texts: Mapping[str, str]) -> list[str]:
    """Return the ids of all statements of what is asked, in any phrasing, oldest first."""
    for relation in relations():
        for form in (*relation.statements.values(), *relation.past):
            if found := re.fullmatch(re.escape(form).replace(r"\{s\}", "(.+)"), question):
                subject = re.escape(found[1])
                said = "|".join(
                    re.escape(one).replace(r"\{s\}", subject).replace(r"\{v\}", ".+") for one in relation.statements
                )
                return [one for one, text in texts.items() if re.fullmatch(said, text, re.IGNORECASE)]
    raise AssertionError(question)


@pytest.mark.slow
def test_newest_first_holds_its_floors_by_words_alone(tmp_path: Path) -> None:
    found = measure(write_facts(tmp_path, _TOKENS, 1), Provider.NONE)
    shares = hits(found)
    floors = {"changed": 0.95, "steady": 0.93, "both": 0.97, "past": 0.5, "reworded": 0.35}
    assert {name: share for name, share in shares.items() if share < floors[name]} == {}
    assert line(_TOKENS, found).startswith("| 6,000 | ")
