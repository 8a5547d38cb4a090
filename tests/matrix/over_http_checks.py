"""The matrix over HTTP: owner x caller x state x route. Each check yields a sentence for each rule that is broken."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from tests.matrix.checks import contents
from tests.matrix.homes import copy_home
from tests.matrix.over_http_routes import Ask, asks, ghosts
from tests.matrix.over_http_server import Answer, Server, for_owner, routes, serving
from tests.matrix.over_http_world import PERSONS, RIGHTS, STRANGERS, ids, seen
from tests.matrix.world import OWNERS

Check = Callable[[Path], Iterator[str]]
GHOST = "user:zorro"
OPEN = frozenset({"GET /healthz", "GET /readyz"})
MCP = "recollectum.doors.mcp"
CONSOLE = "recollectum.doors.console"
#: Of the console, what shows itself to anybody: its files, and the page on which one signs in.
ANYBODYS = frozenset({"GET /login", "GET /static/{name}"})
#: Only for programs that have the daemon's own token; a key is no use there.
LOCAL = frozenset({"POST /hook", "POST /login/links", "POST /local/embed"})


def check_every_route_is_asked(folder: Path) -> Iterator[str]:
    """No route is left out of the matrix, and none in it has gone."""
    with serving(folder) as server:
        there = {route for route, module in routes(server.app) if not module.startswith((MCP, CONSOLE))}
    asked = {ask.route for ask in asks(server.scene.held("user:alice"), server.scene.things["user:alice"])}
    if there - LOCAL != asked:
        yield f"the matrix and the routes differ: {sorted((there - LOCAL) ^ asked)}"


def check_strangers(folder: Path) -> Iterator[str]:
    """Without a key, and with one that is none any more, nothing answers; nor does it say why."""
    with serving(folder) as server:
        every = asks(server.scene.held("user:alice"), server.scene.things["user:alice"])
        for ask in every:
            yield from _to_strangers(server, ask.method, ask.path, ask.body, ask.route in OPEN)
        for route, module in routes(server.app):
            method, _, path = route.partition(" ")
            filled = path.replace("{name}", "console.css")
            if module.startswith(MCP) or route in LOCAL:
                yield from _to_strangers(server, method, filled, {"user": "alice"}, is_open=False)
            elif module.startswith(CONSOLE):
                yield from _to_the_console(server, route, filled)


def _to_strangers(server: Server, method: str, path: str, body: object, is_open: bool) -> Iterator[str]:  # noqa: FBT001
    told: set[str] = set()
    for stranger in STRANGERS:
        # A body that cannot be read as well: the key is looked at before it.
        for sent in (body, b"{") if method != "GET" else (body,):
            answer = server.ask(stranger, method, path, sent)
            told.add(answer.text)
            if answer.status != (200 if is_open else 401) or seen(answer.text):
                yield f"{stranger}: {method} {path} answered {answer.status}"
    if len(told) != 1:
        yield f"{method} {path}: strangers are told apart"


def _to_the_console(server: Server, route: str, path: str) -> Iterator[str]:
    """A page needs a session of its own: no key is one."""
    method = route.partition(" ")[0]
    for caller in ("nobody", "as_a_cookie", "alice", "admin", "operator"):
        form = {"Content-Type": "application/x-www-form-urlencoded"} if method == "POST" else {}
        answer = server.ask(caller, method, path, b"link=x&csrf=x" if form else None, form)
        allowed = {200} if route in ANYBODYS else {403} if route == "POST /login" else {401}
        if answer.status not in allowed or seen(answer.text):
            yield f"{caller}: the console's {route} answered {answer.status}"


def check_only_the_local_token(folder: Path) -> Iterator[str]:
    """What local programs ask is answered to no key, whatever it may do."""
    with serving(folder) as server:
        for route in sorted(LOCAL):
            for caller in set(RIGHTS) - {"operator", "acting"}:
                answer = server.ask(caller, "POST", route.partition(" ")[2], {"user": "alice"})
                if answer.status != 401:
                    yield f"{caller}: {route} answered {answer.status}"


def check_reads_and_refusals(folder: Path) -> Iterator[str]:
    """Who may read sees exactly what the state allows; who may not gets no word; refused writes write nothing."""
    with serving(folder) as server:
        before = {owner: contents(server.home, owner) for owner in OWNERS}
        for caller, owners in RIGHTS.items():
            for owner in (*OWNERS, None):
                if owner is None or owner in owners:
                    yield from _visible(server, caller, owner)
                else:
                    yield from _hidden(server, caller, owner)
        for owner in OWNERS:
            if contents(server.home, owner) != before[owner]:
                yield f"{owner}: something that was refused, or a reader, changed the vault"
        yield from quiet(server, folder)


def _visible(server: Server, caller: str, owner: str | None) -> Iterator[str]:
    whose = owner or PERSONS[caller] or "user:alice"
    aimed = whose if whose in OWNERS else "user:alice"
    for ask in asks(server.scene.held(aimed), server.scene.things.get(aimed)):
        if ask.own and owner is not None:
            continue
        expected = _expected(caller, owner, whose, ask)
        if expected == 200 and ask.permission in ("write", "admin"):
            continue  # Done later, when nothing is left to be compared.
        answer = _asked(server, caller, ask, owner)
        if expected == 200 and (not ask.there or (aimed != whose and ask.id)):
            expected = 404
        shown = (
            {(whose, place) for place in ask.shows} if expected == 200 and aimed == whose else set[tuple[str, str]]()
        )
        yield from _judged(server, f"{caller} in {owner}: {ask}", answer, expected, shown, whose)
        if ask.id and _expected(caller, owner, whose, replace(ask, permission="read")) == 403:
            never = _asked(server, caller, ghosts(ask), owner)
            if never.text != answer.text:
                yield f"{caller} in {owner}: {ask} tells an id that is there from one that never was"


def _expected(caller: str, owner: str | None, whose: str, ask: Ask) -> int:
    right = RIGHTS[caller].get(whose, "write" if owner is None else "")
    match ask.permission:
        case "key":
            return 200
        case "admin":
            return 200 if caller in ("admin", "operator") else 403
        case _ if owner is None and PERSONS[caller] is None:
            return 422
        case _ if right == "session":
            return 200 if ask.permission == "read" and ask.session == 0 else 403
        case _:
            return 200 if right in ("write", ask.permission) else 403


def _asked(server: Server, caller: str, ask: Ask, owner: str | None = None) -> Answer:
    return server.ask(caller, ask.method, for_owner(ask.path, owner), ask.body, ask.headers)


def _judged(
    server: Server, what: str, answer: Answer, status: int, shown: set[tuple[str, str]], whose: str | None = None
) -> Iterator[str]:
    """Hold an answer against the rules; only one that is given names ids, and only those of the vault it is about."""
    if answer.status != status:
        yield f"{what} answered {answer.status}, not {status}"
    if seen(answer.text) != shown:
        yield f"{what} showed {sorted(seen(answer.text))}, not {sorted(shown)}"
    others = [owner for owner in OWNERS if owner != whose or answer.status != 200]
    named = [owner for owner in others if any(one in answer.text for one in ids(server.scene, owner))]
    if named:
        yield f"{what} named ids of {named}"


def _hidden(server: Server, caller: str, owner: str) -> Iterator[str]:
    """A vault that one may not see looks exactly like one that never was."""
    never = _of_a_ghost(server, caller)
    # One of each: where there is no vault, there is nothing in any state either.
    for ask in {str(one): one for one in asks(server.scene.held(owner), server.scene.things.get(owner))}.values():
        if ask.own:
            continue
        answer = _asked(server, caller, ask, owner)
        yield from _judged(server, f"{caller} in {owner}: {ask}", answer, 404, set())
        if answer.text != never:
            yield f"{caller}: {ask} tells {owner} from one who never was"
        if owner in answer.text:
            yield f"{caller}: {ask} repeats the name of {owner}"


def _of_a_ghost(server: Server, caller: str) -> str:
    """What is said of a vault that never was; the same for every route, or it would not be compared with this."""
    return server.ask(caller, "GET", for_owner("/memory", GHOST)).text


def quiet(server: Server, folder: Path) -> Iterator[str]:
    """Neither the metrics nor any log hold a word, an id, a name or a secret."""
    metrics = server.ask("alice", "GET", "/metrics").text
    files = [path for path in (folder / "home").rglob("*.log*") if path.is_file()]
    logs = "\n".join([*server.log.lines, *(path.read_text(encoding="utf-8", errors="replace") for path in files)])
    if "recollectum_requests_total" not in metrics:
        yield "there are no metrics to look at"
    for name, text in (("metrics", metrics), ("log", logs)):
        secret = [caller for caller, word in server.scene.secrets.items() if word in text]
        named = [owner for owner in OWNERS if any(one in text for one in ids(server.scene, owner))]
        if seen(text) or secret or named or "zorro" in text:
            yield f"the {name} repeats {sorted(seen(text))}, secrets of {secret}, ids of {named}, or a name"


def check_foreign_ids(folder: Path) -> Iterator[str]:
    """An id of another vault is, in one's own, exactly an id that never was."""
    with serving(folder) as server:
        for caller, other in (
            ("alice", "user:bob"),
            ("bob", "user:alice"),
            ("admin", "user:bob"),
            ("heidi", "user:bob"),
        ):
            for ask in asks(server.scene.held(other), server.scene.things[other]):
                if not ask.id or (ask.permission == "admin" and caller != "admin"):
                    continue
                answer, never = _asked(server, caller, ask), _asked(server, caller, ghosts(ask))
                yield from _judged(server, f"{caller}: {ask} with an id of {other}", answer, 404, set())
                if answer.text != never.text:
                    yield f"{caller}: {ask} tells an id of {other} from one that never was"
                if ask.id in answer.text:
                    yield f"{caller}: {ask} repeats an id"


def check_own_writes(folder: Path) -> Iterator[str]:
    """Who may write is not refused, sees nothing of anybody else, and changes nobody else's vault."""
    for caller, owner in (
        ("alice", None),
        ("acting", None),
        ("admin", None),
        ("heidi", "user:bob"),
        ("operator", "global"),
    ):
        whose = owner or "user:alice"
        with serving(copy_home(folder, folder.with_name(f"{folder.name}-{caller}"))) as server:
            others = {one: contents(server.home, one) for one in OWNERS if one != whose}
            for ask in asks(server.scene.held(whose), server.scene.things.get(whose)):
                if ask.permission != "write" or (ask.own and owner):
                    continue
                answer = _asked(server, caller, ask, owner)
                if answer.status not in ({200, 201, 202, 409} if ask.there else {404}):
                    yield f"{caller} in {whose}: {ask} answered {answer.status}"
                if {found for found, _ in seen(answer.text)} - {whose}:
                    yield f"{caller} in {whose}: {ask} showed {seen(answer.text)}"
            if others != {one: contents(server.home, one) for one in others}:
                yield f"{caller}: a write in {whose} changed another vault"


#: Every check gets a copy of the home that it may change; the quickest come first.
CHECKS: dict[str, Check] = {
    "routes": check_every_route_is_asked,
    "local token": check_only_the_local_token,
    "foreign ids": check_foreign_ids,
    "strangers": check_strangers,
    "own writes": check_own_writes,
    "reads and refusals": check_reads_and_refusals,
}
