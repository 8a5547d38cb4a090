"""Loads ONNX models and tokenizers from files whose SHA-256 digests it checks."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import field
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from recollectum.domain.errors import ModelMissing
from recollectum.domain.records import dataclass
from recollectum.home.install_command import install_command

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def check_digest(path: Path, sha256: str, cure: str) -> None:
    """Raise ModelMissing, with the cure, unless the file exists and has this digest."""
    try:
        found = path.stat()
        digest = _digest(path, found.st_size, found.st_mtime_ns)
    except OSError as error:
        raise ModelMissing(f"{path} cannot be read ({error.strerror}); {cure}") from error
    if digest != sha256:
        raise ModelMissing(f"{path} is not the file that was shipped; {cure}")


# Size and time stand for the content: a file that changes is hashed again.
@lru_cache(maxsize=16)
def _digest(path: Path, size: int, modified: int) -> str:  # noqa: ARG001 - they are part of the key
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _cure() -> str:
    return f"run: {install_command('recollectum[local]')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """The files of a model, their digests, and the shape of its vectors."""

    name: str
    model: Path
    model_sha256: str
    tokenizer: Path
    tokenizer_sha256: str
    dimensions: int
    max_tokens: int
    #: What to do when a file is missing or damaged.
    cure: str = field(default_factory=_cure)


def check_files(model: LocalModel) -> None:
    """Raise ModelMissing, with the cure, unless both files of a model are those that were shipped."""
    check_digest(model.model, model.model_sha256, model.cure)
    check_digest(model.tokenizer, model.tokenizer_sha256, model.cure)


class OnnxSession(Protocol):
    """An inference session of onnxruntime."""

    def run(self, outputs: Sequence[str], inputs: "dict[str, NDArray[np.int64]]") -> "list[NDArray[np.float32]]":
        """Return the named outputs for these inputs."""
        ...


class TokenEncoding(Protocol):
    """The tokens of a text."""

    ids: list[int]


class Tokenizer(Protocol):
    """A tokenizer of the tokenizers package."""

    encode_special_tokens: bool

    def encode(self, text: str) -> TokenEncoding:
        """Return the token ids of the text."""
        ...

    def no_padding(self) -> None:
        """Turn padding off."""
        ...

    def enable_truncation(self, max_length: int) -> None:
        """Truncate texts to a number of tokens."""
        ...


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in memory."""

    session: OnnxSession
    tokenizer: Tokenizer


def load_model(model: LocalModel, threads: int) -> LoadedModel:
    """Check the files and load them; raise ModelMissing if something is missing."""
    check_files(model)
    return LoadedModel(_session(model.model, threads), _tokenizer(model.tokenizer, model.max_tokens))


class _SessionOptions(Protocol):
    intra_op_num_threads: int
    inter_op_num_threads: int
    log_severity_level: int

    def add_session_config_entry(self, key: str, value: str) -> None: ...


class _Onnxruntime(Protocol):
    def SessionOptions(self) -> _SessionOptions: ...

    def InferenceSession(self, path: str, options: _SessionOptions, *, providers: Sequence[str]) -> OnnxSession: ...


class _TokenizerMaker(Protocol):
    def from_file(self, path: str) -> Tokenizer: ...


class _Tokenizers(Protocol):
    Tokenizer: _TokenizerMaker


def _session(path: Path, threads: int) -> OnnxSession:
    # onnxruntime stores a device id and a database for telemetry unless this is set before its import. The variable
    # stays set, because a later version may read it later.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    onnxruntime = cast("_Onnxruntime", _need("onnxruntime"))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Errors only: it would otherwise write to the standard error of the host program.
    options.log_severity_level = 3
    # Widens the int8 weights once, at load, instead of in every run.
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _tokenizer(path: Path, max_tokens: int) -> Tokenizer:
    tokenizer = cast("_Tokenizers", _need("tokenizers")).Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    # A text that contains "[SEP]" means the word, and must not end there.
    tokenizer.encode_special_tokens = True
    return tokenizer


def _need(package: str) -> object:
    try:
        return import_module(package)
    except ImportError as error:
        raise ModelMissing(f"the local embedder needs {package}; {_cure()}") from error
