"""An embedder and a language model without a model, for tests of programs that use Recollectum."""

import json
import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import shake_256
from threading import Lock

from recollectum.domain.errors import ModelError, ModelRefused
from recollectum.domain.message import Json, ToolCall
from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.domain.models.language_model import Finish, ModelIdentity, Piece, Prompt, Reply
from recollectum.models.embedding.port import Embedder, Vectors
from recollectum.models.embedding.vectors import to_unit_length
from recollectum.models.language.costs import estimated_usage
from recollectum.models.language.structured import StructuredModel
from recollectum.recall.vectors.embedders import REPLACEMENTS
from recollectum.settings.model import EmbeddingSettings

_WORD = re.compile(r"\w+")
_WITH_SPACE = re.compile(r"\S+\s*|\s+")

#: What a scripted model does with one prompt: say a text, say a value as JSON, call tools, answer as given, or fail.
Scripted = str | Mapping[str, Json] | list[Json] | tuple[ToolCall, ...] | Reply | ModelError


class ScriptedEmbedder:
    """Texts that share words are near; the same text has the same vector on every machine. It counts what it is asked.

    `synonyms` lets one word stand for another, so that texts can be near that share no word. `fail` is asked before
    every call and may return the error to raise. `delay_seconds` is how long each call takes.
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
        #: The texts of each call, with what they were embedded for.
        self.calls: list[tuple[Purpose, tuple[str, ...]]] = []
        self.closed = False
        self._synonyms = dict(synonyms or {})
        self._lock = Lock()

    @property
    def passages(self) -> list[str]:
        """Every passage it was asked to embed, in order."""
        return [text for purpose, texts in self.calls if purpose is Purpose.PASSAGE for text in texts]

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        """One row for each text, in order."""
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
        """Note that it was closed."""
        self.closed = True

    def _row(self, text: str) -> list[float]:
        words = [word.group() for word in _WORD.finditer(text.casefold())] or [text]
        digests = [self._digest(self._synonyms.get(word, word)) for word in words]
        return [sum(column) - 127.5 * len(digests) for column in zip(*digests, strict=True)]

    def _digest(self, word: str) -> bytes:
        named = f"{self.identity.model}:{word}".encode("utf-8", "surrogatepass")
        return shake_256(named).digest(self.identity.dimensions)


class ScriptedModel:
    """Answers from a list, each once, or by a function of the prompt; it keeps what it is asked.

    Structured output is read, checked and repaired as for a real model, so a text that is no JSON shows what happens
    then, and the second attempt is one more answer of the script. `delay_seconds` is how long each call takes.
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
        """Which model it says it is."""
        return self._script.identity

    @property
    def prompts(self) -> list[Prompt]:
        """Every prompt it was given, in order, with those for a repair."""
        return self._script.prompts

    def complete(self, prompt: Prompt) -> Reply:
        """The next reply of the script."""
        return self._model.complete(prompt)

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """The same, word by word."""
        return self._model.stream(prompt)

    def close(self) -> None:
        """Note that it was closed."""
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


@contextmanager
def embedding_with(embedder: Embedder | None, *, local: Embedder | None = None) -> Generator[None]:
    """Let every home that first asks for its embedder inside the block have this one, whatever its settings say.

    It is for programs that open a home themselves; where a test opens it, `Recollectum(embedder=…)` is plainer.
    `local` stands in for the model of this machine, which answers from vectors that it made before the change.
    """

    def give(settings: EmbeddingSettings) -> Embedder | None:
        return local if settings.provider == "local" and local else embedder

    REPLACEMENTS.append(give)
    try:
        yield
    finally:
        REPLACEMENTS.remove(give)
