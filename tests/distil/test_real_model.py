"""A real small model reads a conversation: its answer fits the schema, and what it cannot quote is not kept."""

from datetime import UTC, datetime

import pytest

from recollect.distil.reading import distil
from recollect.domain.message import Message, Role
from recollect.models.bounding import MAX_ITEMS, MAX_LENGTH, bounded
from recollect.models.language_registry import open_language_model
from recollect.settings.model import LanguageModelSettings

# Small enough for this model: what it is to keep does not matter here.
_INSTRUCTIONS = "Copy what the person said about themselves."
_SAID = ("Hi! I moved to Lisbon in May.", "I am allergic to peanuts, so please no peanut recipes.")
_SETTINGS = LanguageModelSettings(provider="local", window_tokens=2048, max_output_tokens=700, retries=0)


@pytest.mark.feature("A5")
def test_what_a_real_model_finds_is_quoted_from_the_conversation_or_dropped() -> None:
    said = [
        Message(
            id=f"msg_{place}",
            session_id="ses_1",
            position=place,
            role=Role.USER,
            content=text,
            created_at=datetime(2026, 6, 1, tzinfo=UTC),
        )
        for place, text in enumerate(_SAID, start=1)
    ]
    model = open_language_model(_SETTINGS, {})
    assert model is not None
    found = distil(said, [], model=model, instructions=_INSTRUCTIONS)
    model.close()
    assert found.by == str(model.identity)
    # It answered in the form that was asked for; that this model quotes nothing right is no fault of the form.
    assert found.ignored + len(found.findings) > 0
    texts = {message.id: message.text for message in said}
    for finding in found.findings:
        assert finding.spans
        assert all(texts[span.message_id][span.start : span.end] for span in finding.spans)


def test_a_schema_for_a_small_model_has_an_end_everywhere() -> None:
    given = {
        "type": "object",
        "properties": {
            "names": {"type": "array", "items": {"type": "string"}},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "type": {"type": ["string", "null"], "maxLength": 5},
        },
    }
    assert bounded(given) == {
        "type": "object",
        "properties": {
            "names": {"type": "array", "items": {"type": "string", "maxLength": MAX_LENGTH}, "maxItems": MAX_ITEMS},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "type": {"type": ["string", "null"], "maxLength": 5},
        },
    }
