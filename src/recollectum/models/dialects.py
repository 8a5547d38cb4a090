"""Dialects: how a prompt is put to one kind of server, and how its answer is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from recollectum.domain.language_model import ModelIdentity, Prompt, Reply
from recollectum.models import chat_answer, chat_body
from recollectum.models.chat_body import Manner


class Drafting(Protocol):
    """A reply that is still coming in."""

    #: Why it ended, in the server's word; None while it has not.
    finish: str | None

    def add(self, event: object) -> str:
        """Take one event in, and say what it adds to the text."""
        ...

    def reply(self, prompt: Prompt, by: ModelIdentity) -> Reply:
        """The whole of it."""
        ...


class Dialect(Protocol):
    """One protocol for talking with a model."""

    def path(self, model: str, *, stream: bool) -> str:
        """Where to post, below the base address."""
        ...

    def headers(self, prompt: Prompt) -> Mapping[str, str]:
        """What this protocol wants in the head of a request, beside the key."""
        ...

    def body(self, prompt: Prompt, model: str, max_output_tokens: int, manner: Manner, *, stream: bool) -> object:
        """What is posted."""
        ...

    def draft(self) -> Drafting:
        """A reply to take events in."""
        ...

    def whole(self, answer: object, prompt: Prompt, by: ModelIdentity) -> Reply:
        """The reply in an answer that came at once; an error of NOT_AN_ANSWER where it is none."""
        ...


@dataclass(frozen=True, slots=True)
class Completions:
    """OpenAI's chat completions, which most servers speak."""

    def path(self, model: str, *, stream: bool) -> str:  # noqa: ARG002 - the body tells
        """One place for everything."""
        return chat_body.PATH

    def headers(self, prompt: Prompt) -> Mapping[str, str]:
        """What lets a server know a question that it was asked before."""
        return chat_body.once(prompt)

    def body(self, prompt: Prompt, model: str, max_output_tokens: int, manner: Manner, *, stream: bool) -> object:
        """What is posted."""
        return chat_body.body(prompt, model, max_output_tokens, manner, stream=stream)

    def draft(self) -> Drafting:
        """An empty reply."""
        return chat_answer.Draft()

    def whole(self, answer: object, prompt: Prompt, by: ModelIdentity) -> Reply:
        """The reply."""
        return chat_answer.whole(answer, prompt, by)
