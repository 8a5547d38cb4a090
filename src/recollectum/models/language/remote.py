"""ChatModel: any language model behind an endpoint, in the endpoint's dialect."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from recollectum.domain.errors import ModelRefused, ModelUnavailable
from recollectum.domain.models.language_model import ModelIdentity, Piece, Prompt, Reply
from recollectum.models.http.client import JsonClient
from recollectum.models.language.openai import (
    NOT_AN_ANSWER,
    ChatDialect,
    PartialReply,
    RequestStyle,
    ResponseFormat,
    parse_events,
)

T = TypeVar("T")

#: The statuses with which a server rejects a field, or a value of it.
_NOT_UNDERSTOOD = (400, 422)


class ChatModel:
    """A model behind an endpoint, which it asks in the strictest style that the endpoint understands."""

    def __init__(
        self,
        identity: ModelIdentity,
        wire: JsonClient,
        dialect: ChatDialect,
        *,
        max_output_tokens: int,
        manner: RequestStyle,
    ) -> None:
        self._identity = identity
        self._dialect = dialect
        self._wire = wire
        self._max_output_tokens = max_output_tokens
        # The style that worked last; by whether there was a schema, because only then a response format was tried.
        self._manners = {True: manner, False: manner}

    @property
    def identity(self) -> ModelIdentity:
        """Return the identity of the model."""
        return self._identity

    def complete(self, prompt: Prompt) -> Reply:
        """Return the complete reply."""

        def ask(manner: RequestStyle) -> object:
            path = self._dialect.path(self._identity.model, stream=False)
            return self._wire.post(path, self._body(prompt, manner, stream=False), self._dialect.headers(prompt))

        answer = self._understood(prompt, ask)
        try:
            return self._dialect.whole(answer, prompt, self._identity)
        except NOT_AN_ANSWER as error:
            raise self._no_answer() from error

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """Yield the reply as it arrives."""

        def ask(manner: RequestStyle) -> tuple[object, Iterator[object]]:
            path = self._dialect.path(self._identity.model, stream=True)
            pieces = self._wire.stream(path, self._body(prompt, manner, stream=True), self._dialect.headers(prompt))
            following = parse_events(pieces, self._wire.endpoint.name)
            # The first event shows that the server accepted the request.
            return next(following, None), following

        first, following = self._understood(prompt, ask)
        draft = self._dialect.draft()
        try:
            yield from self._texts(draft, first)
            for event in following:
                yield from self._texts(draft, event)
        except NOT_AN_ANSWER as error:
            raise self._no_answer() from error
        if draft.finish is None:
            raise ModelUnavailable(f"{self._wire.endpoint.name} broke off in the middle of a reply; try again later")
        yield Piece(reply=draft.reply(prompt, self._identity))

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        self._wire.close()

    def _texts(self, draft: PartialReply, event: object) -> Iterator[Piece]:
        if event is not None and (text := draft.add(event)):
            yield Piece(text=text)

    def _body(self, prompt: Prompt, manner: RequestStyle, *, stream: bool) -> object:
        return self._dialect.body(prompt, self._identity.model, self._max_output_tokens, manner, stream=stream)

    def _understood(self, prompt: Prompt, ask: Callable[[RequestStyle], T]) -> T:
        """Ask in each style until the server accepts one, and return the answer; later calls begin with that style."""
        structured = prompt.schema is not None
        *others, last = _manners(self._manners[structured], structured=structured)
        for manner in others:
            try:
                answer = ask(manner)
            except ModelRefused as error:
                if error.status not in _NOT_UNDERSTOOD:
                    raise
                continue
            self._manners[structured] = manner
            return answer
        answer = ask(last)
        self._manners[structured] = last
        return answer

    def _no_answer(self) -> ModelRefused:
        return ModelRefused(f"{self._wire.endpoint.name} did not answer with a reply; check language_model.base_url")


def _manners(begin: RequestStyle, *, structured: bool) -> list[RequestStyle]:
    """Return the styles to try, in order: the one that worked, without a temperature, and then in looser formats."""
    tried = [begin, replace(begin, temperature=False)] if begin.temperature else [begin]
    if structured:
        shapes = list(ResponseFormat)
        tried += [replace(begin, shape=shape) for shape in shapes[shapes.index(begin.shape) + 1 :]]
    return tried
