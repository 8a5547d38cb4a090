"""What a process keeps of a vault it answers from is what the vault has, whoever wrote to it last."""

from pathlib import Path

import pytest

from recollectum.domain.hit import SearchMode
from recollectum.recall.vectors import backlog
from recollectum.storage.tables.index import vectors
from tests.matrix.homes import START
from tests.recall.homes import OWNER, beside, home, opened, rows, scripted


@pytest.mark.feature("G11")
def test_what_another_home_writes_is_found_by_meaning_at_once(place: Path) -> None:
    embedder = scripted()
    with home(place, embedder=embedder) as one, home(place, embedder=embedder) as other:
        mine, theirs = one.vault(OWNER), other.vault(OWNER)
        mine.memories.save("tea is brewed")
        for _ in range(3):
            assert mine.recall("automobile").rung is SearchMode.HYBRID
        for number, (text, asked) in enumerate((("my car is red", "automobile"), ("a doctor called", "physician"))):
            saved = theirs.memories.save(text).memory
            # Embedded by the other one first, or by the one that asks.
            if number:
                theirs.admin.index.update()
            found = mine.recall(asked)
            assert (found[0].source.memory_id, found.rung, found.degraded) == (saved.id, SearchMode.HYBRID, None)
            assert found[0].reasons.vector_score is not None


@pytest.mark.feature("G11")
def test_what_another_home_deletes_is_not_found_any_more(place: Path) -> None:
    embedder = scripted()
    with home(place, embedder=embedder) as one, home(place, embedder=embedder) as other:
        mine, theirs = one.vault(OWNER), other.vault(OWNER)
        saved = mine.memories.save("my car is red").memory
        mine.memories.save("tea is brewed")
        assert mine.recall("automobile")[0].text == "my car is red"
        theirs.memories.forget(saved.id)
        assert all(hit.text != "my car is red" for hit in mine.recall("automobile"))


@pytest.mark.feature("G11")
def test_vectors_of_another_connection_are_compared_by_the_next_question(place: Path) -> None:
    embedder = scripted()
    with opened(place, embedder) as vault:
        vault.memories.save("tea is brewed")
        vault.memories.save("my car is red")
        vault.admin.index.update()
        first = vault.recall("automobile")[0]
        ((chunk, generation),) = rows(place, "SELECT chunk, generation FROM vectors WHERE chunk = 2")
        with beside(place) as database:
            database.write(lambda tx: vectors.remove(tx, [chunk]))
            ((tea,),) = rows(place, "SELECT data FROM vectors WHERE chunk = 1")
            database.write(lambda tx: vectors.add(tx, generation, [(chunk, tea)]))
            database.write(lambda tx: tx.run("UPDATE generations SET removed = removed + 200", {}))
        again = next(hit for hit in vault.recall("automobile") if hit.text == first.text)
        assert first.reasons.vector_score is not None
        assert again.reasons.vector_score is not None
        assert again.reasons.vector_score < first.reasons.vector_score - 0.2


@pytest.mark.feature("G17")
def test_a_model_that_another_connection_brings_in_is_seen_by_the_next_question(place: Path) -> None:
    old, new = scripted("first"), scripted("second", 32)
    with opened(place, old) as vault:
        vault.memories.save("my car is red")
        vault.admin.index.update()
        assert vault.recall("automobile").rung is SearchMode.HYBRID
        with beside(place) as database:
            database.write(lambda tx: backlog.begin_generation(tx, new.identity, START))
            while backlog.embed_step(database, new, size=backlog.StepSize(16), cache_entries=0, now=START).count:
                pass
        found = vault.recall("car")
        assert found.rung is SearchMode.TEXT
        assert (found.degraded or "").startswith("another process made the index for another model")


def test_without_a_write_the_same_question_has_the_same_answer(place: Path) -> None:
    with opened(place, scripted()) as vault:
        vault.memories.save("my car is red")
        first, again = vault.recall("automobile"), vault.recall("automobile")
        assert [(hit.text, hit.score) for hit in first] == [(hit.text, hit.score) for hit in again]
