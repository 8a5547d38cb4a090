"""Turns an event of the Agent Development Kit into what a vault keeps: its text, who said it, and the event itself."""

from typing import TYPE_CHECKING, cast

from recollectum.adapters.redacted_items import without_secrets
from recollectum.domain.message import Role

if TYPE_CHECKING:
    from google.adk.events import Event
    from google.genai import types

    from recollectum.domain.message import Json


def event_text(event: "Event") -> tuple[Role, str]:
    """Return the role of an event, and its text for recall."""
    text = content_text(event.content)
    if event.author == "user":
        return Role.USER, text
    return (Role.ASSISTANT if text or not event.get_function_responses() else Role.TOOL), text


def content_text(content: "types.Content | None") -> str:
    """Return the words of a content; thoughts are left out."""
    parts = (content.parts if content else None) or ()
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def pack_event(event: "Event") -> "dict[str, Json]":
    """Return an event as JSON, with a placeholder for each secret that was said; program state stays as it is."""
    written = cast("dict[str, Json]", event.model_dump(mode="json", exclude_none=True))
    said = written.get("content")
    return {**written, "content": without_secrets(said)} if isinstance(said, dict) else written
