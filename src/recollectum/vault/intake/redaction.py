"""Replaces secrets in everything that enters a vault, and moves them to the credential store when told to."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import NamedTuple, cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Content, Json, Message, Part, ToolCall
from recollectum.domain.session import Session
from recollectum.storage.port import Tx
from recollectum.storage.tables.erasure import erased_rows
from recollectum.storage.tables.trail import meta
from recollectum.vault.runtime import VaultRuntime


def redact_text(text: str) -> str:
    """A text with `[secret:kind]` in the place of each secret."""
    # The patterns of all kinds take a while to be made, and who only reads needs none of them.
    from recollectum.text.secrets.redaction import redact  # noqa: PLC0415

    return redact(text).text


def redact_lines(text: str) -> str:
    """The same with as many lines as before, so that a note is still cited by its lines."""
    from recollectum.text.secrets.redaction import find_secrets  # noqa: PLC0415 - as above

    for secret in reversed(find_secrets(text)):
        lines = "\n" * text.count("\n", secret.start, secret.end)
        text = f"{text[: secret.start]}[secret:{secret.kind}]{lines}{text[secret.end :]}"
    return text


def redact_message(message: Message) -> Message:
    """A message of which no part holds a secret; the same object where none did."""
    clean = replace(
        message,
        content=_redact_content(message.content),
        tool_calls=tuple(map(_redact_call_fields, message.tool_calls)),
        thoughts=tuple(map(_redact_part, message.thoughts)),
        extra=_redact_part(message.extra) if message.extra else message.extra,
    )
    return message if clean == message else clean


def redact_session(session: Session) -> Session:
    """A session that is not called by a secret."""
    return replace(
        session,
        title=redact_text(session.title) if session.title else session.title,
        summary=redact_text(session.summary) if session.summary else session.summary,
        extra=_redact_part(session.extra) if session.extra else session.extra,
    )


def redact_tool_call(call: ToolCall) -> ToolCall:
    """A tool call whose arguments and result hold no secret."""
    return _redact_call_fields(call)


def _redact_content(content: Content) -> Content:
    return redact_text(content) if isinstance(content, str) else tuple(map(_redact_part, content))


def _redact_call_fields(call: ToolCall) -> ToolCall:
    if not (call.args or call.result or call.extra):
        return call
    return replace(call, args=_redact_part(call.args), result=_redact_json(call.result), extra=_redact_part(call.extra))


def _redact_part(part: Part) -> Part:
    return cast("Mapping[str, Json]", _redact_json(part))


def _redact_json(value: Json) -> Json:
    from recollectum.text.secrets.redaction import redact_value  # noqa: PLC0415 - as above

    return redact_value(value)


#: What they are kept under in the credential store.
SERVICE = "redacted"
#: Accounts whose text is destroyed, until their secrets are too.
_DELETION_QUEUE = "kept_secrets_going"
_REFERENCE = re.compile(rf"\({SERVICE} (sec_[0-9a-hjkmnp-tv-z]{{26}})\)")


class SecretEscrow(NamedTuple):
    """One write: its secrets go to the credential store where the settings say so, and back out if it fails.

    What the store cannot hold is left as it is, and is redacted for good like everything else.
    """

    runtime: VaultRuntime
    #: The accounts that it has used.
    kept: set[str]

    def __enter__(self) -> "SecretEscrow":
        """The write begins."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """What was kept for a write that failed is kept for nothing."""
        if kind is not None and self.kept:
            _delete_unreferenced(self.runtime, self.kept)

    @property
    def keeps(self) -> bool:
        """Whether there is anything to do."""
        return self.runtime.keep_secret is not None

    def text(self, text: str, name: str = "") -> str:
        """The text with a reference in the place of each secret; `name` is what it stands under in JSON."""
        keep = self.runtime.keep_secret
        if keep is None:
            return text
        # As for redaction: the patterns of all kinds take a while to be made.
        from recollectum.text.secrets.redaction import find_under  # noqa: PLC0415

        for secret in reversed(find_under(name, text)):
            try:
                account = keep(text[secret.start : secret.end])
            except InvalidInput:
                continue
            self.kept.add(account)
            text = f"{text[: secret.start]}[secret:{secret.kind}] ({SERVICE} {account}){text[secret.end :]}"
        return text

    def message(self, message: Message) -> Message:
        """The same for the words, parts, thoughts and tool calls of a message."""
        if not self.keeps:
            return message
        said = message.content
        return replace(
            message,
            content=self.text(said) if isinstance(said, str) else self.parts(said),
            thoughts=self.parts(message.thoughts),
            tool_calls=tuple(map(self.call, message.tool_calls)),
        )

    def parts(self, parts: Iterable[Part]) -> tuple[Part, ...]:
        """The same for parts of a message."""
        return tuple(map(self._part, parts))

    def call(self, call: ToolCall) -> ToolCall:
        """The same for a tool call."""
        if not self.keeps:
            return call
        return replace(call, args=self._part(call.args), result=self._value(call.result))

    def _part(self, part: Part) -> Part:
        return cast("Mapping[str, Json]", self._value(part))

    def _value(self, value: Json, name: str = "") -> Json:
        if isinstance(value, str):
            return self.text(value, name)
        if isinstance(value, Mapping):
            return {key: self._value(inner, key) for key, inner in value.items()}
        if isinstance(value, Sequence):
            return [self._value(inner, name) for inner in value]
        return value


def queue_secret_deletion(tx: Tx, *texts: str) -> None:
    """Note, in the transaction that destroys texts, the secrets that were kept for them."""
    found = {account for text in texts if SERVICE in text for account in _REFERENCE.findall(text)}
    if found:
        known = json.loads(meta.find(tx, _DELETION_QUEUE) or "[]")
        meta.save(tx, _DELETION_QUEUE, json.dumps(sorted({*known, *found})))


def message_texts(message: Message) -> tuple[str, ...]:
    """Everything that a message says: its words, and each text in its parts, thoughts and tool calls."""
    parts = () if isinstance(message.content, str) else message.content
    calls = (value for call in message.tool_calls for value in (call.args, call.result))
    return (message.text, *(text for value in (*parts, *message.thoughts, *calls) for text in _strings_in(value)))


def _strings_in(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for inner in value.values() for text in _strings_in(inner))
    elif isinstance(value, Sequence):
        yield from (text for inner in value for text in _strings_in(inner))


def delete_queued_secrets(runtime: VaultRuntime) -> None:
    """Delete the secrets of texts that are destroyed, now or after a crash, unless another text refers to them."""
    noted = runtime.database.read(lambda tx: meta.find(tx, _DELETION_QUEUE))
    if noted and noted != "[]":
        _delete_unreferenced(runtime, json.loads(noted))
        runtime.database.write(lambda tx: meta.save(tx, _DELETION_QUEUE, "[]"), frees=True)


def _delete_unreferenced(runtime: VaultRuntime, accounts: Iterable[str]) -> None:
    forget = runtime.forget_secret
    for account in sorted(accounts):
        if forget and not runtime.database.read(lambda tx, a=account: erased_rows.text_exists(tx, a)):
            forget(account)
