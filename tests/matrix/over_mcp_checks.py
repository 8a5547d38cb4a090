"""The matrix over MCP: every caller at every tool, resource and prompt of both profiles."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from recollectum.doors.mcp.catalogue import DEFAULT
from recollectum.doors.mcp.http_mount import GRAPH_PATH, PATH
from recollectum.doors.mcp.knowledge_graph.catalogue import GRAPH
from tests.matrix.checks import contents
from tests.matrix.homes import copy_home
from tests.matrix.over_http_checks import Check, quiet
from tests.matrix.over_http_server import Answer, Server, serving
from tests.matrix.over_http_world import FURNISHED, PERSONS, RIGHTS, STRANGERS, ids, seen
from tests.matrix.over_mcp_calls import Call, ask, begin, calls, missing
from tests.matrix.world import OWNERS

PROFILES = {PATH: DEFAULT, GRAPH_PATH: GRAPH}
LIST: dict[str, Any] = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}


def check_everything_is_asked(folder: Path) -> Iterator[str]:
    """No tool, resource or prompt is left out, and none says a word to a stranger."""
    with serving(folder) as server:
        held = server.scene.held("user:alice")
        for path, offer in PROFILES.items():
            if left := missing(offer, path, held):
                yield f"the matrix does not ask {left}"
            for call in (*calls(path, held, "user:alice"), Call(method="tools/list", name="")):
                told = {stranger: ask(server, stranger, path, call) for stranger in STRANGERS}
                open_to = [one for one, answer in told.items() if answer.status != 401 or seen(answer.text)]
                if open_to or len({answer.text for answer in told.values()}) != 1:
                    yield f"{path} {call}: strangers {open_to} are answered, or told apart"


def check_guests(folder: Path) -> Iterator[str]:
    """A guest is at the vault of their own person and at no other, whatever they were granted there."""
    with serving(folder) as server:
        before = {owner: contents(server.home, owner) for owner in OWNERS}
        for caller in RIGHTS:
            for path in PROFILES:
                yield from _guest(server, caller, path)
        for owner in OWNERS:
            if contents(server.home, owner) != before[owner]:
                yield f"{owner}: something that was refused, or a reader, changed the vault"
        yield from quiet(server, folder)


def _guest(server: Server, caller: str, path: str) -> Iterator[str]:
    person = PERSONS[caller]
    own = person if person in FURNISHED else None
    right = "" if person is None else RIGHTS[caller].get(person, "write")
    aimed = own or "user:alice"
    for call in calls(path, server.scene.held(aimed), aimed):
        ok = right == "write" or right == call.permission
        if ok and call.permission == "write":
            continue
        answer = ask(server, caller, path, call)
        there = call.there and (own is not None or not call.id)
        expected = {(aimed, place) for place in call.shows} if ok and own else set[tuple[str, str]]()
        text = answer.text.replace(call.name, "")
        if _failed(answer) == (ok and there):
            yield f"{caller}: {call} was {'refused' if ok else 'let through'}"
        if seen(text) != expected:
            yield f"{caller}: {call} showed {sorted(seen(text))}, not {sorted(expected)}"
        if _foreign(server, answer, own, call.id):
            yield f"{caller}: {call} named ids of another"


def check_foreign_ids(folder: Path) -> Iterator[str]:
    """An id or a name of another's is exactly one that never was."""
    with serving(folder) as server:
        for caller, other in (
            ("alice", "user:bob"),
            ("bob", "user:alice"),
            ("heidi", "user:bob"),
            ("carol", "user:alice"),
        ):
            before = contents(server.home, other)
            for path in PROFILES:
                for call in calls(path, server.scene.held(other), other):
                    if call.id:
                        yield from _like_a_ghost(server, caller, path, call)
                    elif call.permission == "write" and {
                        one for one, _ in seen(ask(server, caller, path, call).text)
                    } - {other}:
                        yield f"{caller}: {call} showed something of others"
            if contents(server.home, other) != before:
                yield f"{caller} changed the vault of {other}"


def _like_a_ghost(server: Server, caller: str, path: str, call: Call) -> Iterator[str]:
    ghost = call.id[:4] + "0" * (len(call.id) - 4)
    given = {name: ghost if value == call.id else value for name, value in (call.arguments or {}).items()}
    never = replace(
        call, name=call.name.replace(call.id, ghost), arguments=given if call.arguments is not None else None
    )
    here, there = ask(server, caller, path, call), ask(server, caller, path, never)
    if not _failed(here) or seen(here.text) or here.text.replace(call.id, "ID") != there.text.replace(ghost, "ID"):
        yield f"{caller}: {call} tells an id of another from one that never was"


def check_confirmations(folder: Path) -> Iterator[str]:
    """The leave to forget is for one key, one memory and no longer than it was given for."""

    def forget(caller: str, id_: str, token: str | None) -> Answer:
        given = {"id": id_} if token is None else {"id": id_, "confirm": token}
        return ask(server, caller, PATH, Call(method="tools/call", name="forget", arguments=given))

    with serving(folder) as server:
        memories = server.scene.held("user:alice").memories
        token = _said(forget("alice", memories["active"], None))["token"]
        reader = _said(forget("alice_reads", memories["active"], None))["token"]
        for caller, id_, shown in (
            ("admin", memories["active"], token),
            ("acting", memories["active"], token),
            ("bob", memories["active"], token),
            ("carol", memories["active"], token),
            ("alice_reads", memories["active"], reader),
            ("alice", memories["successor"], token),
            ("alice", memories["active"], reader),
            ("alice", memories["active"], "1999999999." + "0" * 64),
            ("alice", memories["active"], ""),
        ):
            if not _failed(forget(caller, id_, shown)):
                yield f"{caller}: leave that was not theirs was taken"
        if _failed(forget("alice", memories["active"], token)):
            yield "one's own leave was refused"


def check_sessions_of_the_protocol(folder: Path) -> Iterator[str]:
    """A session of the protocol is of use to the key that began it, for as long as that is one."""
    with serving(folder) as server:
        key, server.scene.secrets["ended"] = server.home.keys.add("user:alice")
        carried, ended = begin(server, "alice"), begin(server, "ended")
        server.home.keys.revoke(key.id)
        for caller, session, status in (
            ("bob", carried, 404),
            ("admin", carried, 404),
            ("acting", carried, 404),
            ("operator", carried, 404),
            ("nobody", carried, 401),
            ("ended", ended, 401),
            ("ended", carried, 401),
            ("bob", ended, 404),
        ):
            for method, body in (("POST", LIST), ("DELETE", None)):
                answer = server.ask(caller, method, PATH, body, session)
                if answer.status != status:
                    yield f"{caller}: {method} in a session of another was answered {answer.status}"
        if server.ask("alice", "POST", PATH, LIST, carried).status != 200:
            yield "one's own session is of no use"
        asked = {**LIST, "method": "tools/call", "params": {"name": "list", "arguments": {"limit": 100}}}
        found = {owner for owner, _ in seen(server.ask("alice", "POST", PATH, asked, carried).text)}
        if found != {"user:alice"}:
            yield f"a session of alice's shows {found}"


def check_own_writes(folder: Path) -> Iterator[str]:
    """Who may write is not refused, and changes nobody else's vault."""
    for caller in ("alice", "acting"):
        with serving(copy_home(folder, folder.with_name(f"{folder.name}-{caller}"))) as server:
            others = {one: contents(server.home, one) for one in OWNERS if one != "user:alice"}
            for path in PROFILES:
                for call in calls(path, server.scene.held("user:alice"), "user:alice"):
                    answer = ask(server, caller, path, call)
                    if call.permission == "write" and _failed(answer):
                        yield f"{caller}: {call} on own data was refused"
                    if {found for found, _ in seen(answer.text)} - {"user:alice"}:
                        yield f"{caller}: {call} on own data showed {seen(answer.text)}"
            if others != {one: contents(server.home, one) for one in others}:
                yield f"{caller}: a write changed another vault"


def _failed(answer: Answer) -> bool:
    """Whether it was refused: by an error of the protocol, or by a result that says so."""
    if answer.status != 200:
        return True
    told: Mapping[str, Any] = json.loads(answer.body)
    return "error" in told or bool(told["result"].get("isError"))


def _said(answer: Answer) -> Any:  # noqa: ANN401 - whatever the tool says
    return json.loads(answer.body)["result"]["structuredContent"]


def _foreign(server: Server, answer: Answer, own: str | None, sent: str) -> bool:
    text = answer.text.replace(sent, "") if sent else answer.text
    return any(one in text for owner in OWNERS if owner != own for one in ids(server.scene, owner))


MCP_CHECKS: dict[str, Check] = {
    "mcp strangers": check_everything_is_asked,
    "mcp foreign ids": check_foreign_ids,
    "mcp confirmations": check_confirmations,
    "mcp sessions": check_sessions_of_the_protocol,
    "mcp own writes": check_own_writes,
    "mcp guests": check_guests,
}
