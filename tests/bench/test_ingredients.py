"""What recall does without one ingredient, and that each one is the product's again afterwards."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.error_bars import ErrorBar
from bench.ingredients import difference, in_points, measure, metric, plot, table
from bench.ingredients_removed import INGREDIENTS, MutableEmbedder, without
from bench.ranking import conversation, kept_dialogues
from recollectum.doors.cli.benchmark.labelled_set import LabelledSet, load_set
from recollectum.doors.cli.benchmark.runner import QueryResult
from recollectum.testing import ScriptedEmbedder
from tests.doors.cli.benchmark.labelled_sets import Line, write_set

pytestmark = pytest.mark.process

_TURNS = (
    ("s1", "Ann", "Where did you get that wonderful old piano from, was it expensive?"),
    ("s1", "Bob", "My own piano is from a neighbour who lives in Lisbon"),
    ("s2", "Ann", "My brother repairs violins in the cellar"),
    ("s2", "user", "I sold the piano"),
    ("s2", "assistant", "A piano piano piano can be sold at an auction"),
)
_FACTS = ("The mayor of Holm is Ada Berg", "The mayor of Holm is Finn Dahl", "The mayor of New Holm is Ida Lund")
#: Each question with the unit that the whole ranking puts first, or among the first five.
_ASKED = (("c", "What did Bob say about the piano?", "t1"), ("d", "Who is the mayor of Holm?", "f1"))


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> list[LabelledSet]:
    units: list[Line] = [
        {"ns": "c", "id": f"t{place}", "session": session, "speaker": speaker, "text": text}
        for place, (session, speaker, text) in enumerate(_TURNS)
    ]
    facts: list[Line] = [
        {"ns": "d", "id": f"f{place}", "session": "d", "speaker": "doc", "text": text}
        for place, text in enumerate(_FACTS)
    ]
    asked = [{"ns": space, "id": gold, "text": text, "gold": [gold]} for space, text, gold in _ASKED]
    folder = tmp_path_factory.mktemp("sets")
    return [
        load_set(write_set(folder / "turns", units, asked[:1])),
        load_set(write_set(folder / "facts", facts, asked[1:])),
    ]


@pytest.fixture(scope="module")
def found(sets: Sequence[LabelledSet]) -> dict[str, dict[str, list[QueryResult]]]:
    return {data.name: measure(data, MutableEmbedder(ScriptedEmbedder())) for data in sets}


def test_every_name_that_is_replaced_is_there_and_comes_back() -> None:
    embedder = MutableEmbedder(ScriptedEmbedder())
    before = {(one.owner, one.name): getattr(one.owner, one.name) for each in INGREDIENTS.values() for one in each}
    for name, replaced in INGREDIENTS.items():
        with without(name, embedder):
            assert all(getattr(one.owner, one.name) is one.value for one in replaced)
            assert embedder.muted == (name == "vectors")
    assert all(getattr(owner, name) is value for (owner, name), value in before.items())
    assert not embedder.muted


def test_without_vectors_only_words_are_compared(found: dict[str, dict[str, list[QueryResult]]]) -> None:
    rungs = {name: {row.rung for row in rows} for name, rows in found["turns"].items()}
    assert rungs.pop("vectors") == {"text"}
    assert all(each == {"hybrid"} for each in rungs.values())


def test_an_ingredient_that_is_taken_out_changes_the_order(found: dict[str, dict[str, list[QueryResult]]]) -> None:
    facts, turns = found["facts"], found["turns"]
    assert facts["nothing"][0].ranked[0] == "f1"
    assert facts["newest"][0].ranked[0] == "f0", "the older statement has the same words"
    assert turns["who"][0].ranked != turns["nothing"][0].ranked
    assert turns["assistant"][0].ranked.index("t4") < turns["nothing"][0].ranked.index("t4")


def test_the_table_has_a_row_for_each_ingredient_and_the_metric_of_each_set(
    sets: Sequence[LabelledSet], found: dict[str, dict[str, list[QueryResult]]]
) -> None:
    assert [metric(data, ("R@5", "hit@1")) for data in sets] == ["R@5", "hit@1"]
    _, heading, _, whole, *rows = table(sets, found, ("R@5", "hit@1")).splitlines()
    assert heading == "| taken out | turns, R@5 | facts, hit@1 |"
    assert whole == "| nothing | 1.000 ±.000 | 1.000 ±.000 |"
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == list(INGREDIENTS)
    assert difference(found["facts"], "newest", "hit@1").mean == -1
    assert next(row for row in rows if "newest" in row).endswith("| **−100.0 ±0.0** |")
    assert in_points(ErrorBar(0.004, -0.01, 0.02)) == "+0.4 ±1.5"


def test_the_plot_has_a_panel_for_each_set(
    sets: Sequence[LabelledSet], found: dict[str, dict[str, list[QueryResult]]], tmp_path: Path
) -> None:
    file = tmp_path / "plot.svg"
    file.write_text(plot(sets, found), encoding="utf-8")
    assert file.read_text(encoding="utf-8").count("<circle") == 2 * len(INGREDIENTS)


def test_kept_dialogues_are_drawn_one_by_one_and_labelled_sets_by_vault(sets: Sequence[LabelledSet]) -> None:
    for data in kept_dialogues():
        dialogues = {unit.id.partition(":")[0] for unit in data.units}
        assert len({conversation(query) for query in data.queries}) == len(dialogues)
    assert [conversation(query) for data in sets for query in data.queries] == ["c", "d"]
