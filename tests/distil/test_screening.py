"""What came out of memory, the system prompt or a note is recognised and never learned again."""

import pytest

from recollectum.context.compiler import compile_context
from recollectum.distil.pipeline import distil
from recollectum.distil.screening import EchoDetector, ServedTexts
from recollectum.domain.context import Budget, Parts, RecalledText
from recollectum.domain.message import Message
from recollectum.domain.session import Summary
from recollectum.domain.trust import Trust
from recollectum.testing import ScriptedModel
from recollectum.text.tokens import counter_for
from tests.distil.said import AT, every_sentence, memory, message, said

pytestmark = pytest.mark.slow

FACTS = ["I live in Oslo near the harbour.", "I love green tea with lemon.", "My sister lives in Madrid."]
NOTES = "I prefer short answers.\n\nI never eat pork."


def rendered(mark: str) -> str:
    """A whole context of ours, with everything that one can have."""
    parts = Parts(
        notes=NOTES,
        profile=["I work as a nurse.", "I have two cats."],
        learnings=["I like tables more than prose."],
        recalled=[
            RecalledText(id=f"mem_{n}", text=text, source=f"memory mem_{n}", trust=Trust.OWNER, author="cli", at=AT)
            for n, text in enumerate(FACTS)
        ],
        summary=Summary(text="user: I am allergic to nuts.\nuser: I use Linux.", up_to=3, by="rules"),
        messages=[message(n, "u", f"I have {n} dogs. " + "word " * 300) for n in range(4, 24)],
    )
    return compile_context(parts, Budget(), counter_for(None), mark=mark).whole


@pytest.mark.parametrize("letter", ["u", "a", "t"])
@pytest.mark.parametrize("served", [ServedTexts(), ServedTexts([NOTES, *FACTS])])
def test_our_own_context_fed_back_fifty_times_teaches_nothing(letter: str, served: ServedTexts) -> None:
    fed: list[Message] = []
    for time in range(50):
        fed.append(message(time + 1, letter, rendered(f"{time:016d}")))
    assert "I have two cats" in fed[0].text
    assert "<summary-" in fed[0].text
    assert distil(fed, (), model=None, served=served).findings == ()
    assert distil(fed, (), model=ScriptedModel(every_sentence), served=served).findings == ()


def test_the_same_sentences_in_the_persons_own_words_are_found() -> None:
    talk = said(*(f"u: {fact}" for fact in FACTS))
    assert len(distil(talk, (), model=None).findings) == len(FACTS)
    assert distil(talk, (), model=None, served=ServedTexts(FACTS)).findings == ()


def test_what_the_person_adds_to_a_context_is_read() -> None:
    talk = said(f"u: {rendered('0' * 16)}\n\nI play the cello.")
    assert [one.content for one in distil(talk, (), model=None).findings] == ["I play the cello."]


@pytest.mark.parametrize(
    "text",
    [
        "I live in Oslo near the harbour.",
        "i LIVE in the Oslo, near harbour",
        "- I live in Oslo near the harbour",
        "> I live in Oslo near the harbour.",
        "3. I live in Oslo near the harbour",
        "As you told me, I live in Oslo near the harbour.",
        "Oslo, near the harbour, I live in.",
        "I live near the harbour",
    ],
)
def test_a_repetition_is_an_echo(text: str) -> None:
    assert EchoDetector(FACTS).places(text)


@pytest.mark.parametrize(
    "text",
    [
        "I no longer live in Oslo near the harbour.",
        "I live in Bergen near the harbour.",
        "I used to live in Oslo near the harbour.",
        "I live in Oslo near the harbour at number 7.",
        "I live in Oslo near the harbour and work as a baker.",
        "I hate green tea with lemon.",
        "I live here.",
        "# Notes\nI love green peas.",
    ],
)
def test_what_says_something_else_is_none(text: str) -> None:
    assert EchoDetector(FACTS).places(text) == []


def test_what_is_known_is_an_echo_from_the_assistant_alone() -> None:
    known = [memory("mem_1", "I love green tea with lemon.")]
    script = ScriptedModel(every_sentence)
    distil(said("a: You said: I love green tea with lemon. Shall I order some?"), known, model=script)
    (prompt,) = script.prompts
    conversation = prompt.turns[0].text.split("<conversation-")[1]
    assert "Shall I order some?" in conversation
    assert "lemon" not in conversation


def test_the_system_prompt_is_not_learned_from_its_repetition() -> None:
    talk = said("s: I am a pirate called Jack.", "u: I am a pirate called Jack.", "u: I love tea.")
    assert [one.content for one in distil(talk, (), model=ScriptedModel(every_sentence)).findings] == ["I love tea."]


def test_a_finding_that_says_what_was_served_is_dropped() -> None:
    script = ScriptedModel(lambda prompt: every_sentence(prompt))
    found = distil(said("u: So it goes. I love it."), (), model=script, served=ServedTexts(["So it goes."]))
    assert [one.content for one in found.findings] == ["I love it."]
