"""A turn is ranked by the matches around it in its dialogue, and an assistant's turns by whether they are asked for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum.domain.hit import Hit, RecallResult
from recollectum.domain.message import Role
from recollectum.recall.scoring import (
    AFTER_TURNS,
    ASSISTANT_WEIGHT,
    BEFORE_TURNS,
    WORDS_ALONE_WEIGHT,
    asks_the_assistant,
)
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning
from tests.recall.homes import opened, scripted

QUESTION = "white lighthouse view"
_SUBJECT = "on Sunday we climbed the white lighthouse"
_FOLLOW_UP = "super good, with a great view"
_ELSEWHERE = "rather bad, with a poor view"
_CONTEXT = {"before", "after", "session"}


@pytest.fixture
def vault(place: Path, clock: Turning) -> Iterator[Vault]:
    """Without an embedder, so that only the turns that share a word with the question are matches."""
    with opened(place, None, clock=clock) as found:
        _say(found, ("Cid", _ELSEWHERE), channel="mail")
        yield found


def _say(vault: Vault, *said: tuple[str, str], channel: str = "web") -> None:
    chat = vault.sessions.open(channel=channel)
    for speaker, text in said:
        chat.add("user", text, speaker=speaker)


def _fillers(count: int) -> list[tuple[str, str]]:
    return [(f"P{number % 2}", f"something else, number {number}") for number in range(count)]


def _hit(found: RecallResult, text: str) -> Hit:
    (hit,) = (one for one in found if one.text == text)
    return hit


def _gains(found: RecallResult, text: str) -> dict[str, float]:
    return {name: value for name, value in _hit(found, text).reasons.added if name in _CONTEXT}


@pytest.mark.feature("A12")
def test_a_follow_up_gains_from_the_turn_that_names_its_subject(vault: Vault) -> None:
    _say(vault, ("Ann", _SUBJECT), ("Ben", _FOLLOW_UP))
    # The newer one would be first if both matched equally.
    _say(vault, ("Dee", "quite fine, with a nice view"), channel="phone")
    found = vault.recall(QUESTION)
    assert _gains(found, _FOLLOW_UP).keys() == {"before", "session"}
    assert not _gains(found, _ELSEWHERE)
    assert [hit.text for hit in found][:2] == [_SUBJECT, _FOLLOW_UP]


@pytest.mark.feature("A12")
def test_turns_of_which_only_the_meaning_matches_gain_as_well(place: Path) -> None:
    with opened(place, scripted()) as vault:
        _say(vault, ("Ann", "the car is in the street"), ("Ben", "really, since when?"))
        _say(vault, *_fillers(6), channel="phone")
        assert {"before", "session"} <= _gains(
            vault.recall("automobile street", limit=20), "really, since when?"
        ).keys()


@pytest.mark.parametrize(
    ("between", "gains"), [(BEFORE_TURNS - 1, {"before", "session"}), (BEFORE_TURNS, {"session"})], ids=["in", "out"]
)
def test_a_match_far_before_a_turn_counts_as_one_of_its_session(vault: Vault, between: int, gains: set[str]) -> None:
    _say(vault, ("Ann", _SUBJECT), *_fillers(between), ("Ben", _FOLLOW_UP))
    assert _gains(vault.recall(QUESTION), _FOLLOW_UP).keys() == gains


@pytest.mark.parametrize(
    ("between", "gains"), [(AFTER_TURNS - 1, {"after", "session"}), (AFTER_TURNS, {"session"})], ids=["in", "out"]
)
def test_a_match_far_after_a_turn_counts_as_one_of_its_session(vault: Vault, between: int, gains: set[str]) -> None:
    _say(vault, ("Ben", _FOLLOW_UP), *_fillers(between), ("Ann", _SUBJECT))
    assert _gains(vault.recall(QUESTION), _FOLLOW_UP).keys() == gains


def test_what_one_person_writes_one_after_the_other_gains_nothing(vault: Vault) -> None:
    _say(vault, ("Ann", _SUBJECT), ("Ann", _FOLLOW_UP))
    found = vault.recall(QUESTION)
    assert not _gains(found, _FOLLOW_UP)
    assert not _gains(found, _SUBJECT)


def test_turns_of_other_sessions_and_memories_are_no_context(vault: Vault) -> None:
    _say(vault, ("Ann", "a view, they say"), ("Ben", _FOLLOW_UP))
    _say(vault, ("Cid", _SUBJECT), ("Dee", "hello"), channel="phone")
    vault.memories.save("the lighthouse is white")
    found = vault.recall(QUESTION)
    assert not _gains(found, _FOLLOW_UP)
    assert not _gains(found, _SUBJECT)
    assert not _gains(found, "the lighthouse is white")


def test_a_turn_that_the_filters_leave_out_has_no_influence(vault: Vault) -> None:
    chat = vault.sessions.open()
    # A match, but a weak one.
    chat.add("user", f"a view, they say, {'and so on, for ever and ever, ' * 9}", speaker="Ann")
    chat.add(Role.TOOL, _SUBJECT)
    chat.add("user", _FOLLOW_UP, speaker="Ben")
    assert _gains(vault.recall(QUESTION, untrusted=True), _FOLLOW_UP)
    assert not _gains(vault.recall(QUESTION, trust="assistant"), _FOLLOW_UP)


def test_an_assistant_ranks_lower_unless_the_question_asks_for_what_it_said(vault: Vault) -> None:
    said = {Role.USER: "the lighthouse, by the user", Role.ASSISTANT: "the lighthouse, by the model"}
    for role, text in said.items():
        vault.sessions.open(channel=role.value).add(role, text)
    found = vault.recall(QUESTION)
    # The vault has no vectors.
    lowered = dict(_hit(found, said[Role.ASSISTANT]).reasons.added)["assistant"]
    assert lowered == pytest.approx(-ASSISTANT_WEIGHT * WORDS_ALONE_WEIGHT)
    assert "assistant" not in dict(_hit(found, said[Role.USER]).reasons.added)
    for asked in (
        vault.recall("what did you say about the lighthouse?"),
        vault.recall(QUESTION, speaker="assistant"),
    ):
        assert "assistant" not in dict(_hit(asked, said[Role.ASSISTANT]).reasons.added)


def test_an_assistant_that_the_question_names_does_not_rank_lower(vault: Vault) -> None:
    vault.sessions.open().add(Role.ASSISTANT, "the lighthouse is white", speaker="Marvin")
    assert "assistant" in dict(vault.recall("lighthouse")[0].reasons.added)
    assert "assistant" not in dict(vault.recall("What does Marvin know of the lighthouse?")[0].reasons.added)


@pytest.mark.parametrize(
    "query",
    [
        "what did you suggest for dinner?",
        "which hotel had you recommended",
        "Can you remind me what you said about Rome?",
        "the book you previously mentioned",
        "the link you've given me",
        "the recipe that you’ve written down",
        "your last recommendation for a hike",
        "what was the assistant's answer?",
        "Was hast du mir empfohlen?",
        "Welche Hotels haben Sie vorgeschlagen?",
        "dein Tipp für Rom",
        "Qu'est-ce que tu m'as conseillé ?",
        "Que m’avez-vous dit ?",
        "ta réponse sur la retraite",
        "¿Qué me recomendaste?",
        "¿Qué me has dicho de Roma?",
        "Cosa mi hai consigliato?",
        "O que você sugeriu?",
        "Wat heb je gezegd?",
        "先週勧めてくれた本は？",
        "提案した旅程",
    ],
)
def test_a_question_for_what_the_assistant_said_is_known(query: str) -> None:
    assert asks_the_assistant(query)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "where do I live?",
        "What did Anna suggest?",
        "Can you tell me where I live?",
        "could you give me the address of my dentist",
        "What have I told you about my dog?",
        "Do you know my sister's name?",
        "can you plan my trip?",
        "young people said so",
        "Wo haben sie geheiratet?",
        "Wo wohne ich?",
        "Peux-tu me dire où j'habite ?",
        "¿Dónde vivo?",
        "Dove abito?",
        "Waar woon ik?",
        "私の住所を教えて",
    ],
)
def test_a_request_and_a_question_for_others_are_no_such_question(query: str) -> None:
    assert not asks_the_assistant(query)


def test_by_words_alone_a_rare_word_outweighs_who_said_it(place: Path) -> None:
    with opened(place, None) as vault:
        chat = vault.sessions.open()
        for number in range(6):
            chat.add("assistant" if number % 2 else "user", f"remark{number} about teal")
        assert vault.recall("remark5 teal")[0].text == "remark5 about teal"
