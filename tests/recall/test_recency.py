"""Of statements about the same thing the newest comes first, unless the question asks for the past."""

from datetime import timedelta
from pathlib import Path

import pytest

from recollectum.recall.recency import (
    FRAME_GAP,
    LONGEST_STATEMENT,
    REWORDED_GAP,
    WHOLE_NAME_WEIGHT,
    DatedStatement,
    TimeOrder,
    asked_words,
    order_by_recency,
    prefer_whole_names,
    statement_words,
    time_order,
)
from recollectum.text.terms.analyser import index_terms, query_terms
from recollectum.text.terms.names import find_names, has_whole_names
from tests.matrix.homes import Turning
from tests.recall.homes import opened

pytestmark = pytest.mark.process


def _order(question: str, *texts: str, turn: bool = False, near: tuple[float, ...] = ()) -> list[str]:
    """Order texts, given best first, of which a later one is also newer."""
    statements = _statements(question, *texts, turn=turn, near=near)
    order = order_by_recency(statements, asked_words(question, query_terms(question)), time_order(question))
    return [texts[number] for number in order]


def _statements(
    question: str, *texts: str, turn: bool = False, near: tuple[float, ...] = (), behind: float = 0.0
) -> list[DatedStatement]:
    asked, names = asked_words(question, query_terms(question)).terms, find_names(question)
    statements: list[DatedStatement] = []
    for place, text in enumerate(texts):
        words = statement_words(index_terms(text))
        statements.append(
            DatedStatement(
                number=place,
                created=place,
                updated=place,
                words=words,
                asked=asked.intersection(words),
                score=-behind * place,
                nearness=near[place] if near else None,
                turn=turn,
                whole=bool(names) and has_whole_names(text, names),
            )
        )
    return statements


def _newest_wins(question: str, older: str, newer: str, **given: object) -> bool:
    return _order(question, older, newer, **given)[0] == newer  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("Where does Ada live?", "Ada lives in Oslo.", "Ada lives in Bergen."),
        ("Where does Ada live?", "Ada lives in Oslo.", "Ada lives now in Bergen."),
        (
            "what is my favourite colour",
            "My favourite colour is blue.",
            "My favourite colour is a dark shade of green.",
        ),
        (
            "What is Ada famous for?",
            "Ada is famous for Rurouni Kenshin.",
            "Ada is famous for The Fairly OddParents and other long series of cartoons.",
        ),
        ("Who heads the works council?", "Ada Berg heads the works council.", "Otto Lang heads the works council."),
        (
            "Which university was Ada at?",
            "Ada was educated at Yale University.",
            "Ada was educated at University of Oslo.",
        ),
        ("Do I work for Bosch?", "I work for Bosch.", "I no longer work for Bosch."),
        # A word of the question in one of the values.
        ("Which university was Ada at?", "Ada was educated at Yale University.", "Ada was educated at Eton."),
        # A first name may be all of a name.
        ("Where does Ada live?", "Ada lives in Oslo.", "Ada Berg lives in Bergen."),
    ],
)
def test_a_newer_value_in_the_same_frame_comes_first(question: str, older: str, newer: str) -> None:
    assert _newest_wins(question, older, newer)


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        # Another subject, whole or in half.
        ("Where does Ada live?", "Ada lives in Oslo.", "Otto lives in Bergen."),
        ("Who is the mayor of Holm?", "The mayor of Holm is Ada Berg.", "The mayor of New Holm is Otto Lang."),
        ("who is the mayor of holm?", "The mayor of Holm is Ada Berg.", "The mayor of New Holm is Otto Lang."),
        ("Who coaches Holm City?", "Ada Berg coaches Holm City.", "Otto Lang coaches Holm United."),
        # Another relation of the same subject.
        ("Who does Ada work for?", "Ada works for Bosch.", "Ada works as a pilot."),
        ("Where do I live?", "I live in Oslo.", "I live with my sister."),
        ("Who wrote Winter Road?", "Winter Road was written by Ada Berg.", "Winter Road was written in Danish."),
        # No word of the question.
        ("What is the plan?", "Ada lives in Oslo.", "Ada lives in Bergen."),
    ],
)
def test_what_is_said_of_another_subject_or_relation_keeps_its_place(question: str, older: str, newer: str) -> None:
    assert not _newest_wins(question, older, newer, near=(1.0, 0.0))


def test_a_frame_that_is_only_the_subject_needs_a_cosine_that_is_as_near() -> None:
    question, home, pet = "Where does Ada Berg live?", "Ada Berg has a home in Oslo.", "Ada Berg has a pet hamster."
    assert _newest_wins(question, home, pet, near=(FRAME_GAP, 0.0))
    assert not _newest_wins(question, home, pet, near=(FRAME_GAP + 0.01, 0.0))
    # A frame with more than the subject needs none: the cosine differs by the value alone.
    assert _newest_wins(question, home, "Ada Berg has a home in Bergen.", near=(5.0, 0.0))


def test_a_statement_in_other_words_competes_if_it_names_the_subject_and_matches_as_well() -> None:
    question, older, newer = "Who does Ada work for?", "Ada works for Bosch.", "The employer of Ada is Siemens."
    assert _newest_wins(question, older, newer, near=(REWORDED_GAP, 0.0))
    assert not _newest_wins(question, older, newer, near=(REWORDED_GAP + 0.01, 0.0))
    # Without vectors, half of all words must be the same.
    assert not _newest_wins(question, older, newer)
    assert _newest_wins(question, "On Monday Ada began to work for Bosch.", "On Friday Ada began to work for Siemens.")
    assert not _newest_wins("Who does Ada Berg work for?", "Ada Berg works for Bosch.", newer, near=(0.0, 0.0))


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("Which pets does Ada have?", True),
        ("What are the hobbies of Ada?", True),
        ("How many cars do I have?", True),
        ("Tell me everything about Ada", True),
        ("What does Ada do?", False),
        ("Which class is Ada in?", False),
        ("What was the name of the dog of Ada?", False),
        ("Where does Ada live?", False),
    ],
)
def test_a_question_in_the_plural_asks_for_all_that_holds_at_once(question: str, several: object) -> None:
    assert asked_words(question, query_terms(question)).several is several
    # Then a newer statement in other words, which may be about something else, does not take the first place.
    older, newer = "Ada has a dog that she walks.", "It was in May that a book came for Ada."
    assert _newest_wins(question, older, newer, near=(0.0, 0.0)) is not several


def test_turns_and_long_texts_compete_only_with_half_of_their_words_in_common() -> None:
    question, older, newer = (
        "What does Ada like?",
        "Ada likes tea.",
        "Ada likes a walk in the hills by the sea.",
    )
    assert _newest_wins(question, older, newer)
    assert not _newest_wins(question, older, newer, turn=True)
    padding = " ".join(f"word{number}" for number in range(LONGEST_STATEMENT))
    other = " ".join(f"other{number}" for number in range(LONGEST_STATEMENT))
    assert not _newest_wins(question, f"Ada likes {padding}", f"Ada likes {other}")
    assert _newest_wins(question, f"Ada likes tea and {padding}", f"Ada likes coffee and {padding}")


def test_a_statement_with_the_whole_name_gains_on_one_with_a_part_of_a_longer_name() -> None:
    question = "Where does Ada Berg live?"
    texts = ("Ada Berg-Holm lives in Rome.", "Ada Maria Berg lives in Paris.", "Ada Berg lives in Oslo.")
    assert prefer_whole_names(_statements(question, *texts, behind=0.49)) == [2, 0, 1]
    assert prefer_whole_names(_statements(question, *texts, behind=WHOLE_NAME_WEIGHT)) == [0, 1, 2]
    assert prefer_whole_names(_statements(question, *texts, behind=0.0, turn=True)) == [0, 1, 2]
    assert prefer_whole_names(_statements("where does ada berg live?", *texts)) == [0, 1, 2]


def test_untrusted_text_does_not_take_the_place_of_the_persons_own() -> None:
    question, texts = "Where does Ada live?", ("Ada lives in Oslo.", "Ada lives in Bergen.")
    mine, later = _statements(question, *texts)
    asked = asked_words(question, query_terms(question))
    assert order_by_recency([mine, later], asked) == [1, 0]
    assert order_by_recency([mine, later._replace(own=False)], asked) == [0, 1]
    # What the person says later takes the place of the other.
    assert order_by_recency([mine._replace(own=False), later], asked) == [1, 0]


def test_competitors_share_their_places_and_others_keep_theirs() -> None:
    texts = ("Ada lives in Oslo.", "Otto lives in Rome.", "Ada lives in Bergen.", "Ada lives in Narvik.")
    assert _order("Where does Ada live?", *texts) == [texts[3], texts[1], texts[2], texts[0]]


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("Where does Ada live?", TimeOrder.NEWEST),
        ("How old is Ada?", TimeOrder.NEWEST),
        ("Is Ada 30 years old?", TimeOrder.NEWEST),
        ("Who is the original publisher of Winter Road?", TimeOrder.NEWEST),
        ("What is Ada's first name?", TimeOrder.NEWEST),
        ("Who was the original publisher of Winter Road?", TimeOrder.OLDEST),
        ("Where did Ada live first?", TimeOrder.OLDEST),
        ("Where did Ada originally live?", TimeOrder.OLDEST),
        ("Where did Ada live previously?", TimeOrder.EARLIER),
        ("Where did Ada live before?", TimeOrder.EARLIER),
        ("Where did Ada use to live? She used to have a garden.", TimeOrder.EARLIER),
        ("What did we do before the trip?", TimeOrder.UNKNOWN),
        ("What is in the old house?", TimeOrder.UNKNOWN),
    ],
)
def test_the_words_of_a_question_tell_which_time_it_asks_for(question: str, order: TimeOrder) -> None:
    assert time_order(question) is order


def test_a_question_about_the_past_gets_the_beginning_or_what_held_before() -> None:
    texts = ("Ada lives in Bergen.", "Ada lives in Oslo.", "Ada lives in Narvik.")
    first, middle, last = texts
    assert _order("Where did Ada live first?", *texts) == [first, middle, last]
    assert _order("Where did Ada live previously?", *texts) == [middle, first, last]
    assert _order("Where does Ada live?", *texts) == [last, middle, first]
    assert _order("What is in the old house of Ada?", *texts) == list(texts)


@pytest.mark.feature("G11")
def test_recall_answers_with_the_value_of_the_time_asked_for_and_says_why(place: Path, clock: Turning) -> None:
    with opened(place, None, clock=clock) as vault:
        for town in ("Oslo", "Bergen", "the old mining town of Longyearbyen"):
            vault.memories.save(f"Ada Berg lives in {town}.")
            clock.turn(timedelta(days=30))
        vault.memories.save("Ada Holm lives in Rome.")
        found = {
            question: vault.recall(question)[0]
            for question in (
                "Where does Ada Berg live?",
                "Where did Ada Berg live first?",
                "Where did Ada Berg live before?",
            )
        }
    towns = [hit.text.rpartition(" ")[2] for hit in found.values()]
    assert towns == ["Longyearbyen.", "Oslo.", "Bergen."]
    reasons = {name for hit in found.values() for name, _ in hit.reasons.added}
    assert reasons <= {*TimeOrder, "name"}
    assert "newest" in reasons


def test_a_fact_that_is_said_again_or_edited_is_the_newest_and_may_still_be_the_first(
    place: Path, clock: Turning
) -> None:
    with opened(place, None, clock=clock) as vault:
        for town in ("Oslo", "Bergen", "Oslo"):
            vault.memories.save(f"Ada Berg lives in {town}.")
            clock.turn(timedelta(days=30))
        for code, key in (("1234", "code"), ("7777", None), ("9999", "code")):
            vault.memories.save(f"The code of the door is {code}.", key=key)
            clock.turn(timedelta(days=30))
        questions = ("Where does Ada Berg live?", "Where did Ada Berg live first?", "Where did Ada Berg live before?")
        towns = [vault.recall(question)[0].text.rpartition(" ")[2] for question in questions]
        code = vault.recall("What is the code of the door?")[0].text
    assert towns == ["Oslo.", "Oslo.", "Bergen."]
    assert code.endswith("9999.")


@pytest.mark.feature("G11")
def test_recall_prefers_the_whole_name_and_says_why(place: Path, clock: Turning) -> None:
    with opened(place, None, clock=clock) as vault:
        for guest in ("Otto", "Mia", "Nils", "Lena", "Ole", "Ida"):
            vault.memories.save(f"The favourite drink of {guest} Berg is tea.")
        vault.memories.save("The favourite dish of Ada Berg is a soup of cucumbers.")
        vault.memories.save("The favourite dish of Ada Berg-Holm is trout.")
        first, second = vault.recall("What is the favourite dish of Ada Berg?")[:2]
    assert "cucumbers" in first.text
    assert [dict(hit.reasons.added).keys() & {"name"} for hit in (first, second)] == [{"name"}, {"name"}]
    assert first.reasons.fused is not None
    assert second.reasons.fused is not None
    assert first.reasons.fused >= second.reasons.fused
