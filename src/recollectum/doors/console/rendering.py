"""Templates into pages: everything is escaped, nothing that is missing goes unnoticed, and only our own files load."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from recollectum.doors.console import words

_FOLDER = Path(__file__).parent
#: What a page may load and do: our style sheet, our script, our picture, forms to ourselves, and nothing else.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    # Not less: without a referrer browsers send forms with the origin `null`, which the guard must refuse.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def render(template: str, values: Mapping[str, object], *, status: int = 200) -> HTMLResponse:
    """A page, or a part of one."""
    text = _templates().get_template(template).render(values)
    # What is not text in any encoding cannot be sent; it was spelled out where it may stand.
    return HTMLResponse(text.encode("utf-8", "replace"), status_code=status)


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_FOLDER / "templates", encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # The library types its filters by its own, which no filter of ours can match.
    filters = cast("dict[str, Callable[..., object]]", made.filters)
    filters.update(
        actor=words.actor,
        clipped=words.clipped,
        day=words.day,
        marked=words.marked,
        moment=words.moment,
        place=words.place,
        plural=words.plural,
        session_title=words.title,
        shown=words.shown,
        size=words.size,
        spaced=words.spaced,
        table=words.table,
    )
    return made
