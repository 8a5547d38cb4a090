"""Measures redaction by the labelled set: the share of each kind that is found, and the innocents that are spoilt."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from bench.redaction_set import formed, told
from bench.redaction_set.innocents import innocents
from recollectum.text.secrets.redaction import redact

#: What must be found of the kinds that the docs claim, of the review's list, and the innocents that may be spoilt.
CLAIMED_BAR, LISTED_BAR, SPOILT_BAR = 0.98, 0.90, 0.01
#: So much of a secret in one piece counts as the secret.
_PIECE = 12

Hide = Callable[[str], str]


class Example(NamedTuple):
    """A text with one secret of a kind in it."""

    kind: str
    text: str
    secret: str
    held: bool


@dataclass(frozen=True, slots=True)
class Score:
    """How many of how many."""

    hits: int
    of: int

    @property
    def share(self) -> float:
        """The hits as a share."""
        return self.hits / self.of if self.of else 0.0

    def __str__(self) -> str:
        """As a row of a table says it."""
        return f"{self.share:.3f} ({self.hits}/{self.of})"


def kinds(*, listed: bool) -> tuple[str, ...]:
    """The kinds that the docs claimed first, or those of the list."""
    return (*formed.LISTED, *told.LISTED) if listed else (*formed.CLAIMED, *told.CLAIMED)


def examples(kind: str, *, held: bool, each: int, seed: int = 0) -> Iterator[Example]:
    """So many texts of a kind, in each of its surroundings in turn."""
    rng = random.Random(f"{kind}{held}{seed}")
    make = {**formed.CLAIMED, **formed.LISTED}.get(kind)
    if make is not None:
        texts = formed.templates(kind, held=held)
    else:
        one = {**told.CLAIMED, **told.LISTED}[kind]
        make, texts = one.make, one.held if held else one.tuned
    for number in range(each):
        secret = make(rng)
        yield Example(kind, texts[number % len(texts)].format(secret), secret, held)


def is_hidden(example: Example, hide: Hide) -> bool:
    """Whether no piece of the secret is left."""
    after, secret = hide(example.text), example.secret
    pieces = {secret[at : at + _PIECE] for at in range(max(1, len(secret) - _PIECE + 1))}
    return not any(piece in after for piece in pieces)


def recall(kind: str, *, held: bool, each: int, hide: Hide | None = None) -> Score:
    """How many secrets of a kind are found."""
    made = list(examples(kind, held=held, each=each))
    return Score(sum(is_hidden(one, hide or _hide) for one in made), len(made))


def spoilt(*, held: bool, hide: Hide | None = None) -> list[str]:
    """The innocent texts that were changed."""
    return [text for text in innocents(held=held) if (hide or _hide)(text) != text]


def total(scores: list[Score]) -> Score:
    """All of them as one."""
    return Score(sum(one.hits for one in scores), sum(one.of for one in scores))


def _hide(text: str) -> str:
    return redact(text).text
