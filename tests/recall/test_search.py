"""What comes with a hit and what makes it one: neighbours, times, agents, channels and trust."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.domain.session import SessionKey
from recollectum.domain.trust import Trust
from recollectum.text.tokens import estimate
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning
from tests.recall.homes import opened, scripted


@pytest.fixture(params=["words", "meaning"])
def vault(request: pytest.FixtureRequest, place: Path, clock: Turning) -> Iterator[Vault]:
    with opened(place, scripted() if request.param == "meaning" else None, clock=clock) as found:
        yield found


def _texts(vault: Vault, query: str, **filters: str) -> list[str]:
    return [hit.text for hit in vault.recall(query, **filters)]  # pyright: ignore[reportArgumentType]


@pytest.mark.feature("A12")
def test_a_turn_comes_with_what_was_said_beside_it(vault: Vault) -> None:
    chat = vault.sessions.open()
    asked = chat.add("user", "where shall we eat?", speaker="Ann")
    chat.add("user", "the lighthouse restaurant, as always", speaker="Ben")
    after = chat.add("assistant", "I have booked it. " + "Really. " * 200)
    hit = vault.recall("lighthouse")[0]
    assert hit.before is not None
    assert (hit.before.message_id, hit.before.author, hit.before.text) == (asked.id, "Ann", "where shall we eat?")
    assert hit.after is not None
    assert hit.after.message_id == after.id
    # Of a long one the part that is nearest.
    assert hit.after.text.startswith("I have booked it. ")
    assert hit.after.text.endswith("…")
    assert len(hit.after.text) < 700


def test_turns_of_two_conversations_at_once_come_with_what_was_said_in_their_own(vault: Vault) -> None:
    one, other = (vault.sessions.open_key(SessionKey(agent=agent, channel="home")) for agent in ("planner", "cook"))
    # The chunk number between two turns may also belong to a memory, or be missing after a long turn.
    for place in range(3):
        one.add("user", f"plan number {place}" + (" and the lighthouse" if place == 1 else ""))
        vault.memories.save(f"remark {place}")
        other.add("user", f"recipe number {place}" + (" and the harbour" if place == 1 else " more flour" * 300))
    hit = vault.recall("lighthouse")[0]
    assert hit.before is not None
    assert hit.after is not None
    assert (hit.before.text, hit.after.text) == ("plan number 0", "plan number 2")
    hit = vault.recall("harbour")[0]
    assert hit.before is not None
    assert hit.after is not None
    assert hit.before.text.endswith(" more flour")
    assert hit.after.text.startswith("recipe number 2")


def test_the_first_turn_has_nothing_before_it_and_a_memory_nothing_beside_it(vault: Vault) -> None:
    chat = vault.sessions.open()
    chat.add("user", "the lighthouse is closed")
    vault.memories.save("the harbour is open")
    hit = vault.recall("lighthouse")[0]
    assert (hit.before, hit.after) == (None, None)
    hit = vault.recall("harbour")[0]
    assert (hit.before, hit.after) == (None, None)


def test_a_filter_leaves_no_neighbour_that_it_would_not_leave_as_a_hit(vault: Vault) -> None:
    chat = vault.sessions.open()
    chat.add("user", "where shall we eat?", speaker="Ann")
    chat.add("user", "the lighthouse restaurant", speaker="Ben")
    assert vault.recall("lighthouse", speaker="Ben")[0].before is None
    assert vault.recall("lighthouse")[0].before is not None


def test_a_budget_pays_for_hits_first_and_then_for_neighbours(vault: Vault) -> None:
    chat = vault.sessions.open()
    chat.add("user", "where shall we eat this evening, and when?", speaker="Ann")
    chat.add("user", "the lighthouse restaurant", speaker="Ben")
    # What is nearest in meaning may be the turn before as well.
    alone = estimate("the lighthouse restaurant")
    for tokens in range(alone, 60):
        found = vault.recall("lighthouse", tokens=tokens)
        beside = [one.text for hit in found for one in (hit.before, hit.after) if one]
        assert sum(map(estimate, [*(hit.text for hit in found), *beside])) <= tokens
        assert found[0].text == "the lighthouse restaurant"
    assert vault.recall("lighthouse", tokens=alone)[0].before is None
    assert vault.recall("lighthouse", tokens=200)[0].before is not None


@pytest.mark.feature("A12")
def test_agents_and_channels_are_kept_apart(vault: Vault) -> None:
    for agent in ("cook", "guide"):
        for channel in ("web", "phone"):
            chat = vault.sessions.open_key(SessionKey(agent=agent, channel=channel))
            message = chat.add("user", f"a lighthouse for {agent} on {channel}")
            vault.memories.save(f"the lighthouse of {agent}, {channel}", agent=agent, message_id=message.id)
    vault.memories.save("the lighthouse of nobody")
    assert len(_texts(vault, "lighthouse")) == 9
    assert {text for text in _texts(vault, "lighthouse", agent="cook")} == {
        "a lighthouse for cook on web",
        "a lighthouse for cook on phone",
        "the lighthouse of cook, web",
        "the lighthouse of cook, phone",
    }
    assert set(_texts(vault, "lighthouse", channel="phone")) == {
        "a lighthouse for cook on phone",
        "the lighthouse of cook, phone",
        "a lighthouse for guide on phone",
        "the lighthouse of guide, phone",
    }
    both = _texts(vault, "lighthouse", agent="guide", channel="web")
    assert set(both) == {"a lighthouse for guide on web", "the lighthouse of guide, web"}
    assert _texts(vault, "lighthouse", agent="nobody") == []


def test_trust_is_a_least(vault: Vault) -> None:
    chat = vault.sessions.open()
    for role in ("user", "assistant", "tool"):
        chat.add(role, f"a lighthouse by the {role}")
    vault.memories.save("my own lighthouse")
    found = {trust: {hit.trust for hit in vault.recall("lighthouse", trust=trust)} for trust in Trust}
    assert found[Trust.OWNER] == {Trust.OWNER}
    assert found[Trust.ASSISTANT] == {Trust.OWNER, Trust.ASSISTANT}
    assert found[Trust.UNKNOWN] == {Trust.OWNER, Trust.ASSISTANT, Trust.TOOL}
    with pytest.raises(InvalidInput, match="'blind' is unknown; use one of owner"):
        vault.recall("lighthouse", trust="blind")  # pyright: ignore[reportArgumentType]


@pytest.mark.feature("A12")
def test_what_was_said_in_a_named_time_is_found_by_the_time(vault: Vault, clock: Turning) -> None:
    chat = vault.sessions.open()
    chat.add("user", "the roof leaks a little", at=START - timedelta(days=40))
    said = chat.add_many(
        [NewMessage(role="user", content="we painted a boat", at=datetime(2025, 5, 14, 12, tzinfo=UTC))]
        + [
            NewMessage(role="user", content=f"nothing happened, day {day}", at=START - timedelta(days=day))
            for day in (3, 2)
        ]
    )
    clock.turn(timedelta(days=1))
    hits = vault.recall("what did we do on 14 May 2025?")
    assert hits[0].source.message_id == said[0].id
    assert dict(hits[0].reasons.added)["when"] > 1


def test_words_that_date_a_question_are_not_looked_for(vault: Vault) -> None:
    vault.sessions.open().add("user", "two weeks are too long a holiday")
    hits = vault.recall("which boat did I paint two weeks ago?")
    assert all(term not in ("weeks", "two", "ago") for hit in hits for term in hit.reasons.terms)
    # Where nothing else is asked, they are.
    assert vault.recall("two weeks")[0].text == "two weeks are too long a holiday"


def test_an_event_dates_what_was_said_before_it(vault: Vault) -> None:
    chat = vault.sessions.open()
    before = chat.add("user", "the boat was red in those days", at=START - timedelta(days=30))
    chat.add("user", "the regatta was great", at=START - timedelta(days=20))
    chat.add("user", "the boat was red once more", at=START - timedelta(days=10))
    hits = {
        hit.source.message_id: dict(hit.reasons.added) for hit in vault.recall("was the boat red before the regatta?")
    }
    assert hits[before.id]["when"] > 0
    later = next(added for message, added in hits.items() if message not in (before.id, None) and "when" not in added)
    assert "when" not in later
