"""A change of model survives kills and company: nothing is lost, doubled or mixed, and questions are answered."""

import json
import random
import subprocess
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.hit import SearchMode
from recollectum.domain.models.embedder import Purpose
from recollectum.recall.vectors.quantisation import quantise
from recollectum.storage.port import Tx
from recollectum.storage.tables.index import chunks, generations, vectors
from recollectum.testing import ScriptedEmbedder
from recollectum.vault.intake.draft import Draft
from tests.crashes.homes import only_vault
from tests.crashes.programs import finish, hear, kill, start, tell

pytestmark = pytest.mark.process

_PROGRAM = "tests.crashes.embedding_program"
_COUNT = 1200
_KILLS = 4
_PROCESSES = 4
_SEED = 20261115


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A vault that the first model has gone through."""
    home = tmp_path / "home"
    with Recollectum(home, embedder=ScriptedEmbedder("first")) as r:
        vault = r.vault("user:ann")
        vault.memories.save_many([Draft(content=f"the number {number} is kept") for number in range(_COUNT)])
        assert vault.admin.index.update() == _COUNT
    return home


def _updater(home: Path, model: str) -> subprocess.Popen[str]:
    child = start(_PROGRAM, "update", str(home), model)
    assert hear(child) == "ready"
    return child


def _wrong(home: Path) -> list[str]:
    """What is missing, doubled or another model's in the generations of a vault."""

    def look(tx: Tx) -> list[str]:
        found: list[str] = []
        texts = {row[0]: row[1] for row in chunks.after(tx, 0, 1_000_000)}
        for generation in generations.everything(tx):
            model = json.loads(generation.identity)[1]
            made = ScriptedEmbedder(model).embed(list(texts.values()), Purpose.PASSAGE)
            expected = dict(zip(texts, quantise(made), strict=True))
            kept = dict(vectors.after(tx, generation.id, 0))
            done = {number for number in texts if number <= generation.done}
            found += [f"{model} lacks {number}" for number in done - kept.keys()]
            found += [f"{model} has {number} too early" for number in kept.keys() - done]
            found += [f"{model} is wrong about {number}" for number in kept if kept[number] != expected.get(number)]
        return found

    with only_vault(home) as database:
        return database.read(look)


def _states(home: Path) -> dict[str, tuple[str, int]]:
    def look(tx: Tx) -> dict[str, tuple[str, int]]:
        every = generations.everything(tx)
        return {str(one.state): (json.loads(one.identity)[1], vectors.count(tx, one.id)) for one in every}

    with only_vault(home) as database:
        return database.read(look)


def _answer(home: Path, model: str) -> tuple[SearchMode, str]:
    with Recollectum(home, embedder=ScriptedEmbedder(model)) as r:
        found = r.vault("user:ann").recall("the number 321", limit=3)
        return found.rung, found[0].text


@pytest.mark.feature("G16")
@pytest.mark.feature("G17")
def test_a_change_of_model_goes_on_after_every_kill(filled: Path) -> None:
    chance = random.Random(_SEED)
    steps = 0
    for _ in range(_KILLS):
        child = _updater(filled, "second")
        tell(child, "go")
        for _ in range(chance.randint(1, 2)):
            hear(child)
        steps += 1
        said = kill(child)
        assert "done" not in said, "the kill came too late to prove anything"
        assert _wrong(filled) == []
        states = _states(filled)
        assert states["current"] == ("first", _COUNT)
        assert 0 < states["building"][1] < _COUNT
        # Who still has the old model is answered by it, and does not disturb what is being built.
        assert _answer(filled, "first") == (SearchMode.HYBRID, "the number 321 is kept")
        assert _states(filled)["building"][1] >= states["building"][1]
    child = _updater(filled, "second")
    tell(child, "go")
    said = finish(child)
    assert said[-1] == "done"
    # It went on from where the last one had come, and did not begin anew.
    assert sum(map(int, said[:-1])) <= _COUNT - 64 * steps
    assert _wrong(filled) == []
    assert _states(filled) == {"previous": ("first", _COUNT), "current": ("second", _COUNT)}
    assert _answer(filled, "second") == (SearchMode.HYBRID, "the number 321 is kept")


@pytest.mark.feature("G17")
def test_two_that_catch_up_at_once_lose_and_double_nothing(filled: Path) -> None:
    children = [_updater(filled, "second") for _ in range(2)]
    for child in children:
        tell(child, "go")
    assert [finish(child)[-1] for child in children] == ["done", "done"]
    assert _wrong(filled) == []
    assert _states(filled) == {"previous": ("first", _COUNT), "current": ("second", _COUNT)}


@pytest.mark.feature("G17")
def test_one_of_two_may_be_killed(filled: Path) -> None:
    victim, other = (_updater(filled, "second") for _ in range(2))
    for child in (victim, other):
        tell(child, "go")
    hear(victim)
    kill(victim)
    assert finish(other)[-1] == "done"
    assert _wrong(filled) == []
    assert _states(filled) == {"previous": ("first", _COUNT), "current": ("second", _COUNT)}


@pytest.mark.feature("G11")
def test_what_several_processes_write_each_finds_at_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Recollectum(home) as r:
        r.vault("user:ann")
    children = [start(_PROGRAM, "search", str(home), f"p{number}", "2") for number in range(_PROCESSES)]
    for child in children:
        assert hear(child) == "ready"
    for child in children:
        tell(child, "go")
    told = [json.loads(line) for child in children for line in finish(child)]
    assert [one["failed"] for one in told] == [[]] * _PROCESSES
    assert [one["missed"] for one in told] == [[]] * _PROCESSES
    assert all(one["saved"] for one in told)
    with Recollectum(home, embedder=ScriptedEmbedder()) as r:
        vault = r.vault("user:ann")
        vault.admin.index.update()
        for word in (word for one in told for word in one["saved"]):
            hit = vault.recall(word, limit=1)[0]
            assert (hit.text, hit.reasons.vector_rank) == (f"the word {word} was written", 1)
    assert _wrong(home) == []
