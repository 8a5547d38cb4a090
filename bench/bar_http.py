"""Measures the HTTP doors: access without a credential, requests of web pages, and rate limits."""

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.bar_row import Measured, own_place
from tests.doors.http.served import Answer, Served, serving
from tests.doors.http.test_guard import BINDS, FOREIGN_HOSTS, FOREIGN_ORIGINS, FOREIGN_TYPES
from tests.matrix.homes import copy_home, quick_folder
from tests.matrix.over_http_checks import Check
from tests.matrix.over_http_runner import ALL
from tests.matrix.over_http_server import routes
from tests.matrix.over_http_server import serving as serving_the_world
from tests.matrix.over_http_world import STRANGERS, furnish

_WITHOUT = ("routes", "local token", "strangers", "mcp strangers")
_FOREIGN = ("foreign ids", "mcp foreign ids", "mcp sessions", "purge tokens", "console", "reads and refusals")
_ADD = {"content": "I drink tea"}
#: What a page would like to reach: something to write, something to read, and the doors of agents and people.
_WANTED = (
    ("POST", "/memory/add"),
    ("POST", "/mcp"),
    ("POST", "/hook"),
    ("POST", "/login"),
    ("DELETE", "/memory/mem_x"),
)
_PER_MINUTE = 20
_BURST = 60
_MOST_KB = 4


def without_credentials(*, long: bool, checks: Mapping[str, Check] = ALL) -> Measured:
    """Call every route, tool, resource and prompt without a key, with a wrong one, and with a revoked one."""
    names = (*_WITHOUT, *_FOREIGN) if long else _WITHOUT
    with own_place(), quick_folder() as world, quick_folder() as scratch:
        furnish(world)
        found = [one for name in names for one in checks[name](copy_home(world, scratch / name.replace(" ", "_")))]
        with serving_the_world(world) as server:
            count = len(list(routes(server.app)))
    return Measured(f"{len(found)} answered of {count} routes, to {len(STRANGERS)} kinds of stranger", not found)


def browser_pages(*, long: bool, hosts: str = "") -> Measured:
    """Send requests as a page of another site can, on every address that the server can listen on."""
    sent, passed = 0, 0
    wanted = _WANTED if long else _WANTED[:2]
    for bind in BINDS:
        with _served(bind=bind, settings={"server.hosts": hosts}) as served:
            for method, path in wanted:
                answers = list(_from_a_page(served, method, path))
                sent += len(answers)
                passed += sum(answer.status != status for answer, status in answers)
            passed += len(served.home.vault("user:alice").memories.list())
    return Measured(f"{passed} of {sent} requests on {len(BINDS)} addresses not refused", passed == 0)


def _from_a_page(served: Served, method: str, path: str) -> Iterator[tuple[Answer, int]]:
    """Yield each answer and the expected status."""
    here = f"[{served.address}]:{served.port}" if ":" in served.address else f"{served.address}:{served.port}"
    for host in FOREIGN_HOSTS:
        yield served.ask(method, path, _ADD, Host=host.format(port=served.port)), 421
    for origin in FOREIGN_ORIGINS:
        yield served.ask(method, path, _ADD, Host=here, Origin=origin.format(port=served.port, here=here)), 403
    for kind in FOREIGN_TYPES:
        # A form of the console is accepted as a form, but has no session.
        if not (path == "/login" and "form-urlencoded" in kind):
            yield served.ask(method, path, _ADD, Host=here, Content_Type=kind), 415


def limits_hold(*, long: bool, per_minute: int = _PER_MINUTE, most_kb: int = _MOST_KB) -> Measured:
    """Send a burst of one key, guesses at keys, and bodies over the limit; check that refused ones did nothing."""
    burst = _BURST * (10 if long else 1)
    settings = {"server.rate_per_minute": per_minute, "server.failures_per_minute": _PER_MINUTE}
    with _served(settings=settings) as served:
        statuses = [served.ask("POST", "/memory/add", {"content": f"tea {n}"}).status for n in range(burst)]
        kept = len(served.home.vault("user:alice").memories.list(limit=1000))
        guesses = [served.with_key(f"rk_{n}").ask("GET", "/memory").status for n in range(burst)]
    # Some tokens of the bucket come back during the burst.
    allowed, refused = statuses.count(200), statuses.count(429)
    bursts = allowed <= 2 * _PER_MINUTE and allowed + refused == burst and kept == allowed
    stopped = guesses.count(401) <= 2 * _PER_MINUTE and guesses.count(429) >= burst - 2 * _PER_MINUTE
    with _served(settings={"server.max_body_kb": most_kb}) as served:
        large = list(_too_large(served, rounds=10 if long else 1))
        written = len(served.home.vault("user:alice").memories.list(limit=1000))
    sized = written == 0 and large == [413] * len(large)
    said = f"{refused} of {burst} refused in a burst, {guesses.count(429)} guesses, {large.count(413)} of {len(large)}"
    return Measured(f"{said} large; {kept - allowed + written} done by them", bursts and stopped and sized)


def _too_large(served: Served, *, rounds: int) -> Sequence[int]:
    found: list[int] = []
    for number in range(rounds):
        body = json.dumps({"content": "x" * (_MOST_KB * 1024 + number)}).encode()
        for path in ("/memory/add", "/memory/query", "/mcp", "/hook"):
            found.append(served.ask("POST", path, body).status)
    return found


@contextmanager
def _served(*, bind: str = "127.0.0.1", settings: Mapping[str, object]) -> Generator[Served]:
    with own_place(), quick_folder() as folder, serving(Path(folder) / "home", bind=bind, settings=settings) as served:
        yield served
