"""The part of the matrix that needs a clock to be turned, or a home of its own."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.errors import Denied, NotFound, StepRefused
from recollectum.domain.message import ToolCall
from tests.matrix import oracle
from tests.matrix.checks import Check, told
from tests.matrix.homes import Turning, open_home
from tests.matrix.world import NOW, enter, load

_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_TEN_YEARS = timedelta(days=3650)
_OWNER = "user:alice"


def _served(home: Recollectum) -> set[str]:
    """The keys that are served, by every way that serves only what is active."""
    vault = home.vault(_OWNER)
    recalled = {vault.memories.get(hit.source.memory_id or "").key for hit in vault.recall("canary", limit=100)}
    paged = {memory.key for memory in vault.memories.list()}
    found = {key for key in paged if key and vault.memories.find(key)}
    if not recalled == paged == found:
        return {f"recall {recalled}, page {paged} and find {found} disagree"}
    return {key for key in paged if key}


def check_clock_back(folder: Path) -> Iterator[str]:
    """A clock that goes back brings back nothing that was seen to expire."""
    clock = Turning()
    with open_home(folder / "back", clock) as home:
        home.vault(_OWNER).memories.save("canary one", key="short", ttl=_HOUR)
        home.vault(_OWNER).memories.save("canary two", key="long")
        clock.turn(2 * _HOUR)
        if _served(home) != {"long"}:
            yield "a memory past its deadline is served"
        clock.turn(-_TEN_YEARS)
        if _served(home) != {"long"}:
            yield "a clock that goes back resurrects"
    with open_home(folder / "back", clock) as home:
        if _served(home) != {"long"}:
            yield "a clock that goes back resurrects after a restart"
        if home.vault(_OWNER).admin.lifecycle.run().purged:
            yield "a clock that goes back destroys"


def check_clock_leap(folder: Path) -> Iterator[str]:
    """A clock that leaps ahead moves nothing, and when it is set right everything is as it was."""
    clock = Turning()
    with open_home(folder / "leap", clock) as home:
        memories = home.vault(_OWNER).memories
        memories.save("canary one", key="with_deadline", ttl=30 * _DAY)
        memories.save("canary two", key="without")
        memories.forget(memories.save("canary three", key="in_trash").id)
        clock.turn(_TEN_YEARS)
        report = home.vault(_OWNER).admin.lifecycle.run()
        if report.any() or report.held_since is None:
            yield f"a leap of the clock moved memories: {report}"
        if "without" not in _served(home):
            yield "a leap of the clock hides what has no deadline of its own"
        clock.turn(-_TEN_YEARS)
        if _served(home) != {"with_deadline", "without"} or len(memories.list(state="soft_deleted")) != 1:
            yield "what a leap of the clock did was not undone by setting it right"


def check_grace(folder: Path) -> Iterator[str]:
    """Restored inside the grace window, refused after it, destroyed by the sweep."""
    clock = Turning()
    with open_home(folder / "grace", clock) as home:
        vault = home.vault(_OWNER)
        memory = vault.memories.save("canary", key="one").memory
        vault.memories.forget(memory.id)
        clock.turn(6 * _DAY)
        vault.admin.lifecycle.run()
        if told(lambda: vault.memories.move(memory.id, "active"))[1] or _served(home) != {"one"}:
            yield "a memory cannot be restored inside its grace window"
        vault.memories.forget(memory.id)
        clock.turn(8 * _DAY)
        if not isinstance(told(lambda: vault.memories.move(memory.id, "active"))[1], StepRefused):
            yield "a memory can be restored after its grace window"
        vault.admin.lifecycle.run()
        if (
            not isinstance(told(lambda: vault.memories.move(memory.id, "active"))[1], NotFound)
            or vault.admin.totals().memories
        ):
            yield "a memory past its grace window is not destroyed"


def check_agents_apart(folder: Path) -> Iterator[str]:
    """With isolation by agent, what one agent learns no other sees."""
    with open_home(folder / "agents", Turning(), settings={"isolation": "agent"}) as home:
        home.vault(_OWNER, agent="one").memories.save("canary", key="k")
        for other in ("two", None):
            vault = home.vault(_OWNER, agent=other)
            if vault.recall("canary") or vault.memories.find("k") or vault.memories.list():
                yield f"agent {other} sees what agent one learned"


def check_events_hold_no_content(folder: Path) -> Iterator[str]:
    """The audit trail names things by id and never repeats what they say."""
    with open_home(folder / "events", Turning()) as home:
        vault = home.vault(_OWNER)
        one = vault.memories.save("canary text", key="k_one").memory
        vault.memories.save("canary text")
        vault.memories.edit(one.id, "canary text two")
        two = vault.memories.supersede(one.id, "canary text three")
        vault.memories.forget(two.id)
        vault.memories.move(two.id, "active")
        chat = vault.sessions.open()
        chat.add("user", "canary text")
        chat.describe(title="canary")
        chat.end()
        vault.sessions.delete(chat.id)
        vault.admin.lifecycle.accept_clock()
        events = vault.admin.events.list(limit=1000)
        if len(events) < 10 or "canary" in repr(events):
            yield "the audit trail repeats what was said"


def check_sessions_apart(folder: Path) -> Iterator[str]:
    """A message is changed through its own session only."""
    held = load(folder).held[_OWNER]
    with open_home(folder, Turning(NOW)) as home:
        other = home.vault(_OWNER).sessions.chat(held.sessions[1])
        call = ToolCall(id="call", name="changed")
        if not isinstance(told(lambda: other.record_call(held.messages[0], call))[1], NotFound):
            yield "a message was changed through another session"


def check_home(folder: Path) -> Iterator[str]:
    """The home itself is the operator's: nobody else lists people, keys or grants, or acts for anyone."""
    world = load(folder)
    with open_home(folder, Turning(NOW)) as home:
        for caller in oracle.RIGHTS.keys() - {"operator"}:
            view = enter(home, world, caller)
            assert view is not None
            calls: dict[str, Callable[[], object]] = {
                "people.list": view.people.list,
                "people.add": lambda v=view: v.people.add("user:mallory"),
                "keys.list": view.keys.list,
                "keys.add": lambda v=view: v.keys.add("user:alice"),
                "keys.add_grant": lambda v=view: v.keys.add_grant("user:bob", "user:alice", "read"),
                "as_person": lambda v=view: v.as_person("user:alice"),
                "encryption": view.encryption,
                "chat": lambda v=view: v.chat("telegram:42"),
            }
            for name, call in calls.items():
                if not isinstance(told(call)[1], Denied):
                    yield f"{caller} may call {name}"


TIME_CHECKS: dict[str, Check] = {
    "home": check_home,
    "clock back": check_clock_back,
    "clock leap": check_clock_leap,
    "grace": check_grace,
    "agents apart": check_agents_apart,
    "events": check_events_hold_no_content,
    "sessions apart": check_sessions_apart,
}
