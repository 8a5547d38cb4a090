"""Fences untrusted text between two marks that it cannot forge, with each line behind a bar (spotlighting).

Three things keep a hostile text inside. The mark of its fence was drawn after the text was written. Every line is
behind a bar, so that none begins where ours do. And everything that only looks like the mark (in another case or
script, or with invisible characters in between) is removed, because a model reads by looks.
"""

import re
import unicodedata

from recollectum.domain.errors import InvalidInput

BAR = "| "
TAKEN_OUT = "…"
MAX_LABEL = 120
#: The mark of the parts that stay the same from call to call: a random mark would defeat a provider's prompt cache.
#: Everybody may know it, so it protects nothing; it shows where a part begins and ends.
LASTING_MARK = "5ec0113c"
#: The names of the fences in a context.
NOTES, ABOUT, LEARNED, RECALLED, SUMMARY, SAID = "notes", "about", "learned", "recalled", "summary", "conversation"
_LEARNED = 20_000

_MARK = re.compile(r"[A-Za-z0-9]{8,64}")
#: All characters that some reader treats as the end of a line.
_LINE_END = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
# Joiners stay: emoji and several scripts need them. Bidirectional controls and tags are invisible, and are removed.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
_SPACE = re.compile(r"\s+")
# Letters of other scripts that look like a Latin one; NFKC folds full-width and mathematical ones.
_LOOKS = str.maketrans(
    "аеорсухіјѕԁһԛԝвкмнтгьɑɡεαβκνορτυχγ٠०۰〇",
    "aeopcyxijsdhqwbkmhtrbageabkvoptuxy0000",
)


def check_mark(mark: str) -> str:
    """Return the mark; raise if a text could contain it by chance, or if removing a mark could create it again."""
    if not _MARK.fullmatch(mark):
        raise InvalidInput(f"the mark of a fence has {len(mark)} characters; use 8 to 64 ASCII letters and digits")
    return mark


def opening(name: str, mark: str) -> str:
    """Return the line that opens a fence."""
    return f"<{name}-{mark}>"


def closing(name: str, mark: str) -> str:
    """Return the line that closes a fence."""
    return f"</{name}-{mark}>"


def quote_lines(text: str, mark: str) -> str:
    """Return a text with every line behind a bar, and without anything that looks like the mark."""
    plain = without_mark(_INVISIBLE.sub("", _LINE_END.sub("\n", text)), mark)
    return "\n".join(BAR + line for line in plain.split("\n"))


def one_line(text: str, mark: str) -> str:
    """Return a text that fits into one of our lines: without line ends, invisible characters and the mark."""
    return without_mark(_SPACE.sub(" ", _INVISIBLE.sub("", _LINE_END.sub(" ", text))).strip(), mark)


def label(text: str, mark: str) -> str:
    """Return a foreign name, shortened for a label and without the brackets that frame one."""
    cut = one_line(text[: 2 * MAX_LABEL], mark).translate({ord("["): "(", ord("]"): ")", ord(";"): ","})
    return cut if len(cut) <= MAX_LABEL else cut[: MAX_LABEL - 1] + TAKEN_OUT


def without_mark(text: str, mark: str) -> str:
    """Return the text with everything that looks like the mark replaced by an ellipsis, which no mark contains."""
    wanted = mark.lower()
    if text.isascii():
        # Searched first, because hardly any text has it and a pattern takes longer.
        found = wanted in text.lower()
        return re.sub(re.escape(mark), TAKEN_OUT, text, flags=re.IGNORECASE) if found else text
    return _cut_out(text, wanted) if wanted in text.translate(_SHAPES) else text


def _cut_out(text: str, wanted: str) -> str:
    looks = [(shape, place) for place, char in enumerate(text) for shape in char.translate(_SHAPES)]
    seen = "".join(shape for shape, _ in looks)
    kept: list[str] = []
    done = 0
    at = seen.find(wanted)
    while at >= 0:
        first, last = looks[at][1], looks[at + len(wanted) - 1][1]
        # One character may look like several, and so be part of two matches.
        kept.append(text[done:first] + TAKEN_OUT if first >= done else "")
        done = max(done, last + 1)
        at = seen.find(wanted, at + len(wanted))
    return "".join(kept) + text[done:]


class _Shapes(dict[int, str]):
    """The visible shape of each character: lower case, Latin, without accents; empty if it is invisible."""

    def __missing__(self, code: int) -> str:
        folded = unicodedata.normalize("NFKD", chr(code)).casefold().translate(_LOOKS)
        shape = "".join(char for char in folded if unicodedata.category(char) not in ("Mn", "Cf"))
        # A text with every possible character must not make the table grow without limit.
        if len(self) < _LEARNED:
            self[code] = shape
        return shape


_SHAPES = _Shapes()
