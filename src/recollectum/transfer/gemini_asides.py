"""Removes from a Gemini CLI conversation the text that the program adds to the person's messages."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from recollectum.context.asides import own_words
from recollectum.domain.message import Content, Json, Message, Part, Role, text_of
from recollectum.text.tokens import estimate


def without_asides(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return the messages that somebody wrote, numbered without gaps, each without the output of hooks."""
    kept: list[Message] = []
    dropped = 0
    for message in messages:
        said = _without_hooks(message) if message.role is Role.USER else message
        if said is None:
            dropped += 1
        else:
            kept.append(replace(said, position=message.position - dropped) if dropped else said)
    return tuple(kept)


def _without_hooks(message: Message) -> Message | None:
    """Return a message with the person's own words; None when it has none."""
    content = message.content
    if isinstance(content, str):
        bare: Content = own_words(content)
    else:
        bare = tuple(part for one in content if (part := _own_part(one)))
    if bare == content:
        return message
    # The program's own form of the content would bring the removed text back.
    extra = {name: _without_content(value) for name, value in message.extra.items()}
    tokens = estimate(text_of(bare))
    return replace(message, content=bare, extra=extra, token_estimate=tokens) if bare else None


def _without_content(value: Json) -> Json:
    return {name: inner for name, inner in value.items() if name != "content"} if isinstance(value, Mapping) else value


def _own_part(part: Part) -> Part | None:
    text = part.get("text")
    if not isinstance(text, str):
        return part
    own = own_words(text)
    if own == text:
        return part
    return {**part, "text": own} if own else None
