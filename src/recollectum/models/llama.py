"""LlamaModel: a small model in this process, by llama.cpp, without a network."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Thread

from recollectum.domain.errors import ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from recollectum.domain.language_model import ModelIdentity, Piece, Prompt, Reply
from recollectum.models.bounding import bounded
from recollectum.models.chat_answer import NOT_AN_ANSWER, Draft
from recollectum.models.chat_body import Manner, body
from recollectum.models.llama_loading import Llama, is_small, load

_SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaOptions:
    """How the model is run."""

    threads: int = 1
    window_tokens: int = 4096
    max_output_tokens: int = 1024
    #: How long a whole call may take, or in a stream a pause.
    timeout_seconds: float = 60.0
    clock: Callable[[], float] = time.monotonic


@dataclass(slots=True)
class _Listener:
    """Takes the events of one call until it has had enough or time is up."""

    options: LlamaOptions
    take: Callable[[object], None]
    over: Event = field(default_factory=Event)
    late: bool = False
    ends: float = 0.0

    def start(self) -> None:
        self.ends = self.options.clock() + self.options.timeout_seconds

    def __call__(self, event: object) -> bool:
        if self.options.clock() > self.ends:
            self.late = True
        if not self.late and not self.over.is_set():
            self.take(event)
        return self.late or self.over.is_set()


class LlamaModel:
    """Loads its file at the first call, and answers one call at a time."""

    def __init__(self, path: Path, options: LlamaOptions) -> None:
        self._path = path
        self._options = options
        self._identity = ModelIdentity(
            provider="local", model=path.stem, small=is_small(path), window_tokens=options.window_tokens
        )
        self._loaded: Llama | None = None
        self._lock = Lock()

    @property
    def identity(self) -> ModelIdentity:
        """Which model answers."""
        return self._identity

    def complete(self, prompt: Prompt) -> Reply:
        """The whole reply."""
        draft = Draft()
        events: list[object] = []
        self._run(prompt, _Listener(self._options, events.append))
        for event in events:
            self._add(draft, event)
        return draft.reply(prompt, self._identity)

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """The reply as it comes in; who stops reading stops the model."""
        events: SimpleQueue[object] = SimpleQueue()
        listener = _Listener(self._options, events.put)

        def run() -> None:
            try:
                self._run(prompt, listener)
                events.put(None)
            except ModelError as error:
                events.put(error)

        thread = Thread(target=run, name="llama", daemon=True)
        thread.start()
        draft = Draft()
        try:
            while (event := events.get()) is not None:
                if isinstance(event, ModelError):
                    raise event
                if text := self._add(draft, event):
                    yield Piece(text=text)
        finally:
            listener.over.set()
            thread.join()
        yield Piece(reply=draft.reply(prompt, self._identity))

    def close(self) -> None:
        """Give the model back; a later call loads it again."""
        with self._lock:
            self._loaded = None

    def _run(self, prompt: Prompt, listener: _Listener) -> None:
        structured = prompt.schema is not None
        if prompt.schema is not None:
            prompt = replace(prompt, schema=bounded(prompt.schema))
        asked = body(prompt, self._identity.model, self._options.max_output_tokens, Manner(), stream=True)
        # What it computed for another prompt shifts the last digits, and with them now and then the answer. A
        # conversation may be continued from where it was; a value is to be the same every time.
        asked |= {"seed": _SEED, "cache_prompt": not structured}
        with self._lock:
            if self._loaded is None:
                options = self._options
                self._loaded = load(self._path, threads=options.threads, window_tokens=options.window_tokens)
            listener.start()
            try:
                self._loaded.handle_chat_completions(asked, listener)
            except (ValueError, RuntimeError) as error:
                raise ModelRefused(f"{self._identity} cannot take this prompt; look at its schema and tools") from error
        if listener.late:
            raise ModelTimeout(
                f"{self._identity} was not done within {self._options.timeout_seconds:g} s; "
                "ask for less, or raise language_model.timeout_seconds"
            )

    def _add(self, draft: Draft, event: object) -> str:
        try:
            return draft.add(event)
        except ModelUnavailable as error:
            # In this process nothing is ever too busy: the prompt is too long, or its form is not known.
            raise ModelRefused(
                f"{self._identity} cannot take this prompt; shorten it, or raise language_model.window_tokens"
            ) from error
        except NOT_AN_ANSWER as error:
            raise ModelRefused(f"{self._identity} answered in a form that is not known; update xllamacpp") from error
