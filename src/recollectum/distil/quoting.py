"""Quoting: where the words that a model claims to have read really stand."""

import re
import unicodedata

#: A shorter quotation proves nothing, unless it is all there is.
_SHORTEST = 4
_BAR = re.compile(r"^[ \t]*\|[ \t]?", re.MULTILINE)
_AROUND = " \t\r\n\"'“”‘’«»`…"
_SAME = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "ʼ": "'", "–": "-", "—": "-", "−": "-"})


class Quotable:
    """A text in which quotations are looked up."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded: tuple[str, list[int]] | None = None

    def find(self, quote: str) -> tuple[int, int] | None:
        """Where a quotation stands, letter for letter or else but for case, spacing and kinds of marks."""
        wanted = _BAR.sub("", quote).strip(_AROUND)
        if not wanted or (len(wanted) < _SHORTEST and not self._is_all(wanted)):
            return None
        return _at_words(self._text, wanted) or self._loosely(wanted)

    def _is_all(self, wanted: str) -> bool:
        return wanted.strip(".!").casefold() == self._text.strip(_AROUND).strip(".!").casefold()

    def _loosely(self, wanted: str) -> tuple[int, int] | None:
        if self._folded is None:
            self._folded = _fold(self._text)
        folded, origins = self._folded
        found = _at_words(folded, _fold(wanted)[0].strip())
        return (origins[found[0]], origins[found[1] - 1] + 1) if found else None


def _fold(text: str) -> tuple[str, list[int]]:
    """The text in one case, with single spaces and plain marks; and where each of its characters stood."""
    folded: list[str] = []
    origins: list[int] = []
    for place, char in enumerate(text):
        if unicodedata.category(char) == "Cf":
            continue
        shapes = " " if char.isspace() else char.translate(_SAME).casefold()
        if shapes == " " and folded and folded[-1] == " ":
            continue
        folded.extend(shapes)
        origins.extend([place] * len(shapes))
    return "".join(folded), origins


def _at_words(text: str, wanted: str) -> tuple[int, int] | None:
    """The first place where it begins and ends with whole words: "eat" is not said in "theatre"."""
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        end = at + len(wanted)
        if not _cuts(text, at) and not _cuts(text, end):
            return at, end
        at = text.find(wanted, at + 1)
    return None


def _cuts(text: str, border: int) -> bool:
    # Scripts without spaces have no borders to keep to.
    around = text[border - 1 : border + 1] if border else ""
    return len(around) == 2 and around.isascii() and around.isalnum()
