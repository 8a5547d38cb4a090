"""Reads the definitions of WordNet: plain texts on which a student follows its teacher, with words of every field."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

_PARTS = ("data.noun", "data.verb", "data.adj", "data.adv")
#: A passage is made of so many neighbours: they stand near each other in the file because they are akin.
_NEIGHBOURS = range(2, 13)


def glosses(folder: Path) -> list[str]:
    """Return every definition with its words, in the order of the files."""
    return [text for part in _PARTS for text in _definitions(folder / part)]


def passages(found: Sequence[str], number: int, seed: int) -> list[str]:
    """Return passages of definitions that are neighbours."""
    chance = random.Random(seed)
    made: list[str] = []
    for _ in range(number):
        start = chance.randrange(len(found) - _NEIGHBOURS.stop)
        made.append(". ".join(text.rstrip(".") for text in found[start : start + chance.choice(_NEIGHBOURS)]))
    return made


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
