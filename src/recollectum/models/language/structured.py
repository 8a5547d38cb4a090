"""StructuredModel: returns a reply that fits the schema of its prompt, and asks again if the first does not."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace

from recollectum.domain.errors import ModelGarbled
from recollectum.domain.message import Json, Role
from recollectum.domain.models.language_model import Finish, ModelIdentity, Piece, Prompt, Reply, Turn
from recollectum.models.language.json_schema import Schema, explain_misfit
from recollectum.models.language.port import LanguageModel

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)
_STARTS = re.compile(r"[\[{]")
#: A text may open many brackets that lead nowhere.
_MOST_STARTS = 50


class StructuredModel:
    """Extracts the value from a reply and checks it. Prompts without a schema pass through unchanged."""

    def __init__(self, inner: LanguageModel) -> None:
        self.inner = inner

    @property
    def identity(self) -> ModelIdentity:
        """Return the identity of the inner model."""
        return self.inner.identity

    def complete(self, prompt: Prompt) -> Reply:
        """Return the reply with its value; the usage includes the second call if a repair was needed."""
        first = self.inner.complete(prompt)
        if prompt.schema is None or first.tool_calls:
            return first
        value, problem = read_value(first.text, prompt.schema)
        if problem is None:
            return replace(first, value=value)
        second = self.inner.complete(_repair(prompt, first, problem))
        value, problem = read_value(second.text, prompt.schema)
        if problem is not None:
            raise ModelGarbled(_sentence(self.identity, second, problem))
        return replace(second, value=value, usage=first.usage + second.usage)

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """Yield the reply as it arrives; one with a schema comes whole, because half a value is useless."""
        if prompt.schema is None:
            yield from self.inner.stream(prompt)
            return
        reply = self.complete(prompt)
        yield Piece(text=reply.text)
        yield Piece(reply=reply)

    def close(self) -> None:
        """Close the inner model."""
        self.inner.close()


def read_value(text: str, schema: Schema) -> tuple[Json, str | None]:
    """Return the value in the text, and what is wrong with it, or None."""
    problem = "there must be a JSON value and nothing else"
    for value in _values(text):
        found = explain_misfit(value, schema)
        if found is None:
            return value, None
        problem = found
    return None, problem


def _values(text: str) -> Iterator[Json]:
    """Yield the possible values, most likely first: the whole text, fenced code, text that begins at a bracket."""
    for candidate in (text, *_FENCED.findall(text)):
        try:
            yield _strict.decode(candidate.strip())
        except (ValueError, RecursionError):
            continue
        return
    for number, start in enumerate(_STARTS.finditer(text)):
        if number == _MOST_STARTS:
            return
        try:
            yield _strict.raw_decode(text, start.start())[0]
        except (ValueError, RecursionError):
            continue


def _no_number(word: str) -> float:
    raise ValueError(word)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(digits)
    return number


# Python would accept NaN and Infinity, which are not JSON and could not be written again.
_strict = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)


def _repair(prompt: Prompt, reply: Reply, problem: str) -> Prompt:
    asked = (
        f"That does not fit: {problem}. Answer again, with one JSON value and nothing else, "
        f"which fits this schema: {json.dumps(prompt.schema, ensure_ascii=False)}"
    )
    more = (Turn(role=Role.ASSISTANT, text=reply.text or "-"), Turn(role=Role.USER, text=asked))
    # Another idempotency key than the first: a server that knows the key would repeat its answer.
    other = f"{prompt.idempotency_id}/repair" if prompt.idempotency_id else ""
    return replace(prompt, turns=prompt.turns + more, idempotency_id=other)


def _sentence(identity: ModelIdentity, reply: Reply, problem: str) -> str:
    if reply.finish is Finish.LENGTH:
        return f"{identity} was cut off twice before its answer was complete; allow more output tokens"
    return f"{identity} answered twice in the wrong form ({problem}); try again, or use another model"
