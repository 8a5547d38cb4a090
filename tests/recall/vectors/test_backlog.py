"""What was just written is found by meaning at the next question; no write waits for the model."""

import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum.domain.hit import Reasons, SearchMode
from recollectum.domain.models.embedder import Purpose
from recollectum.recall.index.passages import ECHO_CHARACTERS, text_hash
from recollectum.recall.vectors import backlog
from recollectum.recall.vectors.quantisation import quantise
from recollectum.recall.vectors.vector_search import FEW_PARTS, STEP
from recollectum.storage.port import Tx
from recollectum.vault.vault import Vault
from tests.crashes.programs import run
from tests.matrix.homes import Turning
from tests.recall.homes import beside, change, opened, rows, scripted

pytestmark = pytest.mark.process


@pytest.mark.feature("G11")
def test_what_was_just_written_is_found_by_meaning(place: Path) -> None:
    with opened(place, scripted()) as vault:
        vault.memories.save("tea is green")
        vault.recall("anything")
        memory = vault.memories.save("my car is red").memory
        hit = vault.recall("automobile")[0]
        assert (hit.source.memory_id, hit.reasons.vector_rank, hit.reasons.text_rank) == (memory.id, 1, None)
        message = vault.sessions.open().add("user", "the doctor called", speaker="Ann")
        hit = vault.recall("physician")[0]
        assert (hit.source.message_id, hit.reasons.vector_rank, hit.reasons.text_rank) == (message.id, 1, None)
        vault.memories.edit(memory.id, "my cat is red")
        assert vault.recall("feline")[0].text == "my cat is red"


@pytest.mark.feature("G11")
def test_no_write_asks_the_embedder(place: Path) -> None:
    embedder = scripted()
    with opened(place, embedder) as vault:
        memory = vault.memories.save("my car is red", key="car").memory
        vault.memories.edit(memory.id, "my car is blue")
        vault.memories.supersede(memory.id, "my car is gone")
        chat = vault.sessions.open()
        chat.add("user", "the doctor called")
        vault.memories.forget(vault.memories.save("a cat").id)
        vault.admin.lifecycle.run()
        vault.sessions.delete(chat.id)
        vault.admin.index.rebuild()
        vault.admin.totals()
        assert embedder.calls == []
        vault.recall("car")
        assert embedder.passages == ["my car is gone"]


def test_a_turn_is_embedded_with_its_speaker(place: Path) -> None:
    embedder = scripted()
    with opened(place, embedder) as vault:
        vault.sessions.open().add("user", "hello", speaker="Ann")
        vault.sessions.open().add("assistant", "hello")
        vault.admin.index.update()
    assert embedder.passages == ["Ann: hello", "assistant: hello"]


def test_nothing_is_embedded_twice(place: Path) -> None:
    embedder = scripted()
    with opened(place, embedder) as vault:
        for number in range(3 * STEP):
            vault.memories.save(f"number {number} of many")
        assert vault.admin.index.update() == 3 * STEP
        assert vault.admin.index.update() == 0
        vault.recall("number")
        vault.admin.index.rebuild()
        assert vault.admin.index.update() == 3 * STEP
    with opened(place, embedder) as vault:
        vault.recall("number")
    assert sorted(embedder.passages) == sorted({*embedder.passages})


@pytest.mark.feature("G11")
def test_a_question_does_not_wait_for_a_slow_embedder(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollectum.recall.vectors.vector_search.PATIENCE_SECONDS", 0.02)
    embedder, begun, over = scripted(), threading.Event(), threading.Event()

    def work(_texts: object, purpose: Purpose) -> None:
        if purpose is Purpose.PASSAGE:
            begun.set()
            over.wait(30)
        else:
            begun.wait(30)

    embedder.fail = work
    with opened(place, embedder) as vault:
        for number in range(4 * STEP):
            vault.memories.save(f"number {number} of many")
        found = vault.recall("many number 7")
        assert not over.is_set()
        assert found.rung is SearchMode.HYBRID
        behind = f"about {4 * STEP} chunks are not yet in the semantic index"
        assert found.degraded == f"{behind}; run: recollectum index update"
        assert "number 7 of many" in [hit.text for hit in found]
        over.set()
        vault.admin.index.update()
        assert vault.recall("many number 7").degraded is None


def test_a_question_waits_a_tenth_of_a_second_at_most_and_works_in_short_steps() -> None:
    # As shipped: the tests run with more patience, so that a busy machine spoils none.
    program = "from recollectum.recall.vectors import vector_search as v; print(v.PATIENCE_SECONDS, v.STEP)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["0.1", "16"]


def test_long_texts_are_embedded_one_by_one_while_a_question_waits(place: Path) -> None:
    embedder, batches = scripted(), list[list[str]]()

    def work(texts: Sequence[str], purpose: Purpose) -> None:
        if purpose is Purpose.PASSAGE:
            batches.append(list(texts))

    embedder.fail = work
    with opened(place, embedder) as vault:
        for number in range(3):
            vault.memories.save(f"number {number} " + "of many words " * 70)
        for number in range(20):
            vault.memories.save(f"number {number} of few")
        assert vault.recall("number").degraded is None
        assert len(batches[0]) == 1
        assert all(len(batch) == 1 or sum(map(len, batch)) <= 1200 for batch in batches)
        batches.clear()
        # Nobody waits for an update, so it takes as many as go.
        for letter in "abc":
            vault.memories.save(letter * 900)
        vault.admin.index.update()
        assert [len(batch) for batch in batches] == [3]


def test_the_end_of_a_very_long_turn_is_not_read_for_the_turns_after_it(place: Path) -> None:
    embedder = scripted()
    with opened(place, embedder) as vault:
        chat = vault.sessions.open()
        chat.add("user", "hello " * ECHO_CHARACTERS + "a giraffe")
        vault.admin.index.update()
        chat.add("user", "hello to a giraffe")
        vault.admin.index.update()
    # Of the two words that tell something, one is in the part that counts.
    assert rows(place, "SELECT echo FROM chunks ORDER BY number DESC LIMIT 1") == [(0.5,)]


@pytest.mark.feature("G11")
def test_the_rest_is_embedded_behind_the_answers(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder, begun, over = scripted(), threading.Event(), threading.Event()
    monkeypatch.setattr("recollectum.recall.vectors.vector_search.PATIENCE_SECONDS", 0.0)

    def work(_texts: object, purpose: Purpose) -> None:
        if purpose is Purpose.PASSAGE:
            begun.set()
            over.wait(30)
        else:
            begun.wait(30)

    embedder.fail = work
    with opened(place, embedder) as vault:
        for number in range(10 * STEP):
            vault.memories.save(f"number {number} of many")
        assert "not yet in the semantic index" in (vault.recall("number").degraded or "")
        over.set()
        # Nobody asks again; the file is watched from beside.
        for _ in range(1000):
            if len(rows(place, "SELECT 1 FROM vectors")) == 10 * STEP:
                break
            threading.Event().wait(0.01)
        assert len(rows(place, "SELECT 1 FROM vectors")) == 10 * STEP


@pytest.mark.feature("G17")
def test_a_question_does_not_wait_for_who_has_the_pen(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollectum.recall.vectors.vector_search.PATIENCE_SECONDS", 0.02)
    with opened(place, scripted()) as vault:
        vault.memories.save("my car is red")
        vault.admin.index.update()
        vault.memories.save("the doctor called")
        with beside(place) as other:

            def ask(_: Tx) -> tuple[list[str], SearchMode, str | None]:
                # A whole transaction of somebody else's goes on around it.
                found = vault.recall("automobile")
                return [hit.text for hit in found], found.rung, found.degraded

            texts, rung, why = other.write(ask)
        assert (texts[0], rung) == ("my car is red", SearchMode.HYBRID)
        assert why == "about 1 chunks are not yet in the semantic index; run: recollectum index update"
        monkeypatch.undo()
        assert vault.recall("physician")[0].text == "the doctor called"


@pytest.mark.feature("G6")
def test_a_vector_is_kept_by_model_and_text_and_the_oldest_go(place: Path, clock: Turning) -> None:
    with opened(place, scripted(), clock=clock, settings={"embedding.cache_entries": 3}) as vault:
        for number in range(5):
            vault.memories.save(f"number {number}")
            vault.admin.index.update()
            clock.turn(timedelta(minutes=1))
        assert rows(place, "SELECT count(*) FROM embedding_cache") == [(3,)]
    again = scripted()
    with opened(place, again, clock=clock, settings={"embedding.cache_entries": 3}) as vault:
        vault.admin.index.rebuild()
        vault.admin.index.update()
    assert sorted(again.passages) == ["number 0", "number 1"]
    # Nothing of one model is taken for another's, though it has the same texts and the same length.
    other = scripted("other")
    with opened(place, other, clock=clock) as vault:
        vault.admin.index.update()
    assert len(other.passages) == 5


@pytest.mark.feature("G6")
def test_after_a_full_reindex_the_cache_is_bounded_and_the_older_models_are_out(place: Path, clock: Turning) -> None:
    few = {"embedding.cache_entries": 50}
    for name, kept in (("first", [40]), ("second", [10, 40]), ("third", [10, 40])):
        with opened(place, scripted(name), clock=clock, settings=few) as vault:
            for number in range(40):
                vault.memories.save(f"number {number}")
            vault.admin.index.update()
        clock.turn(timedelta(minutes=1))
        counts = rows(place, "SELECT count(*) FROM embedding_cache GROUP BY model ORDER BY max(used_at)")
        assert [count for (count,) in counts] == kept


@pytest.mark.feature("G6")
@pytest.mark.parametrize("part", ["provider", "model", "provider_key", "digest", "form", "dimensions"])
def test_the_key_of_the_cache_has_every_part_of_the_identity_and_the_text(part: str) -> None:
    identity = scripted().identity
    other = replace(identity, **{part: 7 if part == "dimensions" else "another"})
    assert backlog.model_key(other) != backlog.model_key(identity)
    assert backlog.model_key(replace(identity)) == backlog.model_key(identity)
    assert text_hash("one") != text_hash("two")


def test_without_a_cache_nothing_is_kept_in_it(place: Path) -> None:
    with opened(place, scripted(), settings={"embedding.cache_entries": 0}) as vault:
        vault.memories.save("my car is red")
        assert vault.recall("automobile")
    assert rows(place, "SELECT count(*) FROM embedding_cache") == [(0,)]


def _left(place: Path, secrets: list[str]) -> list[str]:
    """Which of these are anywhere under the home: words as they are, vectors by their bytes."""
    return run("tests.recall.grepping_program", str(place / "home"), *secrets)


def _vector(text: str) -> str:
    """The bytes of the vector that a text is given."""
    return "0x" + quantise(scripted().embed([text], Purpose.PASSAGE))[0].hex()


@pytest.mark.feature("G6")
def test_no_vector_outlives_what_it_was_made_of(place: Path, clock: Turning) -> None:
    first, edited, said = "the wqzkvbtrnx is red", "the hjkzpqwvbm is blue", "xcvrtplkmw called"
    secrets = [_vector(first), _vector(edited), _vector(f"Ann: {said}")]
    with opened(place, scripted("previous"), clock=clock) as vault:
        vault.memories.save("a text that stays")
        memory = vault.memories.save(first).memory
        chat = vault.sessions.open()
        chat.add("user", said, speaker="Ann")
        vault.admin.index.update()
    with opened(place, scripted(), clock=clock) as vault:
        vault.admin.index.update()
        vault.memories.edit(memory.id, edited)
        vault.admin.index.update()
        kept = rows(place, "SELECT count(DISTINCT generation) FROM vectors")
        assert kept == [(2,)]
        assert len(_left(place, secrets)) >= 3
        vault.memories.forget(memory.id)
        assert vault.sessions.delete(chat.id)
        assert rows(place, "SELECT count(*) FROM vectors") == [(2,)], "one text is left, in two generations"
        clock.turn(timedelta(days=8))
        assert vault.admin.lifecycle.run().erased
        assert _left(place, [*secrets, "wqzkvbtrnx", "hjkzpqwvbm", "xcvrtplkmw"]) == []
        assert rows(place, "SELECT count(*) FROM embedding_cache") == [(2,)]
        assert len(_left(place, [_vector("a text that stays")])) == 1


def test_what_is_forgotten_while_the_model_works_does_not_come_back(place: Path) -> None:
    embedder = scripted()
    with opened(place, embedder) as vault:
        kept = vault.memories.save("a text that stays").memory
        gone = vault.memories.save("a text that goes").memory

        def forget(_texts: object, purpose: Purpose) -> None:
            if purpose is Purpose.PASSAGE:
                vault.memories.forget(gone.id)

        embedder.fail = forget
        assert [hit.source.memory_id for hit in vault.recall("text")] == [kept.id]
        assert rows(place, "SELECT count(*) FROM vectors") == [(1,)]
        assert rows(place, "SELECT count(*) FROM embedding_cache") == [(1,)]


def test_many_edits_do_not_crowd_out_what_stands(place: Path) -> None:
    embedder = scripted()
    with opened(place, embedder) as vault:
        for number in range(10):
            vault.memories.save(f"tea of sort {number}")
        memory = vault.memories.save("my car is red 0").memory
        for number in range(1, 102):
            vault.memories.edit(memory.id, f"my car is red {number}")
            vault.recall("automobile")
        hit = vault.recall("automobile", limit=5)[0]
        assert (hit.source.memory_id, hit.reasons.vector_rank) == (memory.id, 1)


def test_the_generation_vanishing_while_the_model_works_is_no_error(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first question waits as long as it may, because the work never ends.
    monkeypatch.setattr("recollectum.recall.vectors.vector_search.PATIENCE_SECONDS", 0.5)
    embedder = scripted()
    with opened(place, embedder) as vault:
        vault.memories.save("my car is red")

        def drop(_texts: object, purpose: Purpose) -> None:
            if purpose is Purpose.PASSAGE:
                change(place, "DELETE FROM generations")

        embedder.fail = drop
        assert [hit.text for hit in vault.recall("car")] == ["my car is red"]
        embedder.fail = None
        assert vault.recall("automobile").rung is SearchMode.HYBRID


@pytest.mark.feature("G11")
def test_the_parts_of_the_text_index_are_merged_by_an_update_and_after_questions(place: Path) -> None:
    with opened(place, scripted()) as vault:
        for number in range(40):
            vault.memories.save(f"number {number} of many")
        before, parts = _ranking(vault), _parts(place)
        vault.admin.index.update()
        assert _parts(place) <= 2 < parts
        assert _ranking(vault) == before
        for number in range(40, 200):
            vault.memories.save(f"number {number} of many")
            if _parts(place) > FEW_PARTS:
                break
        assert _parts(place) > FEW_PARTS
        before = _ranking(vault)
        vault.recall("number 7 of many")
        for _ in range(500):
            if _parts(place) <= FEW_PARTS:
                break
            threading.Event().wait(0.01)
        assert _parts(place) <= FEW_PARTS
        assert _ranking(vault) == before


def _ranking(vault: Vault) -> list[tuple[str, Reasons]]:
    return [(hit.text, hit.reasons) for hit in vault.recall("number 7 of many", meaning=False)]


def _parts(place: Path) -> int:
    with beside(place) as database:
        return database.read(lambda tx: tx.text.parts)
