"""Shows the search page, with the reasons for each hit's rank."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.responses import Response

from recollectum.domain.hit import Hit, SearchMode, SourceKind
from recollectum.domain.ids import parse_optional_enum
from recollectum.domain.records import dataclass
from recollectum.doors.console.page_requests import ROOT, CurrentVisit, Visit, new_router
from recollectum.doors.console.rendering import marked

if TYPE_CHECKING:
    from recollectum.domain.context import Bullet

_NAMES = {
    "who": "who said it",
    "told": "how informative it is",
    "echo": "repeats the question",
    "when": "the time asked for",
    "before": "a match just before it",
    "reply": "replies to a match",
    "after": "a match just after it",
    "session": "a match in the same conversation",
    "assistant": "said by an assistant",
    "wish": "a wish that may bear on the request",
    "answer": "has the time or number asked for",
    "trust": "less trusted",
    "name": "the whole name asked for",
    "newest": "newer than similar texts",
    "oldest": "older than similar texts",
    "earlier": "before the newest of similar texts",
    "rerank": "reranked",
}
#: The score of a full bar.
FULL = 100


@dataclass(frozen=True, slots=True)
class RankReason:
    """One reason: its name, its weight from 0 to 100, and its figures."""

    name: str
    weight: int
    detail: str
    #: `words`, `meaning`, `more` or `less`: its colour.
    sort: str


def reasons_of(hit: Hit) -> list[RankReason]:
    """Return the reasons of a hit, the ones that found it first."""
    why = hit.reasons
    found: list[RankReason] = []
    if why.text_rank is not None or why.text_score is not None:
        name = "a part of a word" if why.rung is SearchMode.SUBSTRING else "words"
        found.append(
            RankReason(
                name, _weight_of_rank(why.text_rank), _rank_and_score(why.text_rank, why.text_score, "BM25"), "words"
            )
        )
    if why.vector_score is not None:
        weight = round(FULL * min(max(why.vector_score, 0.0), 1.0))
        found.append(
            RankReason("meaning", weight, _rank_and_score(why.vector_rank, why.vector_score, "cosine"), "meaning")
        )
    total = abs(hit.score) + max((abs(value) for _, value in why.added), default=0.0)
    for name, value in why.added:
        weight = min(FULL, max(6, round(FULL * abs(value) / (total or 1.0))))
        sort = "more" if value > 0 else "less"
        found.append(RankReason(_NAMES.get(name, name.replace("_", " ")), weight, f"{value:+.3g} to the score", sort))
    return found


#: How sure a match is, by the least score that earns the word; a score is a chance from 0 to 1.
_STRENGTHS = ((0.6, "strong match"), (0.15, "good match"))


def describe_match(hit: Hit, *, calibrated: bool) -> str:
    """Return how sure a match is and what matched: `strong match: words and meaning`."""
    why = hit.reasons
    ways: list[str] = []
    if why.text_rank is not None:
        ways.append("a part of a word" if why.rung is SearchMode.SUBSTRING else "words")
    if why.vector_rank is not None:
        ways.append("meaning")
    # Without calibration a score says only which of these hits is better.
    strength = (
        next((word for least, word in _STRENGTHS if hit.score >= least), "possible match") if calibrated else "match"
    )
    return f"{strength}: {' and '.join(ways)}" if ways else f"{strength}: it is beside what was found"


def _weight_of_rank(rank: int | None) -> int:
    """Return the length of a bar: full for the first rank, and shorter for each later one."""
    return 12 if rank is None else max(12, round(FULL / (1 + 0.18 * (rank - 1))))


def _rank_and_score(rank: int | None, score: float | None, unit: str) -> str:
    told = [f"place {rank}" if rank is not None else "not among the first"]
    return ", ".join([*told, f"{unit} {score:.3g}"] if score is not None else told)


router = new_router()
_HITS = 20
_LONGEST = 1000
_RECENT = 6
#: How many characters of a hit are shown, and how many of them before the first word that was sought.
_EXCERPT, _LEAD = 480, 120
SOURCES = (("", "everywhere"), *((one.value, f"only {one.value}") for one in SourceKind))
_SOURCES = frozenset(value for value, _ in SOURCES)


@dataclass(frozen=True, slots=True)
class HitView:
    """A hit with what the page shows about it."""

    hit: Hit
    #: How sure it is and why, in a few words.
    match: str
    #: Its text around the first word that was sought, with the words marked.
    pieces: list[tuple[str, bool]]
    reasons: list[RankReason]
    #: The link of a hit: the memory, or the conversation at the words; a note is a file and has no page.
    href: str | None


@router.get("/")
def search(visit: CurrentVisit, q: str = "", source: str = "", part: str = "") -> Response:
    """Show search results, or an overview without a query."""
    asked = q.strip()[:_LONGEST]
    where = source if source in _SOURCES else ""
    values: dict[str, object] = {"q": asked, "source": where, "sources": SOURCES, "found": None, "degraded": None}
    if asked:
        values |= _hits(visit, asked, where)
    if part == "hits":
        return visit.part("search_hits.html", values)
    if not asked:
        values |= _glance(visit)
    return visit.page("search.html", values)


def _hits(visit: Visit, asked: str, source: str) -> dict[str, object]:
    wanted = parse_optional_enum(SourceKind, source or None, "source")
    hits = visit.vault.recall(asked, limit=_HITS, source=wanted, untrusted=True, answers_only=True)
    found = [_hit_view(hit, calibrated=hits.calibrated) for hit in hits]
    nearest = hits.nearest and _hit_view(hits.nearest, calibrated=hits.calibrated)
    return {"found": found, "degraded": hits.degraded, "nearest": nearest, "archived": hits.archived}


def _hit_view(hit: Hit, *, calibrated: bool) -> HitView:
    words, pieces = describe_match(hit, calibrated=calibrated), excerpt(hit.text, hit.reasons.terms)
    return HitView(hit, words, pieces, reasons_of(hit), place_of(hit))


def excerpt(text: str, terms: Sequence[str]) -> list[tuple[str, bool]]:
    """Return the text of a hit in pieces, the sought words marked; of a long text, what is around the first of them."""
    if len(text) <= _EXCERPT:
        return marked(text, terms)
    folded = text.casefold()
    # Folding can change the length of a text; then the beginning is shown.
    places = [folded.find(term) for term in terms if len(term) > 1] if len(folded) == len(text) else []
    first = min((place for place in places if place >= 0), default=0)
    start = max(0, min(first - _LEAD, len(text) - _EXCERPT))
    end = start + _EXCERPT
    pieces = marked(text[start:end], terms)
    return [*([("…", False)] if start else []), *pieces, *([("…", False)] if end < len(text) else [])]


def place_of(hit: Hit) -> str | None:
    """Return the page that shows the text of a hit."""
    source = hit.source
    if source.memory_id:
        return f"{ROOT}/memories/{source.memory_id}"
    if source.session_id and source.position is not None:
        mark = urlencode({"at": source.position, "from": source.start, "to": source.end})
        return f"{ROOT}/conversations/{source.session_id}?{mark}#m{source.position}"
    return None


def _glance(visit: Visit) -> dict[str, object]:
    # The first page must not wait for a model, or spend money.
    asks_nobody = visit.operator.settings.language_model.provider == "none"
    profile = visit.vault.admin.profile.find() if asks_nobody else None
    bullets: tuple[Bullet, ...] = profile.bullets[:_RECENT] if profile else ()
    return {
        "totals": visit.vault.admin.totals(),
        "bullets": bullets,
        "recent": visit.vault.memories.list(limit=_RECENT),
    }
