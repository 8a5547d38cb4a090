"""Shows the search page, with the reasons for each hit's rank."""

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.responses import Response

from recollectum.domain.hit import Hit, SearchMode, SourceKind
from recollectum.domain.ids import parse_optional_enum
from recollectum.domain.records import dataclass
from recollectum.doors.console.page_requests import ROOT, CurrentVisit, Visit, new_router

if TYPE_CHECKING:
    from recollectum.domain.context import Bullet

_NAMES = {
    "who": "who said it",
    "told": "how informative it is",
    "echo": "repeats the question",
    "when": "the time asked for",
    "before": "a match just before it",
    "after": "a match just after it",
    "session": "a match in the same conversation",
    "assistant": "said by an assistant",
    "wish": "a wish that may bear on the request",
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


def _weight_of_rank(rank: int | None) -> int:
    """Return the length of a bar: full for the first rank, and shorter for each later one."""
    return 12 if rank is None else max(12, round(FULL / (1 + 0.18 * (rank - 1))))


def _rank_and_score(rank: int | None, score: float | None, unit: str) -> str:
    told = [f"place {rank}" if rank is not None else "not among the nearest"]
    return ", ".join([*told, f"{unit} {score:.3g}"] if score is not None else told)


router = new_router()
_HITS = 20
_LONGEST = 1000
_RECENT = 6
SOURCES = (("", "everywhere"), *((one.value, one.value) for one in SourceKind))


@dataclass(frozen=True, slots=True)
class HitView:
    """A hit with what the page shows about it."""

    hit: Hit
    reasons: list[RankReason]
    #: The link of a hit: the memory, or the conversation at the words; a note is a file and has no page.
    href: str | None


@router.get("/")
def search(visit: CurrentVisit, q: str = "", source: str = "", part: str = "") -> Response:
    """Show search results, or an overview without a query."""
    asked = q.strip()[:_LONGEST]
    where = source if source in {one for one, _ in SOURCES} else ""
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
    found = [HitView(hit, reasons_of(hit), place_of(hit)) for hit in hits]
    nearest = hits.nearest and HitView(hits.nearest, reasons_of(hits.nearest), place_of(hits.nearest))
    return {"found": found, "degraded": hits.degraded, "nearest": nearest, "archived": hits.archived}


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
