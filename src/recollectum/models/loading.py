"""Loads a model's files: the one place that knows onnxruntime and tokenizers, and keeps the first from writing."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from recollectum.domain.errors import ModelMissing
from recollectum.models.digests import check_digest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CURE = "run: pip install 'recollectum[local]'"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """The files of a model, what they must hash to, and the shape of its vectors."""

    name: str
    model: Path
    model_sha256: str
    tokenizer: Path
    tokenizer_sha256: str
    dimensions: int
    max_tokens: int


class Session(Protocol):
    """What computes."""

    def run(self, outputs: Sequence[str], inputs: "dict[str, NDArray[np.int64]]") -> "list[NDArray[np.float32]]":
        """The named outputs for these inputs."""
        ...


class Encoding(Protocol):
    """A text taken apart."""

    ids: list[int]


class Tokenizer(Protocol):
    """What takes a text apart."""

    encode_special_tokens: bool

    def encode(self, text: str) -> Encoding:
        """The text as numbers."""
        ...

    def no_padding(self) -> None:
        """Never make a text longer."""
        ...

    def enable_truncation(self, max_length: int) -> None:
        """Leave out what comes after so many tokens."""
        ...


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model in memory."""

    session: Session
    tokenizer: Tokenizer


def gte_small() -> LocalModel:
    """The model that comes as a package of its own."""
    try:
        import recollectum_gte_small as files  # noqa: PLC0415 - an extra, which may not be there
    except ImportError as error:
        raise ModelMissing(f"the model gte-small is not installed; {CURE}") from error
    return LocalModel(
        name=files.NAME,
        model=files.MODEL,
        model_sha256=files.MODEL_SHA256,
        tokenizer=files.TOKENIZER,
        tokenizer_sha256=files.TOKENIZER_SHA256,
        dimensions=files.DIMENSIONS,
        max_tokens=files.MAX_TOKENS,
    )


def load(model: LocalModel, threads: int) -> Loaded:
    """Check the files and load them, or say with ModelMissing what is wanting."""
    check_digest(model.model, model.model_sha256, CURE)
    check_digest(model.tokenizer, model.tokenizer_sha256, CURE)
    return Loaded(_session(model.model, threads), _tokenizer(model.tokenizer, model.max_tokens))


class _SessionOptions(Protocol):
    intra_op_num_threads: int
    inter_op_num_threads: int
    log_severity_level: int

    def add_session_config_entry(self, key: str, value: str) -> None: ...


class _Onnxruntime(Protocol):
    def SessionOptions(self) -> _SessionOptions: ...

    def InferenceSession(self, path: str, options: _SessionOptions, *, providers: Sequence[str]) -> Session: ...


class _TokenizerMaker(Protocol):
    def from_file(self, path: str) -> Tokenizer: ...


class _Tokenizers(Protocol):
    Tokenizer: _TokenizerMaker


def _session(path: Path, threads: int) -> Session:
    # onnxruntime keeps a device id and a database for telemetry unless told otherwise before its import. The variable
    # is left set, because a later version may look at it later.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    onnxruntime = cast("_Onnxruntime", _need("onnxruntime"))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Errors only: it would otherwise speak on the standard error of whatever program this is part of.
    options.log_severity_level = 3
    # Widens the int8 weights once, at load, instead of in every run.
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _tokenizer(path: Path, max_tokens: int) -> Tokenizer:
    tokenizer = cast("_Tokenizers", _need("tokenizers")).Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    # A text that speaks of [SEP] means the word, and must not end there.
    tokenizer.encode_special_tokens = True
    return tokenizer


def _need(package: str) -> object:
    try:
        return import_module(package)
    except ImportError as error:
        raise ModelMissing(f"the local embedder needs {package}; {CURE}") from error
