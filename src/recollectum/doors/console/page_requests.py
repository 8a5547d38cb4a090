"""Turns a request into the visit of a signed-in person, and an error into a page; checks CSRF tokens of forms."""

import base64
import hashlib
import hmac
import math
from collections.abc import Callable, Coroutine, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fastapi import APIRouter, Depends, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Scope

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import (
    Busy,
    Conflict,
    Denied,
    InvalidInput,
    ModelError,
    NotFound,
    RecollectumError,
    StepRefused,
    Unreachable,
)
from recollectum.domain.notice import NO_NOTICE, Notice
from recollectum.domain.records import dataclass
from recollectum.doors.console.rendering import HEADERS, POLICY, STYLE_SHEET, Reader, plural, render
from recollectum.doors.console.sign_in_desk import BrowserSession, SignInDesk
from recollectum.doors.http.server_state import ServerState, server_state_of

if TYPE_CHECKING:
    from recollectum.engine import Recollectum
    from recollectum.vault.vault import Vault

COOKIE = "recollectum_session"
THEME = "recollectum_theme"
#: The time zone of the browser, which the script of the pages writes.
ZONE = "recollectum_zone"
#: The prefix of every page except search, which is the root.
ROOT = "/console"
#: The entries of the navigation, by the last part of their path.
PAGES = (
    ("", "Search"),
    ("memories", "Memories"),
    ("conversations", "Conversations"),
    ("projects", "Projects"),
    ("review", "Review"),
    ("timeline", "Timeline"),
    ("context", "Context"),
    ("state", "State"),
    ("privacy", "Privacy"),
    ("extensions", "Extensions"),
    ("tasks", "Tasks"),
    ("health", "Health"),
)
#: Shown instead of the field for a key.
NOT_PRIVATE = (
    "This connection is not encrypted, so no key is taken here. Open the console with https, or on the machine itself."
)
_MOST_FIELDS = 200
_MOST_WAITING = 100
_LONGEST_ZONE = 64
_FORM = "application/x-www-form-urlencoded"


class SignInNeeded(Exception):
    """Raised when nobody is signed in, or the session has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A signed-in person's request."""

    request: Request
    desk: SignInDesk
    cookie: str
    signed: BrowserSession
    #: The home as the process owner has it, for what belongs to the home and not to a person.
    operator: "Recollectum"
    #: The home as this person sees it.
    recollectum: "Recollectum"
    vault: "Vault"

    def page(self, template: str, values: Mapping[str, object], *, status: int = 200) -> HTMLResponse:
        """Render a whole page of the console."""
        if self.signed.notice:
            self.desk.leave_notice(self.cookie, "")
        frame = {
            "person": self.signed.person.name,
            "owner": str(self.vault.owner),
            "owners": [str(one) for one in self.recollectum.list_owners()],
            "waiting": self._waiting(),
            "notice": self.signed.notice,
            "undo": self.signed.undo,
            "csrf": self.signed.csrf,
            "back": _here(self.request),
            "pages": [(f"{ROOT}/{part}" if part else "/", name) for part, name in PAGES],
            "theme": theme_of(self.request),
            "root": ROOT,
        }
        return render(template, {**frame, **values}, status=status, reader=self.reader)

    @property
    def reader(self) -> Reader:
        """Who reads the pages of this visit."""
        return Reader(zone=zone_of(self.request), person=str(self.signed.person))

    def _waiting(self) -> str:
        """Return how many proposals wait, for the navigation; empty for a person who may not see them."""
        try:
            waiting = len(self.vault.admin.review.list(limit=_MOST_WAITING))
        except Denied:
            # The page is about something else, which this person may see.
            return ""
        return f"{waiting}+" if waiting == _MOST_WAITING else str(waiting or "")

    def part(self, template: str, values: Mapping[str, object]) -> HTMLResponse:
        """Render a part of a page, for the script that searches while the person types."""
        return render(template, {"root": ROOT, "csrf": self.signed.csrf, **values}, reader=self.reader)

    def go(self, path: str, told: str = "", notice: Notice = NO_NOTICE, *, undo: int | None = None) -> RedirectResponse:
        """Redirect to another page of the console, which shows once what was done, and what was done to the text.

        With `undo`, the number of an event, the page offers to undo it.
        """
        sentences = [told, *(f"{one}." for one in notice.sentences())] if told else []
        if sentences:
            self.desk.leave_notice(self.cookie, " ".join(sentences), undo)
        return RedirectResponse(local_path(path), status_code=303)


def find_visit(request: Request) -> Visit:
    """Return the visit of a request; raise when there is no session."""
    desk: SignInDesk = request.app.state.console_desk
    serving = server_state_of(request)
    cookie = request.cookies.get(COOKIE, "")
    signed = desk.find(cookie) if cookie else None
    if signed is None or not _is_here(serving, signed.person):
        raise SignInNeeded
    recollectum = signed.keyed or serving.recollectum.as_person(str(signed.person))
    try:
        vault = _vault(recollectum, desk, cookie, signed)
    except Denied:
        if signed.keyed is None:
            raise
        # The key that opened the session was revoked.
        desk.end(cookie)
        raise SignInNeeded from None
    return Visit(
        request=request,
        desk=desk,
        cookie=cookie,
        signed=signed,
        operator=serving.recollectum,
        recollectum=recollectum,
        vault=vault,
    )


def is_signed_in(request: HTTPConnection) -> bool:
    """Return whether a request has the cookie of a signed-in browser."""
    desk: SignInDesk = request.app.state.console_desk
    cookie = request.cookies.get(COOKIE, "")
    return bool(cookie) and desk.find(cookie) is not None


def _vault(recollectum: "Recollectum", desk: SignInDesk, cookie: str, signed: BrowserSession) -> "Vault":
    try:
        return recollectum.vault(signed.owner)
    except NotFound:
        if signed.owner == signed.person:
            raise
    # The grant for the other vault was withdrawn; the person's own vault is always available.
    desk.choose(cookie, signed.person)
    return recollectum.vault(signed.person)


@dataclass(frozen=True, slots=True)
class PostedForm:
    """The fields of a form, by name."""

    fields: Mapping[str, list[str]]

    def text(self, name: str, default: str = "") -> str:
        """Return one field, with normalised line ends."""
        found = self.fields.get(name, [default])[0]
        return found.replace("\r\n", "\n").replace("\r", "\n")

    def every(self, name: str) -> list[str]:
        """Return all fields of one name, such as the ticked boxes of a list."""
        return list(self.fields.get(name, ()))

    def number(self, name: str) -> int:
        """Return one field that must be a whole number."""
        text = self.text(name).strip()
        if not text.isascii() or not text.isdigit() or len(text) > 12:
            raise InvalidInput(f"the field {name!r} must be a whole number")
        return int(text)


async def read_form(request: Request) -> PostedForm:
    """Parse the fields of a plain form."""
    if request.headers.get("content-type", "").partition(";")[0].strip().casefold() != _FORM:
        raise InvalidInput("send the form as plain fields (application/x-www-form-urlencoded)")
    body = (await request.body()).decode("utf-8", "replace")
    try:
        return PostedForm(parse_qs(body, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise InvalidInput(f"a form has at most {_MOST_FIELDS} fields; send fewer") from None


def check_form(
    given: Annotated[PostedForm, Depends(read_form)], found: Annotated[Visit, Depends(find_visit)]
) -> PostedForm:
    """Return the fields of a form after checking that one of our pages sent it."""
    if not hmac.compare_digest(given.text("csrf").encode(), found.signed.csrf.encode()):
        raise Denied("this form is not from a page of your session; open the page again, and send the form again")
    return given


CurrentVisit = Annotated[Visit, Depends(find_visit)]
CheckedForm = Annotated[PostedForm, Depends(check_form)]


def theme_of(request: Request) -> str:
    """Return the chosen theme: light, dark, or auto for the system's preference."""
    chosen = request.cookies.get(THEME, "")
    return chosen if chosen in ("light", "dark") else "auto"


def zone_of(request: Request) -> ZoneInfo | None:
    """Return the time zone of the browser; None when it is unknown, here or there."""
    name = request.cookies.get(ZONE, "")
    try:
        return ZoneInfo(name) if name and len(name) <= _LONGEST_ZONE else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # Not a zone of this machine, or no zone at all, such as the name of a folder.
        return None


def local_path(path: str) -> str:
    """Return the path if it stays in this console, else the first page."""
    parts = urlsplit(path)
    inside = path.startswith("/") and not path.startswith(("//", "/\\")) and not parts.scheme and not parts.netloc
    return path if inside and path.isprintable() and path.isascii() else "/"


def _here(request: Request) -> str:
    if request.method != "GET":
        return "/"
    query = request.url.query
    return local_path(f"{request.url.path}?{query}" if query else request.url.path)


def _is_here(serving: ServerState, person: Owner) -> bool:
    """Return whether the person still exists in the home: an erased person is signed out."""
    try:
        serving.recollectum.people.get(person)
    except NotFound:
        return False
    return True


_STATUS: tuple[tuple[type[RecollectumError], int, str], ...] = (
    (NotFound, 404, "Not found"),
    (Denied, 403, "Not allowed"),
    (Conflict, 409, "It changed in the meantime"),
    (StepRefused, 409, "That step is not possible now"),
    (InvalidInput, 400, "That value cannot be used"),
    (Busy, 503, "The vault is busy"),
    (Unreachable, 503, "The database cannot be reached"),
    (ModelError, 503, "The model did not answer"),
)


class ConsoleRoute(APIRoute):
    """A route whose errors are shown as pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler with error pages around it."""
        handle = super().get_route_handler()

        async def calm(request: Request) -> Response:
            try:
                response = await handle(request)
            except SignInNeeded:
                response = await run_in_threadpool(sign_in_page, request)
            except RecollectumError as error:
                response = await run_in_threadpool(trouble_page, request, error)
            except RequestValidationError:
                refused = InvalidInput("the address of this page has an invalid part")
                response = await run_in_threadpool(trouble_page, request, refused)
            for name, value in HEADERS.items():
                response.headers[name] = value
            return response

        return calm


def new_router() -> APIRouter:
    """Return a router for console pages, which are not part of the API description."""
    return APIRouter(route_class=ConsoleRoute, include_in_schema=False)


def is_private(request: Request) -> bool:
    """Return whether nobody on the way can read what this browser sends.

    Browsers send `Sec-Fetch-Site` only over HTTPS or to the machine itself, also where a proxy serves HTTPS for us.
    """
    client = request.client.host if request.client else ""
    is_here = client == "::1" or client.startswith(("127.", "::ffff:127."))
    return request.url.scheme == "https" or is_here or "sec-fetch-site" in request.headers


def sign_in_page(request: Request, *, link: str = "", trouble: str = "", status: int = 401) -> Response:
    """Render the page for a person who is not signed in."""
    values = {
        "link": link,
        "trouble": trouble,
        "takes_key": is_private(request),
        "not_private": NOT_PRIVATE,
        "theme": theme_of(request),
        "root": ROOT,
    }
    return render("sign_in.html", values, status=status)


def trouble_page(request: Request, error: RecollectumError) -> Response:
    """Render an error page: what went wrong, and a link back."""
    found = next(((code, words) for kind, code, words in _STATUS if isinstance(error, kind)), None)
    status, heading = found or (500, "Something went wrong")
    values = {"heading": heading, "sentence": str(error), "theme": theme_of(request), "root": ROOT, "style": ""}
    return render("trouble.html", values, status=status)


#: What a request that reaches no page says to a person, by its status: a heading, and what to do.
REFUSED: Mapping[int, tuple[str, str]] = {
    400: ("That request cannot be read", "Open the page again, and repeat what you did."),
    403: ("Not allowed", "The request came from a page of another site. Open the console itself, and repeat it there."),
    404: ("There is no such page", "The address is mistyped, or the page was moved."),
    405: ("This address is for forms", "Open the page that has the form, and send it from there."),
    413: ("That is too long", "The server does not take so much at once. Send it in smaller parts."),
    415: ("That form cannot be read", "Open the page that has the form, and send it from there."),
    421: (
        "This name is not allowed",
        "The server does not answer to the name in the address. Use a name that it allows, or let the operator of the "
        "server run: recollectum settings set server.hosts NAME, and start the daemon again.",
    ),
    422: ("That value cannot be used", "Open the page again, and change what you typed."),
    429: ("Too many requests", "Wait a little, and load the page again."),
    500: (
        "Something went wrong",
        "The mistake is not yours; the log of the server has the details. Look whether the last step was done before "
        "you repeat it.",
    ),
    503: ("Not ready", "The server cannot answer now. Load the page again in a minute."),
}
#: Where programs ask, and get JSON, whatever they accept.
_OF_PROGRAMS = ("/v1/", "/memory/", "/mcp", "/local/")


def refusal_page(scope: Scope, status: int, wait: float = 0.0) -> Response | None:
    """Render the page of a request that reached no route or failed; None for a program, which gets JSON.

    The page brings its style with it: a server that refuses a host name or a rate refuses the style sheet too.
    """
    request = Request(scope)
    told = REFUSED.get(status) or (REFUSED[500] if status >= 500 else None)
    of_person = "text/html" in request.headers.get("accept", "") and not scope["path"].startswith(_OF_PROGRAMS)
    if told is None or not of_person:
        return None
    heading, sentence = told
    if wait:
        sentence = f"Wait {plural(math.ceil(wait), 'second')}, and load the page again."
    style, digest = _style()
    values = {"heading": heading, "sentence": sentence, "theme": theme_of(request), "root": ROOT, "style": style}
    response = render("trouble.html", values, status=status)
    for name, value in HEADERS.items():
        response.headers[name] = value
    response.headers["content-security-policy"] = POLICY.replace("style-src 'self'", f"style-src '{digest}'")
    return response


@cache
def _style() -> tuple[str, str]:
    """Return the style sheet, and the digest by which the policy allows it inside a page."""
    text = STYLE_SHEET.read_text(encoding="utf-8")
    return text, "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
