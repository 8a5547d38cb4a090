"""Counts what comes back to life when the clock is set back: revoked and rotated keys, purge tokens, links, sessions.

Each step is tried in a fresh home: things end, the end is seen, the clock goes back by seconds to ten years, and each
is tried again, in the same process and after the home was opened anew.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.sizes import sized
from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Conflict, Denied, InvalidInput
from recollectum.domain.ids import SteadyClock
from recollectum.doors.console.sign_in_desk import IDLE, LINK_LIFETIME, SignInDesk
from recollectum.doors.mcp.client import LIFETIME, Confirmations
from recollectum.vault.purge.request import TOKEN_LIFETIME, PurgeRequest

STEPS = sized(100, 5)
_SHORTEST, _LONGEST = timedelta(seconds=1), timedelta(days=3650)
_GRACE = timedelta(minutes=5)
_START = datetime(2026, 3, 1, 12, tzinfo=UTC)
#: Until the last of them has ended, and the end is stored.
_WAIT = max(_GRACE, TOKEN_LIFETIME, LINK_LIFETIME, LIFETIME, IDLE) + timedelta(minutes=2)
_NOT_TRIED = "not tried in between"
_ALICE = Owner.parse("user:alice")

#: What lives in the memory of one process.
_IN_MEMORY = {"console", "MCP"}

Tries = dict[str, Callable[[], bool]]


class TurnedClock:
    """A clock that shows what it was set to."""

    def __init__(self) -> None:
        self.now = _START

    def __call__(self) -> datetime:
        """Return the time it was set to."""
        return self.now


def steps(count: int) -> list[timedelta]:
    """Return steps from a second to ten years, each longer than the one before by the same factor."""
    factor = (_LONGEST / _SHORTEST) ** (1 / max(1, count - 1))
    return [_SHORTEST * factor**number for number in range(count)]


def main() -> None:
    tried, revived = Counter[str](), Counter[str]()
    for step in steps(STEPS):
        with tempfile.TemporaryDirectory() as folder:
            for name, back in revivals(Path(folder), step):
                tried[name] += 1
                revived[name] += back
    print("| what ended | tries | revived |\n|---|--:|--:|")
    for name, count in tried.items():
        print(f"| {name} | {count} | {revived[name]} |")
    print(f"{STEPS} steps back, from {_SHORTEST} to {_LONGEST.days} days: {revived.total()} revived")
    if revived.total():
        raise SystemExit("something that had ended works again after the clock was set back")


def revivals(folder: Path, step: timedelta) -> Iterator[tuple[str, bool]]:
    """Yield what ended and whether it works again after one step back, twice: as seen, and in a home opened anew."""
    clock = TurnedClock()
    with _open(folder, clock) as home:
        tries = _begin(home, clock)
        clock.now += _WAIT
        for name, works in tries(home).items():
            if _NOT_TRIED not in name and works():
                raise SystemExit(f"{name} works after its end, so nothing can be measured")
        clock.now -= step
        yield from ((f"{name}, same process", works()) for name, works in tries(home).items())
    with _open(folder, clock) as home:
        yield from (
            (f"{name}, opened anew", works())
            for name, works in tries(home).items()
            if _IN_MEMORY.isdisjoint(name.split())
        )


def _open(folder: Path, clock: TurnedClock) -> Recollectum:
    settings = {"encryption": "off", "storage.reserve_mib": 0, "embedding.provider": "none"}
    return Recollectum(folder / "home", clock=clock, settings=settings, environ={"HOME": str(folder)})


def _begin(home: Recollectum, clock: TurnedClock) -> Callable[[Recollectum], Tries]:
    """Begin everything that will end; return how to try each of them in an open home."""
    home.people.add("user:alice")
    vault = home.vault("user:alice")
    memory = vault.memories.save("the harbour closes at nine").memory
    revoked, graced, quiet = (home.keys.add("user:alice") for _ in range(3))
    home.keys.revoke(revoked.key.id)
    for key in (graced, quiet):
        home.keys.rotate(key.key.id, grace=_GRACE)
    token = vault.privacy.purge.preview(PurgeRequest.memories(memory.id)).token
    desk = SignInDesk(clock)
    # A link works once, so each try gets its own.
    links, cookie = [desk.make_link(_ALICE) for _ in range(2)], desk.redeem(desk.make_link(_ALICE)) or ""
    confirmations = Confirmations(clock=SteadyClock(clock))
    confirmation = confirmations.give(vault, memory)
    if not (_works(lambda: home.login(graced.secret)) and desk.find(cookie)):
        raise SystemExit("something does not work before its end, so nothing can be measured")

    def tries(now: Recollectum) -> Tries:
        return {
            "a revoked key": lambda: _works(lambda: now.login(revoked.secret)),
            "a key after its grace": lambda: _works(lambda: now.login(graced.secret)),
            f"a key after its grace, {_NOT_TRIED}": lambda: _works(lambda: now.login(quiet.secret)),
            "a purge token": lambda: _works(lambda: now.vault("user:alice").privacy.purge.run(token)),
            "a console link": lambda: desk.redeem(links.pop()) is not None,
            "a console session": lambda: desk.find(cookie) is not None,
            "an MCP confirmation": lambda: _works(lambda: confirmations.check(vault, memory, confirmation)),
        }

    return tries


def _works(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (Denied, Conflict, InvalidInput):
        return False
    return True
