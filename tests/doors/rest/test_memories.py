"""Memories over HTTP: added, found, changed with an ETag, moved through their life, and listed page by page."""

import threading

import pytest

from tests.doors.http.served import Served


@pytest.mark.loopback
def test_a_memory_is_added_found_changed_and_forgotten(served: Served) -> None:
    body = {"content": "Ada drinks oolong tea", "key": "tea", "kind": "preference", "ttl_minutes": 60}
    added = served.ask("POST", "/memory/add", body)
    assert (added.status, added.json["outcome"]) == (200, "created")
    memory = added.json["memory"]
    assert memory["expires_at"] is not None
    assert served.ask("POST", "/memory/add", body).json["outcome"] == "renewed"
    answered = served.ask("POST", "/memory/query", {"query": "what tea", "kind": "preference", "limit": 3}).json
    hit = answered["hits"][0]
    assert (hit["text"], hit["source"]["memory_id"]) == ("Ada drinks oolong tea", memory["id"])
    assert answered["rung"] == "text"
    assert hit["reasons"]["terms"]
    path = f"/memory/{memory['id']}"
    assert served.ask("PATCH", path, {"content": "Ada drinks green tea"}).json["memory"]["version"] == 2
    history = served.ask("GET", f"{path}/history").json
    assert [one["content"] for one in history["versions"]] == ["Ada drinks oolong tea", "Ada drinks green tea"]
    assert served.ask("POST", f"{path}/archive").json["memory"]["state"] == "archived"
    assert served.ask("PATCH", path, {"content": "x"}).status == 409
    assert served.ask("POST", f"{path}/restore").json["memory"]["state"] == "active"
    assert served.ask("DELETE", path).json["memory"]["state"] == "soft_deleted"
    assert served.ask("GET", path).status == 404
    assert served.ask("GET", f"{path}/history").status == 404
    assert [one["id"] for one in served.ask("GET", "/memory?state=soft_deleted").json["memories"]] == [memory["id"]]
    assert served.ask("POST", f"{path}/restore").status == 200


@pytest.mark.loopback
def test_a_new_memory_is_created_and_a_known_one_renewed(served: Served) -> None:
    body = {"content": "Ada drinks oolong tea", "key": "tea"}
    created = served.ask("POST", "/v1/memories", body, Idempotency_Key="k1")
    assert (created.status, created.json["outcome"]) == (201, "created")
    replayed = served.ask("POST", "/v1/memories", body, Idempotency_Key="k1")
    assert (replayed.status, replayed.json, replayed.headers["idempotency-replayed"]) == (201, created.json, "true")
    renewed = served.ask("POST", "/v1/memories", body)
    assert (renewed.status, renewed.json["outcome"]) == (200, "renewed")
    changed = served.ask("POST", "/v1/memories", {**body, "content": "Ada drinks green tea"})
    assert (changed.status, changed.json["outcome"]) == (200, "changed")


@pytest.mark.loopback
def test_both_paths_to_a_memory_answer_the_same(served: Served) -> None:
    first, second = (served.ask("POST", "/v1/memories", {"content": f"{word} tea"}) for word in ("oolong", "green"))
    path = f"/v1/memories/{first.json['memory']['id']}"
    beside = path.replace("/v1/memories", "/memory")
    for end in ("", "/history", "/sources"):
        assert served.ask("GET", path + end).body == served.ask("GET", beside + end).body
    page = served.ask("GET", "/v1/memories?limit=1").json
    assert page == served.ask("GET", "/memory?limit=1").json
    assert [one["id"] for one in page["memories"]] == [second.json["memory"]["id"]]
    rest = served.ask("GET", f"/v1/memories?limit=1&cursor={page['next']}").json
    assert [one["id"] for one in rest["memories"]] == [first.json["memory"]["id"]]
    asked = {"query": "oolong"}
    found = served.ask("POST", "/v1/recall", asked).json
    assert found["hits"]
    assert found.keys() == served.ask("POST", "/memory/query", asked).json.keys()
    assert served.ask("PUT", f"{path}/state", {"state": "archived"}).json["memory"]["state"] == "archived"
    assert served.ask("PUT", f"{path}/state", {"state": "active"}).json["memory"]["state"] == "active"
    stale = served.ask("PATCH", path, {"content": "white tea"}, If_Match='"0"')
    assert stale.status == 412
    assert served.ask("PATCH", path, {"content": "white tea"}).json["memory"]["version"] == 2
    assert served.ask("DELETE", path).json["memory"]["state"] == "soft_deleted"
    assert served.ask("GET", path).status == 404


@pytest.mark.loopback
def test_a_memory_says_where_it_came_from(served: Served) -> None:
    session = served.ask("POST", "/v1/sessions", {"channel": "web"}).json["session"]["id"]
    said = served.ask("POST", f"/v1/sessions/{session}/messages", {"role": "user", "content": "I drink oolong"}).json
    body = {"content": "Ada drinks oolong tea", "message_id": said["message"]["id"]}
    path = f"/memory/{served.ask('POST', '/memory/add', body).json['memory']['id']}"
    whole = {"session_id": session, "message_id": said["message"]["id"], "position": 1, "start": 0, "end": 14}
    assert served.ask("GET", f"{path}/sources").json == {"sources": [{**whole, "exact": False}]}
    by_hand = served.ask("POST", "/memory/add", {"content": "by hand"}).json["memory"]["id"]
    assert served.ask("GET", f"/memory/{by_hand}/sources").json == {"sources": []}
    other = served.with_key(served.new_key("user:bob"))
    assert other.ask("GET", f"{path}/sources").status == 404
    served.ask("DELETE", path)
    assert served.ask("GET", f"{path}/sources").status == 404


@pytest.mark.loopback
def test_a_stale_edit_is_refused(served: Served) -> None:
    added = served.ask("POST", "/memory/add", {"content": "one"})
    path, first = f"/memory/{added.json['memory']['id']}", added.headers["etag"]
    assert served.ask("GET", path).headers["etag"] == first
    second = served.ask("PATCH", path, {"content": "two"}, If_Match=first)
    assert second.status == 200
    stale = served.ask("PATCH", path, {"content": "three"}, If_Match=first)
    assert stale.status == 412
    for wrong in ("W/" + second.headers["etag"], '"0"', "nonsense"):
        assert served.ask("PATCH", path, {"content": "three"}, If_Match=wrong).status == 412
    assert served.ask("GET", path).json["memory"]["content"] == "two"
    assert served.ask("PATCH", path, {"content": "four"}, If_Match=f'"0", {second.headers["etag"]}').status == 200
    assert served.ask("PATCH", path, {"content": "five"}, If_Match="*").status == 200


@pytest.mark.loopback
def test_of_many_edits_of_one_state_one_is_made(served: Served) -> None:
    for round_ in range(5):
        added = served.ask("POST", "/memory/add", {"content": f"one {round_}"})
        statuses = _edited_at_once(served, f"/memory/{added.json['memory']['id']}", added.headers["etag"])
        assert sorted(statuses) == [200, *[412] * 11]


def _edited_at_once(served: Served, path: str, etag: str) -> list[int]:
    statuses: list[int] = []
    together = threading.Barrier(12)

    def edit(number: int) -> None:
        together.wait()
        statuses.append(served.ask("PATCH", path, {"content": f"by {number}"}, If_Match=etag).status)

    threads = [threading.Thread(target=edit, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statuses


@pytest.mark.loopback
def test_pages_neither_skip_nor_repeat_while_others_write(served: Served) -> None:
    vault = served.home.vault("user:alice")
    there = {vault.memories.save(f"thing number {n}").id for n in range(60)}
    stop = threading.Event()

    def keep_writing() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            vault.memories.save(f"written meanwhile {number}")

    writer = threading.Thread(target=keep_writing)
    writer.start()
    try:
        seen: list[str] = []
        cursor = ""
        while True:
            page = served.ask("GET", f"/memory?limit=7{cursor}").json
            seen += [one["id"] for one in page["memories"]]
            if page["next"] is None:
                break
            cursor = f"&cursor={page['next']}"
    finally:
        stop.set()
        writer.join()
    assert len(seen) == len(set(seen))
    assert there <= set(seen)
    # A cursor of one list is none of another; nor is a bare id one.
    assert served.ask("GET", f"/v1/sessions?{cursor[1:]}").status == 404
    assert served.ask("GET", f"/v1/memories?cursor={seen[0]}").status == 404


@pytest.mark.loopback
def test_pages_of_sessions_neither_skip_nor_repeat_while_sessions_change(served: Served) -> None:
    sessions = served.home.vault("user:alice").sessions
    there = [sessions.open(channel=f"c{number}").id for number in range(7)]
    seen: list[str] = []
    cursor = ""
    while True:
        page = served.ask("GET", f"/v1/sessions?limit=2{cursor}").json
        seen += [one["id"] for one in page["sessions"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
        served.ask("POST", "/v1/sessions", {"channel": f"new{len(seen)}"})
        served.ask("POST", f"/v1/sessions/{there[0]}/messages", {"role": "user", "content": "still here"})
        sessions.delete(seen[-1])
    assert seen == there[::-1]
    assert served.ask("GET", f"/v1/sessions?cursor={there[3]}").status == 404


@pytest.mark.loopback
def test_everything_comes_out_again(served: Served) -> None:
    vault = served.home.vault("user:alice")
    kept = {vault.memories.save(f"thing {n}").id for n in range(3)}
    chat = vault.sessions.open()
    chat.add("user", "good morning")
    lines = served.ask("GET", "/v1/exports/memories")
    assert lines.headers["content-type"].startswith("application/x-ndjson")
    assert lines.body.count(b"\n") == 3
    assert all(one.encode() in lines.body for one in kept)
    assert b"good morning" in served.ask("GET", f"/v1/exports/sessions/{chat.id}").body
    assert b"good morning" in served.ask("GET", "/v1/exports/sessions").body
    assert served.ask("GET", "/v1/exports/sessions/ses_none").status == 404


@pytest.mark.loopback
@pytest.mark.parametrize("path", ["/v1/recall", "/memory/query"])
def test_recall_counts_the_archived_memories_that_match(served: Served, path: str) -> None:
    body = {"content": "Ada drinks oolong tea"}
    memory = served.ask("POST", "/memory/add", body).json["memory"]["id"]
    assert served.ask("POST", path, {"query": "oolong"}).json["archived"] == {"count": 0, "cut": False, "ids": []}
    served.ask("POST", f"/memory/{memory}/archive")
    answered = served.ask("POST", path, {"query": "oolong"}).json
    assert (answered["hits"], answered["archived"]) == ([], {"count": 1, "cut": False, "ids": [memory]})
    assert served.ask("POST", path, {"query": "oolong", "kind": "task"}).json["archived"]["count"] == 0
    assert served.ask("POST", path, {"query": "mountains"}).json["archived"]["count"] == 0
