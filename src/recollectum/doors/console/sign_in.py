"""Signs a person in by a one-time link or an API key, signs them out, and stores their display choices."""

import json
from typing import Annotated, cast

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, RedirectResponse, Response

from recollectum.domain.access.owner import Owner, OwnerKind
from recollectum.domain.errors import Denied, InvalidInput, NotFound
from recollectum.doors.console.page_requests import (
    COOKIE,
    NOT_PRIVATE,
    THEME,
    CheckedForm,
    CurrentVisit,
    PostedForm,
    is_private,
    local_path,
    new_router,
    read_form,
    sign_in_page,
)
from recollectum.doors.console.sign_in_desk import ABSOLUTE, LINK_LIFETIME, SignInDesk
from recollectum.doors.http.authentication import is_local_token
from recollectum.doors.http.server_state import server_state_of

router = new_router()
_A_YEAR = 365 * 24 * 3600
_LONGEST = 4096
_CLIENT = "http:console"
_UNKNOWN_KEY = "This key is not known here, or was revoked. Check it, or ask the operator of the server for one."


@router.post("/login/links")
async def make_link(request: Request) -> Response:
    """Create a one-time link for a person; requires the daemon's own token."""
    desk, serving = _desk(request), server_state_of(request)
    if not is_local_token(request):
        refused = {"type": "about:blank", "title": "Unauthorized", "status": 401}
        return JSONResponse(refused, 401, {"www-authenticate": "Bearer"}, media_type="application/problem+json")
    try:
        person = _person(await request.body())
        # In a thread: it reads the catalog.
        await run_in_threadpool(serving.recollectum.people.get, person)
    except (InvalidInput, NotFound) as error:
        status = 404 if isinstance(error, NotFound) else 400
        told = {"type": "about:blank", "title": "No link was made", "status": status, "detail": str(error)}
        return JSONResponse(told, status, media_type="application/problem+json")
    secret = desk.make_link(person)
    return JSONResponse({"path": f"/login?link={secret}", "expires_in": int(LINK_LIFETIME.total_seconds())}, 201)


@router.get("/login")
def show(request: Request, link: str = "") -> Response:
    """Show the page of a link. Viewing it does not use the link: programs that preview links must not sign in."""
    return sign_in_page(request, link=link[:_LONGEST], status=200)


@router.post("/login")
def enter(request: Request, given: Annotated[PostedForm, Depends(read_form)]) -> Response:
    """Exchange a link or an API key for a session."""
    if given.text("key") and not given.text("link"):
        cookie = _admit(request, given.text("key").strip())
        if cookie is None:
            return sign_in_page(request, trouble=_UNKNOWN_KEY, status=401)
    else:
        cookie = _desk(request).redeem(given.text("link"))
    if cookie is None:
        used = "This link was used already, or is older than five minutes. Ask for a new one."
        return sign_in_page(request, trouble=used, status=403)
    response = RedirectResponse("/", status_code=303)
    _set(request, response, COOKIE, cookie, int(ABSOLUTE.total_seconds()))
    return response


def _admit(request: Request, secret: str) -> str | None:
    """Return the cookie of a session with the rights of an API key; None for a key that is not valid here.

    The guard counts a refusal like one of the API, and lets no other site send this form.
    """
    if not is_private(request):
        raise Denied(NOT_PRIVATE)
    try:
        keyed = server_state_of(request).recollectum.login(secret)
    except Denied:
        return None
    person = keyed.caller.person
    if person is None or person.kind is not OwnerKind.USER:
        raise Denied("only people can sign in to the console; use the key of a person")
    return _desk(request).admit(person, keyed.with_client(_CLIENT))


@router.post("/console/logout")
def leave(visit: CurrentVisit, _: CheckedForm) -> Response:
    """End the session."""
    visit.desk.end(visit.cookie)
    response = RedirectResponse("/login", status_code=303)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return response


@router.post("/console/theme")
def choose_theme(request: Request, visit: CurrentVisit, sent: CheckedForm) -> Response:
    """Set the theme: light, dark, or the system's preference."""
    response = visit.go(local_path(sent.text("back", "/")))
    chosen = sent.text("theme")
    _set(request, response, THEME, chosen if chosen in ("light", "dark") else "auto", _A_YEAR)
    return response


@router.post("/console/vault")
def choose_vault(visit: CurrentVisit, sent: CheckedForm) -> Response:
    """Switch to another vault that this person may see."""
    owner = Owner.parse(sent.text("owner"))
    # Opened once, so that the gate refuses here and not on every later page.
    visit.recollectum.vault(owner, create=False).admin.totals()
    visit.desk.choose(visit.cookie, owner)
    return visit.go("/", f"This is the vault of {owner}.")


def _person(body: bytes) -> Owner:
    try:
        given: object = json.loads(body)
    except ValueError:
        given = None
    name = cast("dict[str, object]", given).get("user") if isinstance(given, dict) else None
    if not isinstance(name, str) or not name:
        raise InvalidInput('name the user: {"user": "NAME"}')
    owner = Owner.parse(name if ":" in name else f"{OwnerKind.USER}:{name}").person
    if owner.kind is not OwnerKind.USER:
        raise InvalidInput("only people can sign in to the console; name a user")
    return owner


def _set(request: Request, response: Response, name: str, value: str, seconds: int) -> None:
    secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=seconds, path="/", httponly=True, samesite="strict", secure=secure)


def _desk(request: Request) -> SignInDesk:
    return request.app.state.console_desk
