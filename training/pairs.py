"""Reads the training pairs: a file that is named by its digest, and what the generators here add."""

import hashlib
import json
import lzma
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training import dialogues, instructions, languages

#: The pair file. It is not in the repository; `README.md` says what is in it and under which licences.
PAIRS_SHA256 = "1f727c91ff31b5572332e72c1cc46ec1a7d0017823fa2db565ef21a4b0f260e6"


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, the text that answers it, and texts that do not."""

    query: str
    positive: str
    negatives: tuple[str, ...]
    source: str

    @property
    def synthetic(self) -> bool:
        """Return whether a generator made it."""
        return self.source.startswith("synth")


def read_pairs(path: Path, *, any_file: bool = False) -> Iterator[Pair]:
    """Yield the pairs of a file; refuse a file with another digest unless any will do."""
    if not any_file and (found := hashlib.sha256(path.read_bytes()).hexdigest()) != PAIRS_SHA256:
        raise SystemExit(f"{path} has the digest {found}, not {PAIRS_SHA256}; give the file that README.md names")
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield Pair(row["q"], row["pos"], tuple(row["neg"]), row["src"])


#: A text of at least so many characters is a passage; a long text has at most so many.
_PASSAGE, _LONG_TEXT = 150, 1900
#: How often each pair of a written dialogue occurs: they are few, and nearest to what the model is for.
_DIALOGUE_REPEATS = 6


def training_pairs(path: Path, *, seed: int, synthetic_share: float = 0.8, any_file: bool = False) -> list[Pair]:
    """Return all pairs to train with, shuffled: a share of the synthetic ones, and the generated ones."""
    chance = random.Random(seed)
    pairs = [
        pair for pair in read_pairs(path, any_file=any_file) if not pair.synthetic or chance.random() < synthetic_share
    ]
    written = [Pair(*row, source="dialogue") for row in dialogues.rows(seed)]
    pairs += _DIALOGUE_REPEATS * written
    pairs += [Pair(*row, source="instructions") for row in instructions.rows(seed)]
    pairs += [Pair(*row, source=f"language:{language}") for language, row in languages.rows(seed)]
    chance.shuffle(pairs)
    return pairs


def plain_texts(pairs: Sequence[Pair], most: int, seed: int) -> list[str]:
    """Return passages of the pairs that nobody generated, and as many long texts that are made of several of them."""
    chance = random.Random(seed)
    sources = ("dialogue", "instructions", "language")
    written = [one for one in pairs if not one.synthetic and not one.source.startswith(sources)]
    passages = list(dict.fromkeys(t for one in written for t in (one.positive, *one.negatives) if len(t) > _PASSAGE))
    chance.shuffle(passages)
    passages = passages[: most // 2]
    if not passages:
        return []
    pieces = (chance.sample(passages, min(len(passages), chance.randint(2, 5))) for _ in range(most // 2))
    return passages + [" ".join(some)[:_LONG_TEXT] for some in pieces]
