"""The texts and questions of the benchmark of adapters, and the embedder that both stores of a race use."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.adapters_race import Row, WordsEmbedder
from bench.search_data import Talk
from recollectum import Vault

BATCH = 20
EMBEDDER = WordsEmbedder()


@dataclass(frozen=True, slots=True)
class Set:
    """The texts that are written, the questions that are asked, and the seconds that vectors took after the writes."""

    texts: list[str]
    queries: list[str]
    vectors: dict[str, float] = field(default_factory=dict[str, float])

    @classmethod
    def make(cls, size: int, searches: int) -> "Set":
        """Return texts with natural word frequencies, and questions with words of such texts."""
        talk = Talk(1)
        return cls([talk.turn() for _ in range(size)], [talk.question() for _ in range(searches)])

    @property
    def size(self) -> int:
        """How many texts there are."""
        return len(self.texts)

    def told(self, vault: Vault, row: Row) -> None:
        """Index the texts that wait, make the vectors that the vault has not made yet, and note how long it took."""
        began = time.perf_counter()
        vault.admin.index.update()
        self.vectors[row.adapter] = time.perf_counter() - began

    def first(self, size: int) -> "Set":
        """Return the same with fewer texts, for a store that is written to one item at a time."""
        return Set(self.texts[:size], self.queries, self.vectors)


def in_batches(texts: Sequence[str]) -> list[list[tuple[int, str]]]:
    """Return the texts with their numbers, in batches."""
    numbered = list(enumerate(texts))
    return [numbered[at : at + BATCH] for at in range(0, len(numbered), BATCH)]
