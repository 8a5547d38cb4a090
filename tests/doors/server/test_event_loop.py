"""No request, however it is made, keeps the event loop busy for long: everybody else waits for the loop.

What each step of the loop costs is measured by the time that the processor spent in its thread, and compared with the
largest plain message that may be sent, in the same run.
"""

import time
from asyncio import events

import pytest

from tests.doors.http.served import Served

pytestmark = pytest.mark.loopback

#: Times the step of a plain message of the same size.
_TIMES = 12
_SIZE = 3_900_000
_STEP = "_run"


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What each step of an event loop took."""
    found: list[float] = []
    run = getattr(events.Handle, _STEP)

    def timed(self: events.Handle) -> None:
        began = time.thread_time()
        run(self)
        found.append(time.thread_time() - began)

    monkeypatch.setattr(events.Handle, _STEP, timed)
    return found


def _worst(steps: list[float], served: Served, path: str, body: object, *, rounds: int = 1) -> float:
    """The longest step of a request; of several rounds the quickest, because the machine can only add to one."""
    found: list[float] = []
    for _ in range(rounds):
        steps.clear()
        assert served.ask("POST", path, body).status in (200, 201, 400, 403, 422)
        found.append(max(steps))
    return min(found)


def test_no_body_keeps_the_event_loop_busy(served: Served, steps: list[float]) -> None:
    session = served.ask("POST", "/v1/sessions", {}).json["session"]["id"]
    messages = f"/v1/sessions/{session}/messages"
    plain = {"role": "user", "content": "abc d " * (_SIZE // 6)}
    served.ask("POST", messages, plain)
    usual = _worst(steps, served, messages, plain, rounds=3)
    many = {f"f{number}": number for number in range(200_000)}
    some = {f"f{number}": number for number in range(49)}
    call = {"id": "a", "name": "b", "args": some}
    bodies: dict[str, tuple[str, object]] = {
        "fields": ("/v1/memories", many),
        "unknown fields": ("/v1/memories", {f"f{number}": number for number in range(990)}),
        "deep": ("/v1/memories", b'{"a":' * 700_000),
        "values": ("/v1/keys", {"owners": ["a"] * 400_000}),
        "as many values as may be": ("/v1/keys", {"owners": ["a"] * 49_000}),
        "calls": (messages, {"role": "tool", "content": "x", "tool_calls": [call] * 990}),
        "wrong calls": (messages, {"role": "tool", "content": "x", "tool_calls": [some] * 990}),
        "escapes": ("/v1/memories", b'{"content":"' + b"\\\\" * (_SIZE // 2) + b'"}'),
        "a number": ("/v1/memories", b'{"content":' + b"9" * _SIZE + b"}"),
        "spaces": ("/v1/memories", {"content": " " * 990_000 + "x"}),
        "over mcp": ("/mcp", many),
    }
    slow = {
        name: f"{cost / usual:.0f} times the usual"
        for name, (path, body) in bodies.items()
        if (cost := _worst(steps, served, path, body, rounds=2)) > _TIMES * usual
    }
    assert not slow
