"""The two models of a change, made up or installed, and the texts that they embed."""

import os
from collections.abc import Callable, Sequence

from recollectum.domain.errors import ModelError
from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.models.embedding.port import Embedder, Vectors
from recollectum.models.registry.embedding import open_embedder
from recollectum.settings.model import EmbeddingSettings
from recollectum.testing import ScriptedEmbedder

#: The two made-up models, and how long their vectors are.
LENGTHS = {"old": 64, "new": 96}

#: How a thing is, what it is, and where it is from.
_HOW, _WHAT, _WHERE = (
    words.split()
    for words in (
        "amber ancient blue broken bronze carved cheap copper cracked crimson dented dusty empty foreign fragile "
        "golden green heavy hollow iron ivory leather marble narrow orange painted plain polished purple round rusty "
        "scarlet silver slender spare square striped velvet wicker wooden",
        "anchor anvil arrow axe barrel basket bell blanket bottle bowl bucket candle carpet chair chisel clock coat "
        "comb cup curtain drum fan flag flute globe hammer harp helmet jar kettle kite ladder lamp lantern map mask "
        "mirror needle oar piano plough rope saddle shovel spoon sword tent umbrella violin wheel",
        "abbey airport attic bakery bank bridge cabin castle cellar chapel circus dairy factory farm ferry forge "
        "garage gallery harbour hospital hotel library market mill mine museum orchard palace prison quarry school "
        "shipyard stable station studio theatre tower tunnel vineyard workshop",
    )
)


class WatchedModel:
    """An installed model that records its passages, and asks `fail` before every call, as the made-up ones do."""

    def __init__(self, made: Embedder) -> None:
        self._made = made
        self.fail: Callable[[Sequence[str], Purpose], ModelError | None] | None = None
        self.passages: list[str] = []

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of the model."""
        return self._made.identity

    @property
    def max_tokens(self) -> int:
        """How much of a text the model reads."""
        return self._made.max_tokens

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        """Return one row for each text, in order."""
        if purpose is Purpose.PASSAGE:
            self.passages += texts
        if error := self.fail(texts, purpose) if self.fail else None:
            raise error
        return self._made.embed(texts, purpose)

    def close(self) -> None:
        """Free what the model holds."""
        self._made.close()


def embedder(name: str, delay_seconds: float = 0.0) -> ScriptedEmbedder | WatchedModel:
    """One of the made-up models, or the installed one of that name."""
    if name in LENGTHS:
        return ScriptedEmbedder(name, LENGTHS[name], delay_seconds=delay_seconds)
    made = open_embedder(EmbeddingSettings(provider="local", model=name), os.environ)
    assert made is not None
    return WatchedModel(made)


def text(number: int) -> str:
    """What is remembered under a number."""
    # Words that few texts share, as in real ones: what every text has is not worth looking for. No two have the same
    # three, so that a model tells them apart.
    rest, how = divmod(number, len(_HOW))
    rest, what = divmod(rest, len(_WHAT))
    return f"the {_HOW[how]} {_WHAT[what]} from the {_WHERE[rest % len(_WHERE)]} is in box{number}"
