"""Answers: what a model says it found in a window, held against what really stands there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from recollectum.distil.asking import IGNORE
from recollectum.distil.dating import dated
from recollectum.distil.faithfulness import clause, faithful
from recollectum.distil.quoting import Quotable
from recollectum.distil.sameness import supported
from recollectum.distil.screening import Screen
from recollectum.distil.secrecy import holds_secret
from recollectum.distil.windows import Excerpt
from recollectum.domain.memory import Kind, Memory
from recollectum.domain.message import Json
from recollectum.domain.proposal import Act, Finding, Span
from recollectum.domain.trust import Trust, least

_MAX_CONTENT = 1000
_MAX_REASON = 300
_CHANGES = (Act.UPDATE, Act.SUPERSEDE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What a model was shown, and under which conditions it is believed."""

    excerpts: Sequence[Excerpt]
    #: In the order of their numbers.
    known: Sequence[Memory]
    screen: Screen
    by: str
    imported: bool


@dataclass(frozen=True, slots=True)
class Heard:
    """What of an answer holds."""

    findings: list[Finding]
    #: How many do not.
    dropped: int
    #: Whether it reported something and could quote nothing.
    misquotes: bool


def heard(value: Json, window: Window) -> Heard:
    """The findings of an answer that hold."""
    answers = cast("Sequence[Mapping[str, Json]]", cast("Mapping[str, Json]", value)["findings"])
    texts = [Quotable(one.text) for one in window.excerpts]
    placed = [(answer, list(_quotes(answer, window, texts))) for answer in answers if answer["act"] != IGNORE]
    held = [_finding(answer, places, window) for answer, places in placed]
    findings = [one for one in held if one is not None]
    misquotes = bool(placed) and not any(places for _, places in placed)
    return Heard(findings, len(answers) - len(findings), misquotes)


def _finding(answer: Mapping[str, Json], places: Sequence[tuple[Excerpt, Span]], window: Window) -> Finding | None:
    content = " ".join(str(answer["content"]).split())
    if not content or len(content) > _MAX_CONTENT or holds_secret(content):
        return None
    # What only the window before showed as fresh was found there.
    if not any(one.fresh for one, _ in places) or window.screen.heard.repeats(content):
        return None
    act, targets = _change(answer, window)
    sources = [one.source for one, _ in places]
    said = "\n".join(one.message.text for one in {one.message.id: one for one in sources}.values())
    owners = all(one.is_owners for one in sources) and not window.imported
    clauses = [clause(one.source.message.text, span.start, span.end) for one, span in places]
    true = supported(content, said) and all(faithful(content, told) for told in clauses)
    return Finding(
        act=act,
        content=dated(content, max(one.message.created_at for one in sources).date()),
        kind=Kind(str(answer["kind"])),
        importance=min(1.0, max(0.0, float(cast("float", answer["importance"])))),
        spans=tuple(sorted({span for _, span in places})),
        targets=targets,
        reason=" ".join(str(answer["reason"]).split())[:_MAX_REASON],
        trust=least(*(one.message.trust for one in sources), *((Trust.IMPORTED,) if window.imported else ())),
        by=window.by,
        certain=owners and true,
    )


def _quotes(answer: Mapping[str, Json], window: Window, texts: Sequence[Quotable]) -> Iterator[tuple[Excerpt, Span]]:
    """The quotations that are really there; one under the wrong number is looked for in the whole window."""
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
    # A quotation may run over what was blanked, when it says the same without it.
    if excerpt.source.hides(start, end):
        return None
    return excerpt, Span(excerpt.source.message.id, start, end)


def _change(answer: Mapping[str, Json], window: Window) -> tuple[Act, tuple[str, ...]]:
    act, target = Act(str(answer["act"])), cast("int | None", answer["target"])
    if act not in _CHANGES or target is None or not 0 < target <= len(window.known):
        return Act.ADD, ()
    return act, (window.known[target - 1].id,)
