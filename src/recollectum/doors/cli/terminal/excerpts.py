"""Cuts the part of a long text that a person looks for: a few lines around the words of the question."""

import re
from collections.abc import Sequence

#: A text up to this many characters and lines is shown whole.
MOST_CHARACTERS = 320
MOST_LINES = 6
#: How much is shown before the first word that matched.
_LEAD = 80
_WORD = re.compile(r"\w+")
_SPACES = re.compile(r"\s+")
#: Two forms of a word have at least this many first letters in common.
_STEM = 5


def excerpt(text: str, terms: Sequence[str]) -> str:
    """Return the text if it is short, else the part with most of the terms on one line; `…` marks what is cut."""
    stripped = text.strip()
    if len(stripped) <= MOST_CHARACTERS and stripped.count("\n") < MOST_LINES:
        return stripped
    flat = _SPACES.sub(" ", stripped)
    if len(flat) <= MOST_CHARACTERS:
        return flat
    start = _best_start(flat, terms)
    end = min(len(flat), start + MOST_CHARACTERS)
    if end < len(flat):
        # Cut between two words; a text without spaces is cut where it is.
        space = flat.rfind(" ", start + MOST_CHARACTERS // 2, end)
        end = space if space > 0 else end
    return f"{'… ' if start else ''}{flat[start:end].strip()}{' …' if end < len(flat) else ''}"


def _best_start(flat: str, terms: Sequence[str]) -> int:
    """Return where the part begins: a little before the word from which on most different terms follow."""
    stems = {term.casefold()[:_STEM] for term in terms}
    places = [
        (found.start(), stem)
        for found in _WORD.finditer(flat)
        if (stem := found[0].casefold()[:_STEM]) in stems or found[0].casefold() in stems
    ]
    if not places:
        return 0
    room = MOST_CHARACTERS - _LEAD

    def follows(place: int) -> int:
        return len({stem for start, stem in places if place <= start < place + room})

    best = max((start for start, _ in places), key=lambda start: (follows(start), -start))
    wanted = max(0, min(best - _LEAD, len(flat) - MOST_CHARACTERS))
    if not wanted:
        return 0
    space = flat.find(" ", wanted, best)
    return space + 1 if space >= 0 else wanted
