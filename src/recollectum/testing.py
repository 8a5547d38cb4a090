"""Scripted models for tests of programs that use Recollectum: an embedder, a reranker and a language model.

Pass them to the home that a test opens: `Recollectum(embedder=…, language_model=…)`. `SearchModels` takes a reranker,
and the embedders that made vectors before.
"""

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import shake_256
from threading import Lock

from recollectum.domain.errors import ModelError, ModelRefused
from recollectum.domain.message import Json, ToolCall
from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.domain.models.language_model import Finish, ModelIdentity, Piece, Prompt, Reply
from recollectum.models.embedding.port import Vectors
from recollectum.models.embedding.vectors import to_unit_length
from recollectum.models.language.costs import estimated_usage
from recollectum.models.language.structured import StructuredModel

_WORD = re.compile(r"\w+")
_WITH_SPACE = re.compile(r"\S+\s*|\s+")

#: What a scripted model does with one prompt: return a text, return a value as JSON, call tools, return a reply, or
#: fail.
Scripted = str | Mapping[str, Json] | list[Json] | tuple[ToolCall, ...] | Reply | ModelError


class ScriptedEmbedder:
    """An embedder for tests: texts that share words are near, and vectors are the same on every machine.

    `synonyms` lets one word stand for another, so that texts can be near without a shared word. `fail` is called before
    every call and may return the error to raise. `delay_seconds` is how long each call takes. It records its calls.
    """

    max_tokens = 512

    def __init__(
        self,
        name: str = "scripted",
        dimensions: int = 64,
        *,
        synonyms: Mapping[str, str] | None = None,
        fail: Callable[[Sequence[str], Purpose], ModelError | None] | None = None,
        delay_seconds: float = 0.0,
    ) -> None:
        self.identity = EmbedderIdentity(
            provider="scripted", model=name, digest="", dimensions=dimensions, form="plain", provider_key=""
        )
        self.fail = fail
        self.delay_seconds = delay_seconds
        #: The texts of each call, with their purpose.
        self.calls: list[tuple[Purpose, tuple[str, ...]]] = []
        self.closed = False
        self._synonyms = dict(synonyms or {})
        self._lock = Lock()

    @property
    def passages(self) -> list[str]:
        """All passages it was asked to embed, in order."""
        return [text for purpose, texts in self.calls if purpose is Purpose.PASSAGE for text in texts]

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        """Return one row for each text, in order."""
        import numpy as np  # noqa: PLC0415 - heavy, and only where there are vectors

        with self._lock:
            self.calls.append((purpose, tuple(texts)))
        error = self.fail(texts, purpose) if self.fail else None
        if error:
            raise error
        time.sleep(self.delay_seconds)
        rows = [self._row(text) for text in texts]
        return to_unit_length(np.array(rows, np.float32).reshape(len(texts), self.identity.dimensions))

    def close(self) -> None:
        """Record that it was closed."""
        self.closed = True

    def _row(self, text: str) -> list[float]:
        words = [word.group() for word in _WORD.finditer(text.casefold())] or [text]
        digests = [self._digest(self._synonyms.get(word, word)) for word in words]
        return [sum(column) - 127.5 * len(digests) for column in zip(*digests, strict=True)]

    def _digest(self, word: str) -> bytes:
        named = f"{self.identity.model}:{word}".encode("utf-8", "surrogatepass")
        return shake_256(named).digest(self.identity.dimensions)


class ScriptedReranker:
    """A reranker for tests: gives each text the score that it was told, and 0 to all others.

    `fail` is called before every answer and may return the error to raise. It records its calls.
    """

    def __init__(
        self,
        scores: Mapping[str, float] | None = None,
        *,
        name: str = "scripted",
        fail: Callable[[str, Sequence[str]], ModelError | None] | None = None,
    ) -> None:
        self.identity = ModelIdentity(provider="scripted", model=name)
        self.fail = fail
        #: The question and the texts of each call.
        self.calls: list[tuple[str, tuple[str, ...]]] = []
        self.closed = False
        self._scores = dict(scores or {})

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one number for each text, in order."""
        self.calls.append((query, tuple(texts)))
        error = self.fail(query, texts) if self.fail else None
        if error:
            raise error
        return [self._scores.get(text, 0.0) for text in texts]

    def close(self) -> None:
        """Record that it was closed."""
        self.closed = True


class ScriptedModel:
    """A language model for tests: answers from a list, each once, or by a function of the prompt.

    It records its prompts. Structured output is parsed, checked and repaired as for a real model, so a text that is not
    JSON shows what happens then, and the second attempt takes one more answer of the script. `delay_seconds` is how
    long each call takes.
    """

    def __init__(
        self,
        answers: Iterable[Scripted] | Callable[[Prompt], Scripted],
        *,
        name: str = "scripted",
        delay_seconds: float = 0.0,
    ) -> None:
        self._script = _Script(answers, ModelIdentity(provider="scripted", model=name), delay_seconds)
        self._model = StructuredModel(self._script)
        self.closed = False

    @property
    def identity(self) -> ModelIdentity:
        """The identity it reports."""
        return self._script.identity

    @property
    def prompts(self) -> list[Prompt]:
        """All prompts it was given, in order, including repairs."""
        return self._script.prompts

    def complete(self, prompt: Prompt) -> Reply:
        """Return the next reply of the script."""
        return self._model.complete(prompt)

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """Return the same as a stream, word by word."""
        return self._model.stream(prompt)

    def close(self) -> None:
        """Record that it was closed."""
        self.closed = True


class _Script:
    def __init__(
        self,
        answers: Iterable[Scripted] | Callable[[Prompt], Scripted],
        identity: ModelIdentity,
        delay_seconds: float,
    ) -> None:
        self.identity = identity
        self.prompts: list[Prompt] = []
        self._answer = answers if callable(answers) else _in_order(answers)
        self._delay_seconds = delay_seconds
        self._lock = Lock()

    def complete(self, prompt: Prompt) -> Reply:
        with self._lock:
            self.prompts.append(prompt)
            answer = self._answer(prompt)
        time.sleep(self._delay_seconds)
        if isinstance(answer, ModelError):
            raise answer
        return answer if isinstance(answer, Reply) else self._reply(prompt, answer)

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        reply = self.complete(prompt)
        yield from (Piece(text=word) for word in _WITH_SPACE.findall(reply.text))
        yield Piece(reply=reply)

    def close(self) -> None:
        pass

    def _reply(self, prompt: Prompt, answer: str | Mapping[str, Json] | list[Json] | tuple[ToolCall, ...]) -> Reply:
        calls = answer if isinstance(answer, tuple) else ()
        text = answer if isinstance(answer, str) else "" if calls else json.dumps(answer, ensure_ascii=False)
        finish = Finish.TOOL_CALLS if calls else Finish.STOP
        usage = estimated_usage(prompt, text)
        return Reply(text=text, tool_calls=calls, usage=usage, finish=finish, by=self.identity)


def _in_order(answers: Iterable[Scripted]) -> Callable[[Prompt], Scripted]:
    waiting = iter(answers)
    return lambda _: next(waiting, ModelRefused("the script has no more answers; write one for each call"))
