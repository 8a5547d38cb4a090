"""CrossEncoder: a local ONNX model that reads a question and a text together."""

import hashlib
import math
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from recollectum.domain.errors import ModelError, ModelMissing, ModelRefused, ModelTimeout
from recollectum.domain.models.language_model import ModelIdentity
from recollectum.models.embedding.local import runs
from recollectum.models.embedding.vectors import need_numpy
from recollectum.models.onnx import LocalModel, load_model
from recollectum.text.cleaning import clean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
#: The tokens that any cross-encoder reads of a question and a text together.
MAX_TOKENS = 512
#: Characters kept for each token; English has four or five.
_CHARACTERS = 32
_RUN_TOKENS = 512
_CURE = f"name a folder with {MODEL_FILE} and {TOKENIZER_FILE} in rerank.model"

_Numbers: TypeAlias = "NDArray[np.int64]"


class _Input(Protocol):
    name: str


class _Session(Protocol):
    def get_inputs(self) -> Sequence[_Input]: ...

    def run(self, outputs: None, inputs: "dict[str, _Numbers]") -> "list[NDArray[np.float32]]": ...


class _Pair(Protocol):
    ids: list[int]
    type_ids: list[int]


class _Tokenizer(Protocol):
    def encode(self, sequence: str, pair: str) -> _Pair: ...


class CrossEncoder:
    """A reranker that loads its model with the first question. A pair has the same score beside any others."""

    def __init__(
        self,
        folder: Path,
        *,
        threads: int = 1,
        timeout_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        need_numpy()
        self._folder = folder
        self._threads = threads
        self._timeout = timeout_seconds
        self._clock = clock
        self._loaded: tuple[_Session, _Tokenizer] | None = None
        self._lock = Lock()

    @property
    def identity(self) -> ModelIdentity:
        """Return the name of the model's folder."""
        return ModelIdentity(provider="local", model=self._folder.name)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the logit of each text."""
        if not texts:
            return []
        session, tokenizer = self._load()
        ends = self._clock() + self._timeout
        with self._explained():
            pairs = [tokenizer.encode(_beginning(query), _beginning(text)) for text in texts]
            named = {one.name for one in session.get_inputs()}
        found: dict[int, float] = {}
        for run in runs([len(pair.ids) for pair in pairs], _RUN_TOKENS):
            if found and self._clock() >= ends:
                raise ModelTimeout(
                    f"the model in rerank.model did not finish within {self._timeout:g} s; "
                    "lower recall.rerank_head, or raise rerank.timeout_seconds"
                )
            inputs = {name: rows for name, rows in _inputs([pairs[place] for place in run]).items() if name in named}
            with self._explained():
                logits = session.run(None, inputs)[0]
            if logits.size != len(run):
                raise ModelRefused(f"the model in rerank.model gives no single score for a text; {_CURE}")
            found.update(zip(run, map(float, logits.reshape(-1)), strict=True))
        if not all(map(math.isfinite, found.values())):
            raise ModelRefused(f"the model in rerank.model gives scores that are not numbers; {_CURE}")
        return [found[place] for place in range(len(texts))]

    def close(self) -> None:
        """Free the memory; a later call loads the model again."""
        with self._lock:
            self._loaded = None

    def _load(self) -> tuple[_Session, _Tokenizer]:
        with self._lock:
            if self._loaded is None:
                model, tokenizer = self._folder / MODEL_FILE, self._folder / TOKENIZER_FILE
                files = LocalModel(
                    name=self._folder.name,
                    model=model,
                    model_sha256=_sha256(model),
                    tokenizer=tokenizer,
                    tokenizer_sha256=_sha256(tokenizer),
                    dimensions=1,
                    max_tokens=MAX_TOKENS,
                )
                with self._explained():
                    loaded = load_model(files, self._threads)
                self._loaded = cast("_Session", loaded.session), cast("_Tokenizer", loaded.tokenizer)
            return self._loaded

    @contextmanager
    def _explained(self) -> Generator[None]:
        """Raise errors of the person's model inside the block as ModelErrors."""
        try:
            yield
        except ModelError:
            raise
        except Exception as error:
            # Without their messages, which may quote a text.
            raise ModelRefused(f"the model in rerank.model cannot be used ({type(error).__name__}); {_CURE}") from error


def _beginning(text: str) -> str:
    return clean(text[: MAX_TOKENS * _CHARACTERS])


def _inputs(pairs: Sequence[_Pair]) -> "dict[str, _Numbers]":
    import numpy as np  # noqa: PLC0415 - heavy, and only a model needs it

    ids = np.array([pair.ids for pair in pairs], np.int64)
    kinds = np.array([pair.type_ids for pair in pairs], np.int64)
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": kinds}


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelMissing(f"{path} cannot be read ({error.strerror}); {_CURE}") from error
