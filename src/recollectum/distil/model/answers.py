"""Verifies a model's findings: every quotation must exist, and every claim must be faithful to it."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from recollectum.context.echoes import cut, marked_blocks
from recollectum.distil.date_resolution import resolve_dates
from recollectum.distil.model.instructions import IGNORE, Excerpt
from recollectum.distil.reconciliation import adds_name, is_supported, words_of
from recollectum.distil.rules.statements import holds_secret, is_material, is_unsure
from recollectum.distil.screening import Screen
from recollectum.domain.memory import Kind, Memory
from recollectum.domain.message import Json
from recollectum.domain.proposal import Act, Finding, Span
from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust, least_trusted

#: A shorter quotation proves nothing, unless it is the whole text.
_SHORTEST = 4
_BAR = re.compile(r"^[ \t]*\|[ \t]?", re.MULTILINE)
_AROUND = " \t\r\n\"'“”‘’«»`…"
_SAME = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "ʼ": "'", "–": "-", "—": "-", "−": "-"})


class Quotable:
    """A text in which quotations are searched."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded: tuple[str, list[int]] | None = None

    def find(self, quote: str) -> tuple[int, int] | None:
        """Return the position of a quotation, exact or else up to case, spacing and kinds of marks."""
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
    """Return the text in lower case, with single spaces and plain marks; and each character's original position."""
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


_WORD = re.compile("[A-Za-z0-9]+")
#: A text that says the same over and over must not cost more than its length.
_MAX_TRIES = 200


def _at_words(text: str, wanted: str) -> tuple[int, int] | None:
    """Return the first match that begins and ends with whole words: "eat" is not said in "theatre"."""
    at = text.find(wanted) if wanted else -1
    for _ in range(_MAX_TRIES):
        if at < 0:
            break
        end = at + len(wanted)
        if not _cuts(text, at) and not _cuts(text, end):
            return at, end
        # None of the places inside the same word will do.
        inside = _WORD.match(text, at) if _cuts(text, at) else None
        at = text.find(wanted, inside.end() if inside else at + 1)
    return None


def _cuts(text: str, border: int) -> bool:
    # Scripts without spaces have no word borders.
    around = text[border - 1 : border + 1] if border else ""
    return len(around) == 2 and around.isascii() and around.isalnum()


_BORDER = re.compile(r"[.,;:!?…\n]|\bbut\b", re.IGNORECASE)
_SELF = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|we|we're|we've|me|us)\b")
_OTHER = re.compile(
    r"\b(?:my|our)\s+(?:[\w-]+\s+){0,2}?(?P<who>wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|mother(?! tongue)"
    r"|mum|mom|father|dad|parents?|sister|brother|siblings?|son|daughter|kids?|child|children|twins?|baby|grandmother"
    r"|grandma|grandfather|grandpa|aunt|uncle|niece|nephew|cousin|family|friends?|roommate|flatmate|neighbou?rs?"
    r"|colleagues?|co-?workers?|boss|manager|team|teacher|doctor|client|customer|ex)\b",
    re.IGNORECASE,
)
_THEY = re.compile(r"\A\W*(?:and |so |because |since )?(?:he|she|they)\b", re.IGNORECASE)
_REPORTED = re.compile(
    r"(?<!\bI )(?<!\bwe )\b(?:said|says|claims?|claimed|thinks|told|believes|insists)\b", re.IGNORECASE
)


def is_faithful(content: str, clause: str) -> bool:
    """Return whether a claim is about the same person and thing as its source."""
    told = clause.replace("’", "'")
    if bool(words_of(content).turns) != bool(words_of(told).turns) or _REPORTED.search(told):
        return False
    if _THEY.search(told):
        return False
    other = _OTHER.search(told)
    if other is None or _SELF.search(told):
        return True
    return other["who"].casefold() in content.casefold()


def clause(text: str, start: int, end: int) -> str:
    """Return the words around a quotation that belong to it: a negation may come before the quoted words."""
    borders = [(one.start(), one.end()) for one in _BORDER.finditer(text)]
    begin = max((right for left, right in borders if left < start), default=0)
    after = min((left for left, _ in borders if left >= end), default=len(text))
    return text[min(begin, start) : after]


_CLOSING = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«"}
_MARK = re.compile('["“”„«»]')


def is_own_text(text: str, start: int) -> bool:
    """Return whether a place of a message is the writer's own: not in quotation marks, and no text to work on."""
    opened = ""
    for mark in _MARK.findall(text, 0, start):
        if not opened:
            opened = mark if mark in _CLOSING else ""
        elif mark in _CLOSING[opened]:
            opened = ""
    return not opened and not is_material(text)


_MAX_CONTENT = 1000
_MAX_REASON = 300
_CHANGES = (Act.UPDATE, Act.SUPERSEDE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownWindow:
    """The window that a model was shown, and the conditions under which its answer is accepted."""

    excerpts: Sequence[Excerpt]
    #: In the order of their numbers.
    known: Sequence[Memory]
    screen: Screen
    by: str
    imported: bool


@dataclass(frozen=True, slots=True)
class VerifiedAnswer:
    """The verified part of an answer."""

    findings: list[Finding]
    #: The number of rejected findings.
    dropped: int
    #: Whether it reported something and could quote nothing.
    misquotes: bool


def verify_answer(value: Json, window: ShownWindow) -> VerifiedAnswer:
    """Return the findings of an answer that pass verification."""
    answers = cast("Sequence[Mapping[str, Json]]", cast("Mapping[str, Json]", value)["findings"])
    texts = [Quotable(one.text) for one in window.excerpts]
    placed = [(answer, list(_quotes(answer, window, texts))) for answer in answers if answer["act"] != IGNORE]
    held = [_finding(answer, places, window) for answer, places in placed]
    findings = [one for one in held if one is not None]
    misquotes = bool(placed) and not any(places for _, places in placed)
    return VerifiedAnswer(findings, len(answers) - len(findings), misquotes)


def _finding(answer: Mapping[str, Json], places: Sequence[tuple[Excerpt, Span]], window: ShownWindow) -> Finding | None:
    content = " ".join(str(answer["content"]).split())
    if not content or len(content) > _MAX_CONTENT or holds_secret(content):
        return None
    # A quotation of text that was fresh only in the previous window was found there.
    if not any(one.fresh for one, _ in places) or window.screen.heard.repeats(content):
        return None
    act, targets = _change(answer, window)
    sources = [one.source for one, _ in places]
    said = "\n".join(one.message.text for one in {one.message.id: one for one in sources}.values())
    owners = all(one.is_owners for one in sources) and not window.imported
    clauses = [clause(one.source.message.text, span.start, span.end) for one, span in places]
    kind = Kind(str(answer["kind"]))
    # "If I were rich" claims nothing; in a request, "if" says when it applies.
    supposed = kind is not Kind.CORRECTION and any(is_unsure(told) for told in clauses)
    own = not supposed and all(is_own_text(one.source.message.text, span.start) for one, span in places)
    supported = is_supported(content, said) and not adds_name(content, said)
    true = own and supported and all(is_faithful(content, told) for told in clauses)
    return Finding(
        act=act,
        content=resolve_dates(content, max(one.message.created_at for one in sources).date()),
        kind=kind,
        importance=min(1.0, max(0.0, float(cast("float", answer["importance"])))),
        spans=tuple(sorted({span for _, span in places})),
        targets=targets,
        reason=_reason(str(answer["reason"])),
        trust=least_trusted(*(one.message.trust for one in sources), *((Trust.IMPORTED,) if window.imported else ())),
        by=window.by,
        certain=owners and true,
    )


def _reason(words: str) -> str:
    """Return a reason in one short line, without what memory served: a shortened echo is not recognised any more."""
    return " ".join(cut(words, marked_blocks(words)).split())[:_MAX_REASON]


def _quotes(
    answer: Mapping[str, Json], window: ShownWindow, texts: Sequence[Quotable]
) -> Iterator[tuple[Excerpt, Span]]:
    """Yield the quotations that exist; one under the wrong number is searched in the whole window."""
    for quote in cast("Sequence[Mapping[str, Json]]", answer["quotes"]):
        named = cast("int", quote["message"]) - 1
        order = sorted(range(len(texts)), key=lambda place: (place != named, place))
        found = (_place(window.excerpts[place], texts[place], str(quote["text"])) for place in order)
        if place := next((one for one in found if one), None):
            yield place


def _place(excerpt: Excerpt, text: Quotable, quote: str) -> tuple[Excerpt, Span] | None:
    found = text.find(quote)
    if found is None:
        return None
    start, end = (excerpt.start + place for place in found)
    # A quotation may cross blanked text, if it says the same without it.
    if excerpt.source.hides(start, end):
        return None
    return excerpt, Span(excerpt.source.message.id, start, end)


def _change(answer: Mapping[str, Json], window: ShownWindow) -> tuple[Act, tuple[str, ...]]:
    act, target = Act(str(answer["act"])), cast("int | None", answer["target"])
    if act not in _CHANGES or target is None or not 0 < target <= len(window.known):
        return Act.ADD, ()
    return act, (window.known[target - 1].id,)
