"""LocalEmbedder: an ONNX model on this machine, without a network."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.models.embedding.vectors import need_numpy, to_unit_length
from recollectum.models.onnx import LoadedModel, LocalModel, check_files, load_model
from recollectum.text.cleaning import clean

if TYPE_CHECKING:
    from recollectum.models.embedding.port import Vectors

#: Tokens in one run of the model. More at once are no faster, and need more memory.
_RUN_TOKENS = 512
#: Characters kept for each token that the model reads; English has four or five.
_CHARACTERS = 32


class LocalEmbedder:
    """An embedder that loads its model with the first text. A text gives the same vector in any batch."""

    def __init__(self, model: LocalModel, *, threads: int = 1) -> None:
        need_numpy()
        self._model = model
        self._threads = threads
        self._loaded: LoadedModel | None = None
        self._lock = Lock()

    @property
    def identity(self) -> EmbedderIdentity:
        """Return the identity of the vectors, which depends on both files."""
        return EmbedderIdentity(
            provider="local",
            model=self._model.name,
            digest=sha256(f"{self._model.model_sha256}{self._model.tokenizer_sha256}".encode()).hexdigest(),
            dimensions=self._model.dimensions,
            form="plain",
            provider_key="",
        )

    @property
    def max_tokens(self) -> int:
        """Return the most tokens of a text that the model reads."""
        return self._model.max_tokens

    def embed(self, texts: Sequence[str], purpose: Purpose) -> "Vectors":  # noqa: ARG002 - this model reads both alike
        """Return one row for each text, in order: the mean of its tokens' vectors."""
        import numpy as np  # noqa: PLC0415 - heavy, and only an embedder needs it

        means = np.empty((len(texts), self._model.dimensions), np.float32)
        for place, tokens in self._read(texts):
            means[place] = tokens.mean(axis=0)
        return to_unit_length(means)

    def check(self) -> None:
        """Raise ModelMissing, with the cure, unless the files of the model are those that were shipped."""
        check_files(self._model)

    def close(self) -> None:
        """Free the memory; a later call loads the model again."""
        with self._lock:
            self._loaded = None

    def _read(self, texts: Sequence[str]) -> "Iterator[tuple[int, Vectors]]":
        """Yield the token vectors of each text; the texts come in any order, with their indexes."""
        if not texts:
            return
        import numpy as np  # noqa: PLC0415 - heavy, and only an embedder needs it

        loaded = self._load()
        ids = [loaded.tokenizer.encode(self._beginning(text)).ids for text in texts]
        for run in runs([len(one) for one in ids], _RUN_TOKENS):
            tokens = np.array([ids[place] for place in run], np.int64)
            inputs = {
                "input_ids": tokens,
                "attention_mask": np.ones_like(tokens),
                "token_type_ids": np.zeros_like(tokens),
            }
            (rows,) = loaded.session.run(["last_hidden_state"], inputs)
            yield from zip(run, rows, strict=True)

    def _beginning(self, text: str) -> str:
        # Tokenising a book only to drop all but its first page would take seconds.
        return clean(text[: self.max_tokens * _CHARACTERS])

    def _load(self) -> LoadedModel:
        with self._lock:
            if self._loaded is None:
                self._loaded = load_model(self._model, self._threads)
            return self._loaded


def runs(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Yield the indexes of texts of equal length, grouped up to a number of tokens; a group has at least one.

    Texts of one length need no padding, and without padding no text can affect another.
    """
    together: dict[int, list[int]] = {}
    for place, length in enumerate(lengths):
        together.setdefault(length, []).append(place)
    for length, places in together.items():
        size = max(1, tokens // length)
        for start in range(0, len(places), size):
            yield places[start : start + size]
