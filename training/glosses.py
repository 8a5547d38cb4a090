"""Reads the definitions of WordNet: plain texts on which a student follows its teacher, with words of every field."""

import random
from collections.abc import Iterator
from pathlib import Path

_PARTS = ("data.noun", "data.verb", "data.adj", "data.adv")
#: A passage is made of so many neighbours: they stand near each other in the file because they are akin.
_NEIGHBOURS = range(2, 13)


def glosses(folder: Path, passages: int, seed: int) -> list[str]:
    """Return every definition with its words, and passages of definitions that are neighbours in the file."""
    found = [text for part in _PARTS for text in _definitions(folder / part)]
    chance = random.Random(seed)
    made: list[str] = []
    for _ in range(passages):
        start = chance.randrange(len(found) - _NEIGHBOURS.stop)
        made.append(". ".join(found[start : start + chance.choice(_NEIGHBOURS)]))
    return [*found, *made]


def _definitions(path: Path) -> Iterator[str]:
    """Yield `word, synonym: definition` of each line; lines that begin with a blank are the licence."""
    for line in path.read_text(encoding="latin-1").splitlines():
        if line.startswith(" "):
            continue
        fields, _, gloss = line.partition(" | ")
        parts = fields.split()
        count = int(parts[3], 16)
        words = (parts[4 + 2 * at].partition("(")[0].replace("_", " ") for at in range(count))
        yield f"{', '.join(words)}: {gloss.strip()}"
