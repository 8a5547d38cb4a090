"""A real small model reads conversations: it chooses among sentences that are there, and nothing it made up is kept."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.distil.model.choices import bears_claim
from recollectum.distil.pipeline import Distilled, distil
from recollectum.domain.message import Role
from recollectum.domain.models.language_model import Prompt, Turn
from recollectum.domain.proposal import RULES
from recollectum.models.language.json_schema import MAX_ITEMS, MAX_TEXT_LENGTH, add_bounds
from recollectum.models.language.port import LanguageModel
from recollectum.models.registry.language import open_language_model
from recollectum.settings.model import LanguageModelSettings
from tests.distil.said import said

pytestmark = pytest.mark.slow

_SETTINGS = LanguageModelSettings(
    provider="local", window_tokens=2048, max_output_tokens=300, retries=0, threads=2, timeout_seconds=300
)
#: Quite different people, and none of it made for the rules alone.
TALKS = {
    "moving": (
        "u: Hi! I moved to Lisbon in May. Do you know a good baker?",
        "a: You might like the one by the river. I live in the cloud.",
        "u: I am allergic to peanuts, so please no peanut recipes.",
    ),
    "workshop": (
        "u: The build fails again, I pasted the log below.",
        "t: error: I live in /usr/lib and cannot be found",
        "u: Never mind. We rebuild old pianos in a barn outside Graz, and my apprentice Jonas tunes them by ear.",
        "u: Could you draft a price list?",
    ),
    "deutsch": (
        "u: Guten Abend! Ich bin Hebamme und arbeite meistens nachts.",
        "a: Das klingt anstrengend.",
        "u: Meine Tochter Mia kommt im September in die Schule. Was braucht sie dafür?",
    ),
}


@pytest.fixture(scope="module")
def model() -> Iterator[LanguageModel]:
    found = open_language_model(_SETTINGS, {})
    assert found is not None
    yield found
    found.close()


def _other() -> Prompt:
    return Prompt(turns=(Turn(role=Role.USER, text="Hello, who are you?"),), max_output_tokens=8)


def found_in(talk: str, model: LanguageModel) -> Distilled:
    return distil(said(*TALKS[talk]), [], model=model)


@pytest.mark.feature("A5")
@pytest.mark.parametrize("talk", TALKS)
def test_a_real_small_model_proposes_what_really_was_said(talk: str, model: LanguageModel) -> None:
    found = found_in(talk, model)
    texts = {message.id: message for message in said(*TALKS[talk])}
    chosen = [one for one in found.findings if one.by == str(model.identity)]
    assert chosen
    assert all(one.by == RULES for one in found.findings if one not in chosen)
    for one in found.findings:
        (span,) = one.spans
        message = texts[span.message_id]
        quoted = message.text[span.start : span.end]
        assert message.role.value == "user"
        assert 0 < len(one.content) <= len(quoted)
        assert bears_claim(quoted, one.content)
        assert one.content in quoted
        assert "?" not in quoted
        # It is too small to be believed: a person decides.
        assert not one.certain
    assert found.usage is not None
    assert not found.usage.estimated


@pytest.mark.feature("A5")
def test_consolidating_with_a_real_small_model_fills_the_inbox(tmp_path: Path) -> None:
    settings = {f"language_model.{name}": getattr(_SETTINGS, name) for name in ("provider", "window_tokens", "threads")}
    with Recollectum(tmp_path / "home", settings=settings, environ={}) as home:
        vault = home.vault("user:alice")
        chat = vault.sessions.open(channel="main")
        for line in TALKS["moving"]:
            chat.add({"u": Role.USER, "a": Role.ASSISTANT}[line[0]], line[3:])
        outcome = vault.admin.consolidation.run(chat.id)
        assert outcome.trouble is None
        texts = {message.id: message.text for message in chat.messages()}
        waiting = [proposal.finding for proposal in vault.admin.review.list()]
    assert any(one.by.startswith("local/") for one in waiting)
    assert [texts[span.message_id][span.start : span.end] for one in waiting for span in one.spans] == [
        one.content for one in waiting
    ]


def test_the_same_conversation_gives_the_same_findings(model: LanguageModel) -> None:
    first = found_in("moving", model)
    # What it was asked in between leaves no trace.
    model.complete(_other())
    assert found_in("moving", model) == first


def test_a_schema_for_a_small_model_has_an_end_everywhere() -> None:
    given = {
        "type": "object",
        "properties": {
            "names": {"type": "array", "items": {"type": "string"}},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "type": {"type": ["string", "null"], "maxLength": 5},
        },
    }
    assert add_bounds(given) == {
        "type": "object",
        "properties": {
            "names": {
                "type": "array",
                "items": {"type": "string", "maxLength": MAX_TEXT_LENGTH},
                "maxItems": MAX_ITEMS,
            },
            "kind": {"type": "string", "enum": ["a", "b"]},
            "type": {"type": ["string", "null"], "maxLength": 5},
        },
    }
