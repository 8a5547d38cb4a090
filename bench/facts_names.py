"""Draws names for `facts_set.py` from the words of `facts_names.txt`; names of one kind share words and halves."""

import random
from functools import cache
from pathlib import Path

_WORDS = Path(__file__).with_name("facts_names.txt")
#: Kinds of values that are taken from a list.
_LISTED = ("craft", "tongue", "dish", "vehicle", "genre", "pastime", "animal", "product", "sport")
#: One value in this many is a name that is already in use.
_NEW_SHARE = 2
_TRIES = 20


@cache
def words() -> dict[str, list[str]]:
    """Return the lists of the file by their heading."""
    lines = [line for line in _WORDS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    found: dict[str, list[str]] = {}
    for line in lines:
        heading, _, rest = line.partition(": ")
        found[heading] = [one.replace("_", " ") for one in (rest.split("|") if "|" in rest else rest.split())]
    return found


class Names:
    """The names of one set, by kind."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self.known: dict[str, list[str]] = {
            kind: [] for kind in ("person", "company", "club", "work", "country", "town", "school")
        }
        self._used: set[str] = set()

    def new(self, kind: str) -> str:
        """Return a name of this kind that is not in use, or any name where nearly all are."""
        name = self._made(kind)
        for _ in range(_TRIES):
            if name not in self._used:
                self._used.add(name)
                self.known[kind].append(name)
                break
            name = self._made(kind)
        return name

    def any(self, kind: str) -> str:
        """Return a value of this kind: from its list, or a name."""
        if kind in _LISTED:
            return self._pick(kind)
        known = self.known[kind]
        return self._draw.choice(known) if known and self._draw.randrange(_NEW_SHARE) else self.new(kind)

    def _made(self, kind: str) -> str:
        match kind:
            case "person":
                return self._person()
            case "town":
                return self._pick("town stem") + self._pick("town ending")
            case "country":
                return f"{self._pick('country first')} {self._pick('country')}".strip()
            case "company":
                return f"{self._owner()} {self._pick('company ending')}"
            case "club":
                return f"{self._town()} {self._pick('club ending')}"
            case "school":
                return self._pick("school").format(self._town())
            case _:
                return self._pick("work form").format(self._pick("work first"), self._pick("work second"))

    def _person(self) -> str:
        middle = f"{self._pick('second')} " if self._draw.randrange(4) == 0 else ""
        family = self._pick("family")
        if self._draw.randrange(8) == 0:
            family += f"-{self._pick('family')}"
        return f"{self._pick('given')} {middle}{family}"

    def _owner(self) -> str:
        return self._draw.choice((self._pick("family"), self._town(), f"{self._pick('family')} {self._pick('family')}"))

    def _town(self) -> str:
        known = self.known["town"]
        return self._draw.choice(known) if known else self.new("town")

    def _pick(self, heading: str) -> str:
        return self._draw.choice(words()[heading])
