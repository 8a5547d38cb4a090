"""What is kept says what was said: of the same person, with the same denials, and with days that stay true."""

from datetime import date

import pytest

from recollectum.distil.date_resolution import resolve_dates
from recollectum.distil.model.answers import clause
from recollectum.distil.pipeline import distil
from recollectum.testing import ScriptedModel
from tests.distil.said import answer, answers, said

SUNDAY = date(2026, 3, 1)


def is_certain(sentence: str, content: str, quote: str | None = None) -> bool:
    script = ScriptedModel([answers(answer(content, (1, quote or sentence)))])
    (one,) = distil(said(f"u: {sentence}"), (), model=script).findings
    return one.certain


@pytest.mark.feature("A5")
@pytest.mark.parametrize(
    ("sentence", "content", "quote"),
    [
        # A denial is dropped, or made.
        ("I don't eat meat.", "Eats meat", None),
        ("I don't eat meat.", "Eats meat", "eat meat"),
        ("I no longer live in Oslo.", "Lives in Oslo", None),
        ("I used to work at Acme.", "Works at Acme", None),
        ("I eat meat every day.", "Does not eat meat every day", None),
        # It is somebody else who does.
        ("My sister loves jazz.", "Loves jazz", None),
        ("My sister loves jazz.", "Loves jazz", "loves jazz"),
        ("I told you, my little brother works at Acme.", "Works at Acme", "works at Acme"),
        ("She is allergic to peanuts.", "Is allergic to peanuts", None),
        ("My wife says I love jazz.", "Loves jazz", "I love jazz"),
        ("Tom thinks I hate jazz.", "Hates jazz", "I hate jazz"),
        # A name is put in the place of another, or added.
        ("I live in Oslo near the park.", "Lives in Bergen near the park", None),
        ("I run a small carpentry business.", "Runs a small carpentry business in Graz", None),
        # It is only supposed.
        ("If I were rich I'd buy a boat.", "Is rich and buys a boat", None),
        ("I wish I could play the piano.", "Can play the piano", "I could play the piano"),
        # It is a quotation, or a text to work on.
        ('What is "I am a sick man" from?', "Is a sick man", "I am a sick man"),
        ("What is “I am a sick man” from?", "Is a sick man", "I am a sick man"),
        ("Proofread this: I am a nurse in Dublin.", "Is a nurse in Dublin", "I am a nurse in Dublin"),
    ],
)
def test_a_claim_that_turns_what_was_said_is_for_a_person_to_decide(
    sentence: str, content: str, quote: str | None
) -> None:
    assert not is_certain(sentence, content, quote)


@pytest.mark.parametrize(
    ("sentence", "content"),
    [
        ("I don't eat meat.", "Does not eat meat"),
        ("I never eat meat, but I love fish.", "Never eats meat"),
        ("My sister loves jazz.", "The sister loves jazz"),
        ("I live with my sister in Oslo.", "Lives in Oslo"),
        ("My mother tongue is German.", "The mother tongue is German"),
        ("I said I live in Oslo.", "Lives in Oslo"),
        ("Ich wohne in Leipzig.", "Die Person wohnt in Leipzig"),
    ],
)
def test_a_claim_that_keeps_to_it_is_written(sentence: str, content: str) -> None:
    assert is_certain(sentence, content)


@pytest.mark.parametrize("title", ['"Hey Jude"', "“Hey Jude”", "„Hey Jude“", "«Hey Jude»"])
def test_a_statement_after_a_quotation_is_written(title: str) -> None:
    assert is_certain(f"We played {title} again, and I love jazz.", "Loves jazz", "I love jazz")


def test_a_request_with_a_condition_is_certain() -> None:
    told = answer("No bullet points unless asked", (1, "no bullet points unless I ask"), kind="correction")
    (one,) = distil(
        said("u: Please, no bullet points unless I ask."), (), model=ScriptedModel([answers(told)])
    ).findings
    assert one.certain


def test_a_denial_of_another_clause_is_not_counted() -> None:
    assert is_certain("I never eat meat, but I love fish.", "Loves fish", "I love fish")
    text = "No. I never eat meat, but I love fish; you know."
    at = text.index("love fish")
    assert clause(text, at, at + 9).strip() == "I love fish"
    assert clause("no border", 3, 9) == "no border"


@pytest.mark.feature("A5")
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("My flight is tomorrow at 9.", "My flight is on 2026-03-02 at 9."),
        ("I need to pay by tomorrow.", "I need to pay by 2026-03-02."),
        ("Tomorrow I fly to Rome.", "On 2026-03-02 I fly to Rome."),
        ("I quit smoking yesterday!", "I quit smoking on 2026-02-28!"),
        ("The party is the day after tomorrow", "The party is on 2026-03-03"),
        ("We moved to Rome last year.", "We moved to Rome in 2025."),
        ("I'm self-employed since last year.", "I'm self-employed since 2025."),
        ("Since last month I work nights.", "Since 2026-02 I work nights."),
        ("I start next month.", "I start in 2026-04."),
        ("I started last month.", "I started in 2026-02."),
        ("My exam is next Friday.", "My exam is next Friday (said on 2026-03-01)."),
        ("I need to pay the rent by Friday", "I need to pay the rent by Friday (said on 2026-03-01)"),
        ("I retire in 5 years.", "I retire in 5 years (said on 2026-03-01)."),
        ("We met two weeks ago!", "We met two weeks ago (said on 2026-03-01)!"),
        # What comes again, or is a name, stays.
        ("I run every Friday.", "I run every Friday."),
        ("I work on Fridays.", "I work on Fridays."),
        ("I love Sunday roast.", "I love Sunday roast."),
        ("I read tomorrow's paper.", "I read tomorrow's paper."),
        ("I live in Oslo.", "I live in Oslo."),
        ("My exam is on 2026-03-06.", "My exam is on 2026-03-06."),
    ],
)
def test_a_day_told_by_its_distance_is_written_out(content: str, expected: str) -> None:
    assert resolve_dates(content, SUNDAY) == expected
    # Once is enough, whenever it is read again.
    assert resolve_dates(expected, date(2027, 1, 1)) == expected


def test_the_turn_of_a_year_is_kept() -> None:
    assert resolve_dates("I start next month.", date(2026, 12, 31)) == "I start in 2027-01."
    assert resolve_dates("I left last month.", date(2026, 1, 1)) == "I left in 2025-12."
    assert resolve_dates("I fly tomorrow.", date(2026, 12, 31)) == "I fly on 2027-01-01."


def test_rules_and_models_both_date_by_the_day_it_was_said() -> None:
    talk = said("u: My flight is tomorrow at 9.")
    script = ScriptedModel([answers(answer("Has a flight tomorrow at 9", (1, "My flight is tomorrow")))])
    (by_rules,) = distil(talk, (), model=None).findings
    (by_model,) = distil(talk, (), model=script).findings
    assert by_rules.content == "My flight is on 2026-03-02 at 9."
    assert by_model.content == "Has a flight on 2026-03-02 at 9"
    # The words it cites stay the words that were said.
    assert talk[0].text[by_rules.spans[0].start : by_rules.spans[0].end] == talk[0].text
