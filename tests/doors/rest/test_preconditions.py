"""A request under an idempotency key is done once: again, at the same time, and after the process was killed."""

import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from tests.doors.http.served import Served

pytestmark = pytest.mark.process

ADD = {"content": "Ada drinks tea"}


@pytest.mark.loopback
def test_the_same_request_again_is_the_same_answer(served: Served) -> None:
    first = served.ask("POST", "/memory/add", ADD, Idempotency_Key="k1")
    again = served.ask("POST", "/memory/add", ADD, Idempotency_Key="k1")
    assert (again.status, again.json) == (200, first.json)
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    assert len(served.home.vault("user:alice").admin.events.list()) == 1
    assert served.ask("POST", "/memory/add", {"content": "else"}, Idempotency_Key="k1").status == 409
    assert served.ask("POST", "/v1/sessions", {}, Idempotency_Key="k1").status == 409
    # Another person's key of the same name is another one.
    bob = served.with_key(served.new_key("user:bob"))
    assert bob.ask("POST", "/memory/add", {"content": "else"}, Idempotency_Key="k1").status == 200


@pytest.mark.loopback
def test_what_failed_may_be_asked_again(served: Served) -> None:
    assert served.ask("POST", "/memory/mem_none/archive", Idempotency_Key="k2").status == 404
    assert served.ask("POST", "/memory/mem_none/archive", Idempotency_Key="k2").status == 404
    assert served.ask("POST", "/memory/add", ADD, Idempotency_Key="k2").status == 200


@pytest.mark.loopback
def test_a_message_is_added_once(served: Served) -> None:
    session = served.ask("POST", "/v1/sessions", {"channel": "telegram"}, Idempotency_Key="open").json["session"]
    path = f"/v1/sessions/{session['id']}/messages"
    said = {"role": "user", "content": "good morning"}
    first = served.ask("POST", path, said, Idempotency_Key="m1").json
    assert served.ask("POST", path, said, Idempotency_Key="m1").json == first
    assert served.ask("POST", path, said, Idempotency_Key="m2").json["message"]["position"] == 2
    assert served.ask("POST", path, said).json["message"]["position"] == 3
    listed = served.ask("GET", f"{path}?limit=2").json
    assert [one["position"] for one in listed["messages"]] == [2, 3]
    rest = served.ask("GET", f"{path}?limit=2&cursor={listed['next']}").json
    assert ([one["position"] for one in rest["messages"]], rest["next"]) == ([1], None)
    assert served.ask("PATCH", f"/v1/sessions/{session['id']}", {"ended": True}).json["session"]["ended_at"]


@pytest.mark.loopback
def test_many_at_the_same_time_are_done_once(served: Served) -> None:
    session = served.ask("POST", "/v1/sessions", {}).json["session"]["id"]
    statuses: list[int] = []

    def send() -> None:
        said = {"role": "user", "content": "good morning"}
        statuses.append(served.ask("POST", f"/v1/sessions/{session}/messages", said, Idempotency_Key="m").status)

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) <= {200, 409}
    assert len(served.home.vault("user:alice").sessions.chat(session).messages()) == 1


@pytest.mark.loopback
def test_what_is_forgotten_is_not_told_again(served: Served) -> None:
    added = served.ask("POST", "/memory/add", ADD, Idempotency_Key="k3").json["memory"]
    served.ask("DELETE", f"/memory/{added['id']}")
    assert served.ask("POST", "/memory/add", ADD, Idempotency_Key="k3").status == 404


def test_a_process_that_is_killed_after_the_work_doubles_nothing(tmp_path: Path) -> None:
    program = """
import os, signal, sys
from recollectum import Recollectum
with Recollectum(sys.argv[1]) as home:
    home.vault("user:alice")
    alice = home.as_person("user:alice")
    def work():
        alice.vault("user:alice").sessions.open().add("user", "good morning", native_id="once:1")
        os.kill(os.getpid(), signal.SIGKILL)
    alice.idempotency.once("key", b"request", work)
"""
    ran = subprocess.run([sys.executable, "-c", program, str(tmp_path)], env=dict(os.environ), check=False)
    assert ran.returncode == -signal.SIGKILL
    with Recollectum(tmp_path) as home:
        alice = home.as_person("user:alice")
        chat = alice.vault("user:alice").sessions.open()
        done, known = alice.idempotency.once(
            "key", b"request", lambda: {"id": chat.add("user", "good morning", native_id="once:1").id}
        )
        assert not known
        assert [one.id for one in chat.messages()] == [done["id"]]
        assert alice.idempotency.once("key", b"request", dict) == (done, True)


def test_after_a_day_a_key_is_free_again_and_nothing_said_is_kept(tmp_path: Path) -> None:
    now = datetime(2026, 11, 15, tzinfo=UTC)
    with Recollectum(tmp_path, clock=lambda: now, settings={"encryption": "off"}) as home:
        home.vault("user:alice")
        alice = home.as_person("user:alice")
        assert alice.idempotency.once("canary4d-key", b"canary4d-request", lambda: {"id": "mem_1"}) == (
            {"id": "mem_1"},
            False,
        )
        now += timedelta(hours=25)
        assert alice.idempotency.once("canary4d-key", b"another", lambda: {"id": "mem_2"}) == ({"id": "mem_2"}, False)
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"canary4d" not in kept
