"""What is looked up of the candidates: those that both arms put first, and nothing in the place of what is served."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum.policy.clock import ClockReading
from recollectum.recall import pipeline
from recollectum.recall.query import RecallQuery
from recollectum.recall.ranking import CandidatePool, ParsedQuestion, Ranking, rank_candidates, text_arm_starved
from recollectum.storage.port import Tx
from recollectum.text.terms.analyser import Phrase
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning
from tests.recall.homes import beside, opened, scripted

SIZE = pipeline.POOL
_READING = ClockReading(now=START, policy_now=START)


@pytest.fixture(params=["words", "meaning"])
def vault(request: pytest.FixtureRequest, place: Path, clock: Turning) -> Iterator[Vault]:
    with opened(place, scripted() if request.param == "meaning" else None, clock=clock) as found:
        yield found


def _asked(tx: Tx, query: str, size: int = SIZE) -> tuple[ParsedQuestion, CandidatePool]:
    """A question and what the words of a vault without vectors say to it, from as many chunks as there are."""
    question = pipeline.parse(tx, _READING, RecallQuery(text=query, limit=10))
    words = tx.text.matches([Phrase(term.term) for term in question.terms])
    return question, CandidatePool(words.best(1_000), [], [], words, None, size)


def _ranked(tx: Tx, query: str, size: int) -> tuple[CandidatePool, Ranking]:
    question, arms = _asked(tx, query, size)
    return arms, rank_candidates(question, arms)


def _many(vault: Vault, count: int, *, apart: bool = False) -> None:
    """Turns by many speakers that match the better the later they come; in one session, or in one for each speaker."""
    said = [
        NewMessage(
            role="user", speaker=f"P{number % 7}", content=f"boat {number} " + "sail " * (number % 40) + "at sea"
        )
        for number in range(count)
    ]
    if not apart:
        vault.sessions.open().add_many(said)
        return
    for speaker in range(7):
        vault.sessions.open(channel=f"of P{speaker}").add_many(said[speaker::7])


@pytest.mark.feature("G11")
def test_the_head_is_the_same_as_if_everything_were_looked_up(place: Path) -> None:
    with opened(place, None) as vault:
        # In a dialogue, a weak match gains from a strong one before it.
        _many(vault, 300, apart=True)
    with beside(place) as database:
        (arms, some), (_, every) = (database.read(lambda tx: _ranked(tx, "a sail", size)) for size in (SIZE, 10_000))  # noqa: B023
    assert len(some.looked) == SIZE < len(every.looked) == len(arms.numbers)
    assert some.known.keys() == some.looked
    assert [one.number for one in some.ranked[:30]] == [one.number for one in every.ranked[:30]]
    assert [one.score for one in some.ranked[:30]] == pytest.approx([one.score for one in every.ranked[:30]])


def test_a_name_or_a_time_in_the_question_may_bring_up_what_the_arms_put_last(place: Path) -> None:
    with opened(place, None) as vault:
        _many(vault, 300)
    with beside(place) as database:
        for query in ("a sail by P3", "a sail in March 2026"):
            arms, found = database.read(lambda tx: _ranked(tx, query, SIZE))  # noqa: B023
            assert found.looked == set(arms.numbers)


@pytest.mark.feature("G11")
@pytest.mark.parametrize("expired", [40, 150, 600])
def test_what_has_expired_takes_no_places(vault: Vault, clock: Turning, expired: int) -> None:
    for number in range(expired):
        vault.memories.save(f"lighthouse {number} keeper", ttl=timedelta(days=1))
    served = {f"far away on island {number} stands some lighthouse or other" for number in range(8)}
    for text in served:
        vault.memories.save(text)
    clock.turn(timedelta(days=2))
    assert {hit.text for hit in vault.recall("lighthouse keeper", limit=8)} == served


@pytest.mark.feature("G11")
def test_what_has_expired_takes_no_places_of_what_only_means_the_same(place: Path, clock: Turning) -> None:
    with opened(place, scripted(), clock=clock) as vault:
        for number in range(150):
            vault.memories.save(f"car {number}", ttl=timedelta(days=1))
        vault.memories.save("the car of my aunt was old and blue")
        vault.admin.index.update()
        clock.turn(timedelta(days=2))
        assert [hit.text for hit in vault.recall("automobile")] == ["the car of my aunt was old and blue"]


@pytest.mark.feature("G11")
def test_of_what_is_not_served_some_is_left_out_before_it_is_known(place: Path, clock: Turning) -> None:
    with opened(place, None, clock=clock) as vault:
        for number in range(100):
            vault.memories.save(f"{'sail ' * 45}{number}", ttl=timedelta(days=1))
        _many(vault, 100)
    later = ClockReading(now=START + timedelta(days=2), policy_now=START + timedelta(days=2))

    def look(tx: Tx) -> tuple[CandidatePool, Ranking]:
        question = pipeline.parse(tx, later, RecallQuery(text="sail", limit=10))
        arms = _asked(tx, "sail")[1]
        return arms, rank_candidates(question, arms)

    with beside(place) as database:
        arms, found = database.read(look)
    # Everything is looked up then, and the matches are asked for once more.
    assert found.looked == set(arms.numbers)
    assert all(found.known[one.number].source == "sessions" for one in found.ranked)
    assert text_arm_starved(arms, found)


def test_one_long_text_crowds_the_matches_and_others_are_found_all_the_same(vault: Vault) -> None:
    chat = vault.sessions.open()
    chat.add("user", "\n\n".join(f"The lighthouse, part {n}. " + f"word{n} " * 150 for n in range(120)), speaker="Ann")
    for number in range(4):
        chat.add("user", f"on island {number} there stands, so they say, a lighthouse too", speaker=f"P{number}")
    assert len(vault.recall("lighthouse", limit=5)) == 5


@pytest.mark.feature("A12")
@pytest.mark.parametrize("limit", [1, 5, 10, 15])
def test_hits_are_the_same_however_many_are_looked_up_where_the_first_say_the_same(vault: Vault, limit: int) -> None:
    chat = vault.sessions.open()
    for number in range(6):
        chat.add("user", "The boat is blue!" if number % 2 else "the boat is blue", speaker="Ann")
        chat.add("user", f"number {number}, then, of what there is to say", speaker="Ben")
    for number in range(20):
        chat.add("user", f"a boat in harbour {number} which is {'long ' * number} and grey", speaker=f"P{number}")
    most = [hit.text for hit in vault.recall("boat blue", limit=15)]
    assert len(most) == 15
    assert sum(text.lower().startswith("the boat is blue") for text in most) == 1
    assert [hit.text for hit in vault.recall("boat blue", limit=limit)] == most[:limit]
