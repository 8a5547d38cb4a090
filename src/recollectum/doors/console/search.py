"""Search: the first page. What the vault knows about a text, with the reasons and the place of each hit."""

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.responses import Response

from recollectum.domain.hit import Hit, SourceKind
from recollectum.doors.console.reasons import Reason, reasons_of
from recollectum.doors.console.routing import new_router
from recollectum.doors.console.visiting import ROOT, Visit, Visiting

if TYPE_CHECKING:
    from recollectum.domain.profile import Bullet

router = new_router()
_HITS = 20
_LONGEST = 1000
_RECENT = 6
SOURCES = (("", "everywhere"), *((one.value, one.value) for one in SourceKind))


@dataclass(frozen=True, slots=True)
class Found:
    """A hit with what the page says about it."""

    hit: Hit
    reasons: list[Reason]
    #: Where one reads on: the memory, or the conversation at the very words; a note is a file and has no page.
    href: str | None


@router.get("/")
def search(visit: Visiting, q: str = "", source: str = "", part: str = "") -> Response:
    """Search, and without a query what there is to know at a glance."""
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
    hits = visit.vault.recall(asked, limit=_HITS, source=source or None, untrusted=True)
    found = [Found(hit, reasons_of(hit), place_of(hit)) for hit in hits]
    return {"found": found, "degraded": hits.degraded}


def place_of(hit: Hit) -> str | None:
    """The page on which a hit's words stand."""
    source = hit.source
    if source.memory_id:
        return f"{ROOT}/memories/{source.memory_id}"
    if source.session_id and source.position is not None:
        mark = urlencode({"at": source.position, "from": source.start, "to": source.end})
        return f"{ROOT}/conversations/{source.session_id}?{mark}#m{source.position}"
    return None


def _glance(visit: Visit) -> dict[str, object]:
    # A first page must not wait for a model, nor spend money.
    asks_nobody = visit.operator.loaded.settings.language_model.provider == "none"
    profile = visit.vault.profile.get() if asks_nobody else None
    bullets: tuple[Bullet, ...] = profile.bullets[:_RECENT] if profile else ()
    return {
        "totals": visit.vault.totals(),
        "bullets": bullets,
        "recent": visit.vault.memories.page(limit=_RECENT),
    }
