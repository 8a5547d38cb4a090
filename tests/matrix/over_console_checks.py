"""The matrix at the console: who is signed in sees their own vault on every page, and no id leads out of it."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from tests.matrix.checks import contents
from tests.matrix.over_http_checks import CONSOLE, Check
from tests.matrix.over_http_server import Answer, Server, routes, serving
from tests.matrix.over_http_world import TOKEN, ids, seen
from tests.matrix.world import COMMON, OWNERS

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
#: Signing out ends what the others need; the rest is how one came in.
_NOT_ASKED = ("/login", "/console/logout", "/static")


def check_console(folder: Path) -> Iterator[str]:
    """Every page and every form of bob's, aimed at what is alice's."""
    with serving(folder) as server:
        others = [owner for owner in OWNERS if owner != "user:bob"]
        before = {owner: contents(server.home, owner) for owner in others}
        cookie = sign_in(server, "bob")
        if "user:bob" not in {one for one, _ in seen(_page(server, "/console/memories", cookie).text)}:
            yield "bob does not see his own pages"
            return
        csrf = csrf_of(server, cookie)
        for route, module in routes(server.app):
            if module.startswith(CONSOLE) and not route.partition(" ")[2].startswith(_NOT_ASKED):
                yield from _at(server, route, cookie, csrf)
        if before != {owner: contents(server.home, owner) for owner in others}:
            yield "a form of bob's changed another vault"
        for stale in ({"Cookie": "recollectum_session=x"}, {}):
            if _page(server, "/console/memories", stale).status != 401:
                yield "a page is shown to somebody who is not signed in"


def _at(server: Server, route: str, cookie: dict[str, str], csrf: str) -> Iterator[str]:
    method, _, path = route.partition(" ")
    for filled in _aimed(server, path):
        answer = _asked(server, method, filled, cookie, csrf)
        foreign = {owner for owner, _ in seen(answer.text)} - {"user:bob"}
        # A page may repeat the address it was asked by to the person who asked.
        named = [one for one in ids(server.scene, "user:alice") if one in answer.text and one not in filled]
        if foreign or named or answer.status >= 500:
            yield f"bob: {route} answered {answer.status} and showed {foreign} or ids of alice's"


def sign_in(server: Server, name: str) -> dict[str, str]:
    """The cookie of a person who opened a link."""
    made = server.send("POST", "/login/links", {"user": name}, {"Authorization": f"Bearer {TOKEN}"})
    link = re.search(r"link=([\w-]+)", made.text)
    assert link, "no link was made"
    entered = server.send("POST", "/login", urlencode({"link": link[1]}).encode(), FORM)
    return {"Cookie": entered.headers["set-cookie"].partition(";")[0]}


def csrf_of(server: Server, cookie: dict[str, str]) -> str:
    """The token that forms of this session carry."""
    desk = server.app.state.console_desk
    return desk.find(cookie["Cookie"].partition("=")[2]).csrf


def _page(server: Server, path: str, cookie: dict[str, str]) -> Answer:
    return server.send("GET", path, None, cookie)


def _aimed(server: Server, path: str) -> list[str]:
    """A path with what is alice's in it, in every state."""
    held, things = server.scene.held("user:alice"), server.scene.things["user:alice"]
    found = {
        "{memory_id}": [*held.memories.values(), things.learning],
        "{session_id}": held.sessions,
        "{proposal_id}": [things.proposal],
        "{receipt_id}": [things.receipt],
        # Nobody there has one: the page is refused like any that is not there.
        "{name}": ["nowhere"],
    }
    for brace, values in found.items():
        if brace in path:
            return [path.replace(brace, value) for value in values]
    assert "{" not in path, f"say what {path} is filled with"
    return [path, f"{path}?q={COMMON}&owner=user:alice&session_id={held.sessions[0]}"]


def _asked(server: Server, method: str, path: str, cookie: dict[str, str], csrf: str) -> Answer:
    if method == "GET":
        return _page(server, path, cookie)
    fields = {"csrf": csrf, "owner": "user:alice", "content": "changed", "version": "1", "confirm": "yes"}
    return server.send(method, path, urlencode(fields).encode(), {**FORM, **cookie})


CONSOLE_CHECKS: dict[str, Check] = {"console": check_console}
