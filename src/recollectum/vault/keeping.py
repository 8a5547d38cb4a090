"""Secrets that a person wants kept although no vault may hold them: in the credential store, with a reference."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import NamedTuple, cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json, Message, Part, ToolCall
from recollectum.storage.port import Tx
from recollectum.storage.tables import erased_rows, meta
from recollectum.vault.footing import Footing

#: What they are kept under in the credential store.
SERVICE = "redacted"
#: Accounts whose text is destroyed, until their secrets are too.
_GOING = "kept_secrets_going"
_REFERENCE = re.compile(rf"\({SERVICE} (sec_[0-9a-hjkmnp-tv-z]{{26}})\)")


class Keeping(NamedTuple):
    """One write: its secrets go to the credential store where the settings say so, and back out if it fails.

    What the store cannot hold is left as it is, and is redacted for good like everything else.
    """

    footing: Footing
    #: The accounts that it has used.
    kept: set[str]

    def __enter__(self) -> "Keeping":
        """The write begins."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """What was kept for a write that failed is kept for nothing."""
        if kind is not None and self.kept:
            _forget(self.footing, self.kept)

    @property
    def keeps(self) -> bool:
        """Whether there is anything to do."""
        return self.footing.keep_secret is not None

    def text(self, text: str, name: str = "") -> str:
        """The text with a reference in the place of each secret; `name` is what it stands under in JSON."""
        keep = self.footing.keep_secret
        if keep is None:
            return text
        # As for redaction: the patterns of all kinds take a while to be made.
        from recollectum.text.secrets_values import find_under  # noqa: PLC0415

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


def note_going(tx: Tx, *texts: str) -> None:
    """Note, in the transaction that destroys texts, the secrets that were kept for them."""
    found = {account for text in texts if SERVICE in text for account in _REFERENCE.findall(text)}
    if found:
        known = json.loads(meta.find(tx, _GOING) or "[]")
        meta.save(tx, _GOING, json.dumps(sorted({*known, *found})))


def texts_of(message: Message) -> tuple[str, ...]:
    """Everything that a message says: its words, and each text in its parts, thoughts and tool calls."""
    parts = () if isinstance(message.content, str) else message.content
    calls = (value for call in message.tool_calls for value in (call.args, call.result))
    return (message.text, *(text for value in (*parts, *message.thoughts, *calls) for text in _leaves(value)))


def _leaves(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for inner in value.values() for text in _leaves(inner))
    elif isinstance(value, Sequence):
        yield from (text for inner in value for text in _leaves(inner))


def drop_going(footing: Footing) -> None:
    """Delete the secrets of texts that are destroyed, now or after a crash, unless another text refers to them."""
    noted = footing.database.read(lambda tx: meta.find(tx, _GOING))
    if noted and noted != "[]":
        _forget(footing, json.loads(noted))
        footing.database.write(lambda tx: meta.save(tx, _GOING, "[]"), frees=True)


def _forget(footing: Footing, accounts: Iterable[str]) -> None:
    forget = footing.forget_secret
    for account in sorted(accounts):
        if forget and not footing.database.read(lambda tx, a=account: erased_rows.stands(tx, a)):
            forget(account)
