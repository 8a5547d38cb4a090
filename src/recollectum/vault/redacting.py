"""Secrets stay out of the vault: every text passes here before it is written."""

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from recollectum.domain.message import Content, Json, Message, Part, ToolCall
from recollectum.domain.session import Session


def without_secrets(text: str) -> str:
    """A text with `[secret:kind]` in the place of each secret."""
    # The patterns of all kinds take a while to be made, and who only reads needs none of them.
    from recollectum.text.secrets import redact  # noqa: PLC0415

    return redact(text).text


def lines_without_secrets(text: str) -> str:
    """The same with as many lines as before, so that a note is still cited by its lines."""
    from recollectum.text.secrets import find_secrets  # noqa: PLC0415 - as above

    for secret in reversed(find_secrets(text)):
        lines = "\n" * text.count("\n", secret.start, secret.end)
        text = f"{text[: secret.start]}[secret:{secret.kind}]{lines}{text[secret.end :]}"
    return text


def message_without_secrets(message: Message) -> Message:
    """A message of which no part holds a secret; the same object where none did."""
    clean = replace(
        message,
        content=_content(message.content),
        tool_calls=tuple(map(_call, message.tool_calls)),
        thoughts=tuple(map(_part, message.thoughts)),
        extra=_part(message.extra) if message.extra else message.extra,
    )
    return message if clean == message else clean


def session_without_secrets(session: Session) -> Session:
    """A session that is not called by a secret."""
    return replace(
        session,
        title=without_secrets(session.title) if session.title else session.title,
        summary=without_secrets(session.summary) if session.summary else session.summary,
        extra=_part(session.extra) if session.extra else session.extra,
    )


def call_without_secrets(call: ToolCall) -> ToolCall:
    """A tool call whose arguments and result hold no secret."""
    return _call(call)


def _content(content: Content) -> Content:
    return without_secrets(content) if isinstance(content, str) else tuple(map(_part, content))


def _call(call: ToolCall) -> ToolCall:
    if not (call.args or call.result or call.extra):
        return call
    return replace(call, args=_part(call.args), result=_value(call.result), extra=_part(call.extra))


def _part(part: Part) -> Part:
    return cast("Mapping[str, Json]", _value(part))


def _value(value: Json) -> Json:
    from recollectum.text.secrets_values import redact_value  # noqa: PLC0415 - as above

    return redact_value(value)
