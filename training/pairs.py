"""Reads the training pairs: a file that is named by its digest, and what the generators here add."""

import hashlib
import json
import lzma
import random
import re
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


#: A sentence of so many characters can stand for a question about the passage that it is taken from.
_SENTENCE = range(40, 241)
#: How often the sentence stays in its passage: then it is found by its words.
_SENTENCE_STAYS = 0.15


def claims(passages: Sequence[str], seed: int) -> list[tuple[str, str]]:
    """Return sentences of long passages, each with the rest of its passage: what is asked of documents."""
    chance = random.Random(seed)
    found: list[tuple[str, str]] = []
    for passage in passages:
        sentences = [one for one in re.split(r"(?<=[.!?]) ", passage) if len(one) in _SENTENCE]
        if len(sentences) < 2:
            continue
        taken = chance.choice(sentences)
        stays = chance.random() < _SENTENCE_STAYS
        rest = passage if stays else passage.replace(taken, "", 1).strip()
        if len(rest) > _PASSAGE:
            found.append((taken, rest))
    return found


#: A text of fewer words is not cut.
_CUT_FROM, _CUT_TWICE = 9, 40


def crops(texts: Sequence[str], most: int, seed: int) -> list[str]:
    """Return pieces of 4 to 64 words of the texts: a student has to agree with its teacher on any text."""
    chance = random.Random(seed)
    found: dict[str, None] = {}
    for text in texts:
        words = text.split()
        if len(words) < _CUT_FROM:
            continue
        for _ in range(2 if len(words) > _CUT_TWICE else 1):
            size = min(len(words) - 1, int(2 ** chance.uniform(2, 6)))
            start = chance.randrange(len(words) - size + 1)
            found[" ".join(words[start : start + size])] = None
    pieces = list(found)
    chance.shuffle(pieces)
    return pieces[:most]
