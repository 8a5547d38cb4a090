"""Another model: its vectors are made beside the old ones, take over in one step, and can be sent back."""

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TypeVar

import pytest

from recollectum.domain.errors import ModelMissing, ModelUnavailable, NotFound
from recollectum.domain.hit import SearchMode
from recollectum.domain.models.embedder import Purpose
from recollectum.models.search import SearchModels
from recollectum.recall.vectors import backlog
from recollectum.storage.port import Database, Tx
from recollectum.storage.sqlite.database import SqliteOptions
from recollectum.testing import ScriptedEmbedder
from recollectum.vault.vault import Vault
from tests.crashes.standing import standing
from tests.matrix.homes import START, Turning
from tests.recall.homes import OWNER, beside, change, home, opened, rows, scripted

T = TypeVar("T")
_COUNT = 40
#: How many vectors each generation has of each number of dimensions: nine bits for each.
_LENGTHS = "SELECT state, length(data) * 8 / 9, count(*) FROM vectors JOIN generations ON id = generation GROUP BY 1, 2"


def _fill(vault: Vault, count: int = _COUNT) -> None:
    vault.memories.save("my car is red")
    for number in range(count - 1):
        vault.memories.save(f"tea of sort {number}")


@contextmanager
def _changing(place: Path, new: ScriptedEmbedder, old: ScriptedEmbedder) -> Generator[Vault]:
    """A vault whose settings name a new embedder while the old one can still be had."""
    with home(place, embedder=SearchModels(new, earlier=(old,))) as r:
        yield r.vault(OWNER)


def _states(vault: Vault) -> dict[str, tuple[int, int]]:
    return {one.state: (one.vectors, one.behind) for one in vault.admin.index.status().generations}


def _until(true: Callable[[], bool]) -> None:
    """Wait for what goes on behind the answers."""
    for _ in range(3000):
        if true():
            return
        Event().wait(0.01)
    pytest.fail("it never came")


@pytest.fixture
def filled(place: Path) -> Path:
    """A vault that the first model has gone through."""
    with opened(place, scripted("first")) as vault:
        _fill(vault)
        assert vault.admin.index.update() == _COUNT
    return place


@pytest.mark.feature("G16")
@pytest.mark.parametrize(("name", "dimensions"), [("second", 64), ("second", 32), ("first", 32)])
def test_another_model_has_its_own_generation(filled: Path, name: str, dimensions: int) -> None:
    second = scripted(name, dimensions)
    with opened(filled, second) as vault:
        assert vault.admin.index.update() == _COUNT
        assert len(second.passages) == _COUNT
        assert _states(vault) == {"current": (_COUNT, 0), "previous": (_COUNT, 0)}
        found = vault.recall("automobile")
        assert (found[0].text, found.rung, found.degraded) == ("my car is red", SearchMode.HYBRID, None)
    assert sorted(rows(filled, _LENGTHS)) == [("current", dimensions, _COUNT), ("previous", 64, _COUNT)]


@pytest.mark.feature("G16")
def test_the_same_model_after_a_restart_makes_nothing_again(filled: Path) -> None:
    again = scripted("first")
    with opened(filled, again) as vault:
        vault.memories.save("the doctor called")
        assert vault.recall("physician")[0].text == "the doctor called"
        assert vault.admin.index.update() == 0
        assert again.passages == ["the doctor called"]
        assert _states(vault) == {"current": (_COUNT + 1, 0)}


@pytest.mark.feature("G17")
def test_the_old_generation_answers_until_the_new_one_is_whole(filled: Path) -> None:
    old, new = scripted("first"), scripted("second", 32)
    asked: list[tuple[SearchMode, str | None, str]] = []
    with home(filled, embedder=old) as beside:
        for number in range(200 - _COUNT):
            beside.vault(OWNER).memories.save(f"coffee of sort {number}")
        beside.vault(OWNER).admin.index.update()

        def ask(_: int) -> None:
            found = beside.vault(OWNER).recall("automobile")
            asked.append((found.rung, found.degraded, found[0].text))

        with opened(filled, new) as vault:
            assert vault.admin.index.update(ask) == 200
            assert vault.recall("automobile")[0].text == "my car is red"
            assert _states(vault) == {"current": (200, 0), "previous": (200, 0)}
    assert asked == [(SearchMode.HYBRID, None, "my car is red")] * 4


@pytest.mark.feature("G17")
def test_the_process_that_builds_answers_from_the_old_generation_and_waits_for_nothing(filled: Path) -> None:
    old, new = scripted("first"), scripted("second", 32)
    over = Event()

    def wait(_: object, purpose: Purpose) -> None:
        if purpose is Purpose.PASSAGE:
            over.wait(30)

    new.fail = wait
    with _changing(filled, new, old) as vault:
        found = vault.recall("automobile")
        assert (found[0].text, found.rung, found.degraded) == ("my car is red", SearchMode.HYBRID, None)
        # What is written meanwhile is found by meaning at once, though the new model has not come to it.
        vault.memories.save("the doctor called")
        found = vault.recall("physician")
        assert (found[0].text, found.rung, found.degraded) == ("the doctor called", SearchMode.HYBRID, None)
        assert not over.is_set()
        assert _states(vault) == {"current": (_COUNT + 1, 0), "building": (0, _COUNT + 1)}
        over.set()
        _until(lambda: _states(vault) == {"current": (_COUNT + 1, 0), "previous": (_COUNT + 1, 0)})
        found = vault.recall("physician")
        assert (found[0].text, found.rung, found.degraded) == ("the doctor called", SearchMode.HYBRID, None)
        assert new.calls[-1] == (Purpose.QUERY, ("physician",))


@pytest.mark.feature("G17")
def test_while_the_new_model_fails_the_old_one_answers_and_the_status_says_why(filled: Path) -> None:
    old, new = scripted("first"), scripted("second", 32)

    def fail(_: object, purpose: Purpose) -> ModelUnavailable | None:
        return ModelUnavailable("not now") if purpose is Purpose.PASSAGE and len(new.passages) > 16 else None

    new.fail = fail
    with _changing(filled, new, old) as vault:
        assert vault.recall("automobile").degraded is None
        _until(lambda: vault.admin.index.status().trouble == "not now")
        # A failure changes nothing: what was made stays, and the generation that answered is as it was.
        assert _states(vault) == {"current": (_COUNT, 0), "building": (16, _COUNT - 16)}
        found = vault.recall("automobile")
        assert (found[0].text, found.rung, found.degraded) == ("my car is red", SearchMode.HYBRID, None)
        new.fail = None
        vault.recall("automobile")
        _until(lambda: "previous" in _states(vault))
        assert vault.admin.index.status().trouble is None


@pytest.mark.feature("G17")
def test_where_the_old_model_is_gone_words_answer_and_the_answer_says_so(filled: Path) -> None:
    new = scripted("second", 32)

    def fail(_: object, purpose: Purpose) -> ModelUnavailable | None:
        return ModelUnavailable("not now") if purpose is Purpose.PASSAGE else None

    new.fail = fail
    with opened(filled, new) as vault:
        with pytest.raises(ModelUnavailable, match="not now"):
            vault.admin.index.update()
        found = vault.recall("car")
        assert (found.rung, found[0].text) == (SearchMode.TEXT, "my car is red")
        why = "the index is being rebuilt for another model, so only words were compared"
        assert (found.degraded or "").startswith(why)
        _until(lambda: (vault.recall("car").degraded or "").endswith("the last try ended with: not now"))
        assert _states(vault)["current"] == (_COUNT, 0)
    with opened(filled, scripted("first")) as vault:
        found = vault.recall("automobile")
        assert (found[0].text, found.rung) == ("my car is red", SearchMode.HYBRID)


@pytest.mark.feature("G17")
def test_one_that_was_there_before_does_not_undo_the_change_of_another(filled: Path) -> None:
    old, new = scripted("first"), scripted("second", 32)
    with home(filled, embedder=old) as before:
        assert before.vault(OWNER).recall("automobile").rung is SearchMode.HYBRID
        with opened(filled, new) as vault:
            vault.admin.index.update()
        for _ in range(20):
            found = before.vault(OWNER).recall("car")
            assert (found.rung, found[0].text) == (SearchMode.TEXT, "my car is red")
            assert (found.degraded or "").startswith("another process made the index for another model")
    assert [json.loads(row[0])[1] for row in rows(filled, "SELECT identity FROM generations ORDER BY state")] == [
        "second",
        "first",
    ]


@pytest.mark.feature("G17")
def test_two_that_ask_for_two_models_do_not_undo_each_other_for_ever(filled: Path) -> None:
    second, third = scripted("second", 32), scripted("third", 16)
    begun = Event()

    def overtaken(_: object, purpose: Purpose) -> None:
        if purpose is Purpose.PASSAGE and not begun.is_set():
            begun.set()
            with opened(filled, third) as vault:
                vault.admin.index.update()

    second.fail = overtaken
    with home(filled, embedder=second) as r:
        r.vault(OWNER).recall("car")
        _until(lambda: begun.is_set() and r.vault(OWNER).admin.index.status().generations[-1].state == "current")
        r.vault(OWNER).recall("car")
    # Who came last has it; the first one embedded one step in vain and let it be.
    assert len(second.passages) == 16
    assert sorted(rows(filled, _LENGTHS)) == [("current", 16, _COUNT), ("previous", 64, _COUNT)]


@pytest.mark.feature("G17")
def test_stopped_in_the_middle_it_goes_on_from_there(filled: Path) -> None:
    first_try, second_try = scripted("second"), scripted("second")

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with opened(filled, first_try) as vault:
        for number in range(60):
            vault.memories.save(f"coffee of sort {number}")
        with pytest.raises(KeyboardInterrupt):
            vault.admin.index.update(stop)
        assert "building" in _states(vault)
    with opened(filled, second_try) as vault:
        vault.admin.index.update()
        assert _states(vault)["current"] == (100, 0)
    assert sorted(first_try.passages + second_try.passages) == sorted({*first_try.passages, *second_try.passages})


@pytest.mark.feature("G6")
@pytest.mark.feature("G17")
def test_a_model_that_comes_back_is_seeded_from_the_cache(filled: Path) -> None:
    with opened(filled, scripted("second")) as vault:
        vault.admin.index.update()
    with opened(filled, scripted("third")) as vault:
        vault.admin.index.update()
    again = scripted("first")
    with opened(filled, again) as vault:
        assert vault.admin.index.update() == _COUNT
        assert again.passages == []
        assert vault.recall("automobile")[0].text == "my car is red"


@pytest.mark.feature("G17")
def test_a_model_changed_again_before_it_was_ready_leaves_nothing_behind(filled: Path) -> None:
    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with opened(filled, scripted("second", 32)) as vault:
        for number in range(60):
            vault.memories.save(f"coffee of sort {number}")
        with pytest.raises(KeyboardInterrupt):
            vault.admin.index.update(stop)
    with opened(filled, scripted("third", 16)) as vault:
        vault.admin.index.update()
        assert sorted(_states(vault)) == ["current", "previous"]
    assert {(row[0], row[1]) for row in rows(filled, _LENGTHS)} == {("current", 16), ("previous", 64)}
    assert rows(filled, "SELECT count(*) FROM vectors WHERE generation NOT IN (SELECT id FROM generations)") == [(0,)]


@pytest.mark.feature("G17")
def test_going_back_puts_the_old_one_in_place_and_brings_it_up_to_date(filled: Path) -> None:
    with opened(filled, scripted("second", 32)) as vault:
        vault.admin.index.update()
        vault.memories.save("the doctor called")
        vault.admin.index.update()
        status = vault.admin.index.rollback()
        assert {one.state: one.behind for one in status.generations} == {"current": 1, "previous": 0}
    first = scripted("first")
    with opened(filled, first) as vault:
        assert vault.recall("automobile")[0].text == "my car is red"
        assert vault.recall("physician")[0].text == "the doctor called"
        assert first.passages == ["the doctor called"]
        assert _states(vault) == {"current": (_COUNT + 1, 0), "previous": (_COUNT + 1, 0)}
        # And forward again, by the same command.
        vault.admin.index.rollback()
    with opened(filled, scripted("second", 32)) as vault:
        assert vault.recall("automobile").degraded is None
        assert _states(vault)["current"] == (_COUNT + 1, 0)
    assert sorted(rows(filled, _LENGTHS)) == [("current", 32, _COUNT + 1), ("previous", 64, _COUNT + 1)]


class _Late:
    """A database to which somebody else writes just before the next write."""

    def __init__(self, database: Database, other: Callable[[], object]) -> None:
        self._database = database
        self._other: Callable[[], object] | None = other
        self.read = database.read
        self.claim = database.claim
        self.held_bytes = 0
        self.erase_remains = database.erase_remains
        self.close = database.close

    def write(self, work: Callable[[Tx], T], *, frees: bool = False) -> T:
        other, self._other = self._other, None
        if other:
            other()
        return self._database.write(work, frees=frees)


@pytest.mark.feature("G17")
def test_a_text_written_just_before_the_swap_is_embedded_next_and_many_are_waited_for(place: Path) -> None:
    def step(database: Database, embedder: ScriptedEmbedder) -> int:
        return backlog.embed_step(database, embedder, size=backlog.StepSize(2), cache_entries=100, now=START).count

    first, second = scripted("first"), scripted("second")
    with standing(place / "vault.db", SqliteOptions(), clock=Turning()) as at:

        def write_many() -> None:
            for number in range(3):
                at.vault.memories.save(f"bus number {number} came by")

        at.vault.memories.save("my car is red")
        at.database.write(lambda tx: backlog.begin_generation(tx, first.identity, START))
        assert (step(at.database, first), step(at.database, first)) == (1, 0)
        at.database.write(lambda tx: backlog.begin_generation(tx, second.identity, START))
        assert step(at.database, second) == 1
        # Everything is embedded, and the pen is asked for to swap: but somebody else has it first.
        assert step(_Late(at.database, write_many), second) == 2
        assert _states(at.vault) == {"current": (1, 3), "building": (3, 1)}
        assert step(at.database, second) == 1
        assert step(_Late(at.database, lambda: at.vault.memories.save("a bus came by")), second) == 0
        assert _states(at.vault) == {"current": (4, 1), "previous": (1, 4)}
        assert (step(at.database, second), step(at.database, second)) == (1, 0)
        assert _states(at.vault) == {"current": (5, 0), "previous": (1, 4)}


@pytest.mark.feature("G17")
def test_back_to_the_model_before_costs_nothing_even_without_a_cache(filled: Path) -> None:
    nothing_kept = {"embedding.cache_entries": 0}
    with opened(filled, scripted("second", 32), settings=nothing_kept) as vault:
        vault.admin.index.update()
        vault.memories.save("the doctor called")
    change(filled, "DELETE FROM embedding_cache")
    first = scripted("first")
    with opened(filled, first, settings=nothing_kept) as vault:
        assert vault.admin.index.update() == 1
        assert first.passages == ["the doctor called"]
        assert _states(vault) == {"current": (_COUNT + 1, 0), "previous": (_COUNT, 1)}
        assert vault.recall("automobile")[0].text == "my car is red"


@pytest.mark.feature("G17")
def test_of_several_that_build_the_same_one_lets_the_other_go_first(filled: Path) -> None:
    new = scripted("second", 32)
    with beside(filled) as database:
        database.write(lambda tx: backlog.begin_generation(tx, new.identity, START))

        def overtaken(_: object, purpose: Purpose) -> None:
            if purpose is Purpose.PASSAGE and len(other.passages) < 16:
                backlog.embed_step(database, other, size=size, cache_entries=0, now=START)

        size, other = backlog.StepSize(16), scripted("second", 32)
        new.fail = overtaken
        mine = backlog.embed_step(database, new, size=size, cache_entries=0, now=START)
        assert mine == backlog.BacklogStep(16, contended=True)
        assert backlog.embed_step(database, new, size=size, cache_entries=0, now=START) == backlog.BacklogStep(16)


def test_there_is_nothing_to_go_back_to_at_first(filled: Path) -> None:
    with opened(filled, scripted("first")) as vault, pytest.raises(NotFound, match="no previous generation"):
        vault.admin.index.rollback()


def test_going_back_lasts_while_the_settings_still_name_the_new_model(filled: Path) -> None:
    old, new = scripted("first"), scripted("second", 32)
    with _changing(filled, new, old) as vault:
        vault.admin.index.update()
        vault.admin.index.rollback()
        vault.recall("automobile")
        vault.recall("automobile")
    (identity,) = (row[0] for row in rows(filled, "SELECT identity FROM generations WHERE state = 'current'"))
    assert identity == old.identity.text_key()


@pytest.mark.feature("A17")
def test_without_an_embedder_the_index_says_what_is_missing(filled: Path) -> None:
    with opened(filled, None) as vault:
        assert vault.admin.index.status().without_meaning == "embedding.provider is none"
        with pytest.raises(ModelMissing, match=r"embedding\.provider is none"):
            vault.admin.index.update()
        assert vault.recall("car")[0].text == "my car is red"


@pytest.mark.feature("A17")
@pytest.mark.parametrize("provider", ["openai", "gemini"])
def test_an_embedder_is_chosen_by_settings_and_its_key_comes_from_the_environment(place: Path, provider: str) -> None:
    with home(place, settings={"embedding.provider": provider}) as r:
        vault = r.vault(OWNER)
        vault.memories.save("my car is red")
        found = vault.recall("car")
        assert (found.rung, found[0].text) == (SearchMode.TEXT, "my car is red")
        assert "_API_KEY" in (found.degraded or ""), found.degraded
