"""Cuts echoes of what memory served out of incoming text, so that memory never learns from itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from recollectum.context.echoes import Range, cut, cut_lines, marked_blocks, with_wrappers
from recollectum.context.served import may_hold_blocks
from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import NUMBERS, Content, Json, Message, Part, Role, ToolCall, text_of
from recollectum.vault.intake.served import ServedBlocks

#: The extra field of a message that counts the echoes cut out of it.
ECHO_REMOVED = "echo_removed"


class EchoFilter:
    """Cuts the echoes out of the texts of one write, and counts them."""

    __slots__ = ("_load", "_served", "removed")

    def __init__(self, load: Callable[[], ServedBlocks]) -> None:
        self._load = load
        #: Loaded for the first text that may contain a block.
        self._served: ServedBlocks | None = None
        #: The number of echoes cut so far.
        self.removed = 0

    def text(self, text: str) -> str:
        """Return a text without its echoes."""
        return cut(text, self._find(text))

    def lines(self, text: str) -> str:
        """Return a text without its echoes, but with the same number of lines, so that a note is cited right."""
        return cut_lines(text, self._find(text))

    def _find(self, text: str) -> list[Range]:
        found = marked_blocks(text)
        if may_hold_blocks(text):
            self._served = self._served or self._load()
            if more := self._served.find(text):
                found = with_wrappers(text, [*found, *more])
        self.removed += len(found)
        return found

    def content(self, content: str) -> str:
        """Return the content of a memory without its echoes; raise when nothing else is left."""
        kept = self.text(content)
        if content.strip() and not kept.strip():
            raise InvalidInput(
                "the content only repeats text that memory served; give only the new text, without the marks"
            )
        return kept

    def value(self, value: Json) -> Json:
        """Return a JSON value without the echoes in its strings and keys; the same object when it has none."""
        if isinstance(value, str):
            return self.text(value)
        if type(value) in NUMBERS:
            # Before the abstract types, which are slow to ask: packed state is a list of many numbers.
            return value
        before = self.removed
        if isinstance(value, Mapping):
            kept: Json = {self.text(name): self.value(inner) for name, inner in value.items()}
        elif isinstance(value, Sequence) and not NUMBERS.issuperset(map(type, value)):
            kept = [self.value(inner) for inner in value]
        else:
            return value
        return kept if self.removed > before else value

    def part(self, part: Part) -> Part:
        """Return a JSON object without the echoes in its strings."""
        return cast("Part", self.value(part)) if part else part

    def call(self, call: ToolCall) -> ToolCall:
        """Return a tool call without the echoes in its arguments and its result."""
        if not (call.args or call.result or call.extra):
            return call
        return replace(call, args=self.part(call.args), result=self.value(call.result), extra=self.part(call.extra))

    def message(self, message: Message) -> Message | None:
        """Return a message without its echoes and with their number; None when nothing else is left.

        The answer of a tool stays even when it is empty, because every call needs its answer.
        """
        before = self.removed
        content = self._content(message.content)
        cut_words = self.removed > before
        calls, thoughts = tuple(map(self.call, message.tool_calls)), tuple(map(self.part, message.thoughts))
        speaker = self.text(message.speaker) if message.speaker else message.speaker
        extra = self.part(message.extra)
        if self.removed == before:
            return message
        if cut_words and message.role is not Role.TOOL and not message.tool_calls and _is_empty(content):
            return None
        extra = {**extra, ECHO_REMOVED: self.removed - before}
        return replace(message, content=content, tool_calls=calls, thoughts=thoughts, speaker=speaker, extra=extra)

    def _content(self, content: Content) -> Content:
        if isinstance(content, str):
            return self.text(content)
        parts = tuple(map(self.part, content))
        # Drop a part that contained only an echo.
        return tuple(new for old, new in zip(content, parts, strict=True) if old is new or not _says_nothing(new))


def _is_empty(content: Content) -> bool:
    return not text_of(content).strip() and (isinstance(content, str) or all(map(_says_nothing, content)))


def _says_nothing(part: Part) -> bool:
    """Return whether a part is an empty text."""
    return not part.keys() - {"type", "text"} and not str(part.get("text", "")).strip()
