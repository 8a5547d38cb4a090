"""What a clever caller would try over HTTP: keys of requests, tokens, cursors, headers and words of others."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recollectum.domain.memory import Kind
from recollectum.domain.proposal import Act, Finding
from tests.matrix.checks import contents
from tests.matrix.over_http_checks import GHOST, Check, quiet
from tests.matrix.over_http_server import Answer, Server, for_owner, serving
from tests.matrix.over_http_world import ids, seen
from tests.matrix.world import OWNERS, canary

ADD: dict[str, Any] = {"content": "said under a key"}
LISTS = ("/v1/memories", "/v1/sessions", "/v1/events", "/v1/learnings", "/v1/review")
WORD = canary("user:alice", "active")


def check_requests_once(folder: Path) -> Iterator[str]:
    """The key of a request is its person's own, and holds for what was asked and where."""

    def add(caller: str, owner: str | None = None) -> Answer:
        return server.ask(caller, "POST", for_owner("/memory/add", owner), ADD, {"Idempotency-Key": "one"})

    with serving(folder) as server:
        first = add("alice")
        mine = _json(first)["memory"]["id"]
        for caller, owner, status in (
            ("bob", None, 200),
            ("heidi", None, 200),
            ("heidi", "user:bob", 409),
            ("alice_reads", None, 403),
            ("carol", "user:alice", 403),
            ("grace", "user:alice", 404),
            ("operator", None, 422),
        ):
            answer = add(caller, owner)
            if answer.status != status or mine in answer.text or "idempotency-replayed" in answer.headers:
                yield f"{caller} in {owner}: the request key of another was answered with {answer.status}"
        again = add("alice")
        if again.body != first.body or "idempotency-replayed" not in again.headers:
            yield "a request asked again is not answered again"


def check_purge_tokens(folder: Path) -> Iterator[str]:
    """The leave to erase is for who asked for it, in their own vault."""
    with serving(folder) as server:
        before = {owner: contents(server.home, owner) for owner in OWNERS}
        token = _json(server.ask("alice", "DELETE", "/memory/user/purge"))["confirm"]
        for caller in ("bob", "admin", "acting", "alice_reads", "carol", "heidi", "operator"):
            for answer in (
                server.ask(caller, "DELETE", "/memory/user/purge", {"confirm": token}),
                server.ask(caller, "DELETE", f"/memory/user/purge?confirm={token}"),
                server.ask(caller, "POST", "/v1/purges", {"confirm": token}),
            ):
                if answer.status not in (403, 409, 422) or seen(answer.text):
                    yield f"{caller}: the token of another was answered with {answer.status}"
        if before != {owner: contents(server.home, owner) for owner in OWNERS}:
            yield "somebody was erased by another's token"
        done = server.ask("alice", "DELETE", "/memory/user/purge", {"confirm": token})
        if done.status != 200 or server.home.vault_place("user:alice") is not None:
            yield f"one's own token was answered with {done.status}"
        receipt = _json(done)["receipt"]["id"]
        found = [server.ask("bob", "GET", f"/v1/receipts/{one}").text for one in (receipt, "rct_" + "0" * 26)]
        if len(set(found)) != 1 or not found[0].startswith("404"):
            yield "bob can tell that there is a receipt of alice's"
        if any(contents(server.home, owner) != before[owner] for owner in OWNERS if owner != "user:alice"):
            yield "a purge of one took from another"


def check_cursors(folder: Path) -> Iterator[str]:
    """A cursor leads nowhere but on in the list that it is of, in the caller's own vault."""
    with serving(folder) as server:
        # A list of one thing has one page, and no cursor.
        vault = server.home.vault("user:alice")
        vault.learnings.save("answers with sources", "pattern")
        vault.admin.review.propose(
            [Finding(act=Act.ADD, content="one more", kind=Kind.FACT, importance=0.5, spans=(), targets=())]
        )
        found = {path: _json(server.ask("alice", "GET", f"{path}?limit=1"))["next"] for path in LISTS}
        for path, cursor in found.items():
            for other in LISTS:
                answer = server.ask("bob", "GET", f"{other}?limit=500&cursor={cursor}")
                if answer.status != (200 if other == path else 404):
                    yield f"a cursor of {path} was answered with {answer.status} by {other}"
                if {owner for owner, _ in seen(answer.text)} - {"user:bob"} or _names(server, answer, "user:alice"):
                    yield f"a cursor of alice's led bob to {seen(answer.text)}"


def check_admin(folder: Path) -> Iterator[str]:
    """A key with admin sees and makes keys of its own owners, and gives nothing that it does not have."""
    with serving(folder) as server:
        home = server.home
        home.keys.add_grant("user:alice", "user:bob", "read")
        server.scene.secrets["weak"] = home.keys.add("user:alice", permissions=("read", "admin"))[1]
        persons = {one["person"] for one in _json(server.ask("admin", "GET", "/v1/keys"))["keys"]}
        listed = server.ask("admin", "GET", "/v1/keys").text
        foreign = [key.id for key in home.keys.list() if {str(key.person), *map(str, key.owners)} != {"user:alice"}]
        if persons != {"user:alice"} or any(one in listed for one in foreign):
            yield f"an admin key sees keys of {persons}, or one that reaches further"
        for body in ({"person": "user:bob"}, {"owners": ["user:bob"]}, {"person": "global"}):
            named = server.ask("admin", "POST", "/v1/keys", {"scopes": ["read"], **body})
            never = server.ask("admin", "POST", "/v1/keys", {"scopes": ["read"], "person": GHOST})
            if named.status != 404 or named.text != never.text:
                yield f"an admin key was answered {named.status} to a key for another"
        if any(server.ask(caller, "GET", "/v1/keys").status != 403 for caller in ("alice", "bob", "acting")):
            yield "a key without admin sees keys"
        if server.ask("weak", "POST", "/v1/keys", {"scopes": ["write"]}).status != 403:
            yield "an admin key gives what it does not have"
        if "write" in str(_json(server.ask("weak", "GET", "/v1/keys"))["keys"]):
            yield "an admin key sees one that may do more"


def check_ends_at_once(folder: Path) -> Iterator[str]:
    """A key that is revoked or rotated, and a grant that is withdrawn, count no more at the next request."""
    with serving(folder) as server:
        keys = server.home.keys
        for name, end in (("ended", keys.revoke), ("turned", keys.rotate)):
            key, server.scene.secrets[name] = keys.add("user:alice")
            if server.ask(name, "GET", "/memory").status != 200:
                yield f"{name}: a key does not open its own vault"
            end(key.id)
            answer = server.ask(name, "GET", "/memory")
            if answer.text != server.ask("nobody", "GET", "/memory").text:
                yield f"{name}: a key that is none any more was answered {answer.status}"
        path = for_owner("/memory", "user:alice")
        granted = server.ask("carol", "GET", path).status
        keys.revoke_grant(server.scene.world.grants["carol"])
        gone, never = server.ask("carol", "GET", path), server.ask("carol", "GET", for_owner("/memory", GHOST))
        if (granted, gone.text) != (200, never.text):
            yield f"a grant that was withdrawn was answered {gone.status}"


def check_nothing_is_repeated(folder: Path) -> Iterator[str]:
    """What is wrong is said without the words that were sent; and a look makes no vault."""
    with serving(folder) as server:
        vaults = sorted(path.name for path in server.home.home.vaults.glob("*.db"))
        memory = server.scene.held("user:alice").memories["active"]
        for method, path, body, headers in (
            ("POST", "/memory/add", {"content": "x", "kind": WORD}, {}),
            ("POST", "/memory/add", {"content": "x", "key": f"A {WORD}"}, {}),
            ("POST", "/memory/add", {"content": "x", WORD: 1}, {}),
            ("POST", "/memory/add", {"content": "x", "valid_from": WORD}, {}),
            ("POST", "/memory/add", f'{{"{WORD}'.encode(), {}),
            ("POST", "/memory/query", {"query": 5, "source": WORD}, {}),
            ("POST", "/memory/query", {"query": "x", "session_id": WORD}, {}),
            ("GET", f"/memory?state={WORD}", None, {}),
            ("GET", f"/memory?limit={WORD}", None, {}),
            ("GET", f"/memory?cursor={WORD}", None, {}),
            ("GET", f"/memory?owner={WORD}", None, {}),
            ("GET", f"/memory?owner=user:{WORD}", None, {}),
            ("GET", f"/memory/{WORD}", None, {}),
            ("GET", f"/{WORD}", None, {}),
            ("POST", "/v1/keys", {"person": WORD}, {}),
            ("DELETE", "/memory/user/purge", {"confirm": WORD}, {}),
            ("POST", "/v1/purges", {"confirm": WORD}, {}),
            ("POST", "/v1/memories", {"content": "x", "kind": WORD}, {}),
            ("GET", f"/v1/memories/{WORD}", None, {}),
            ("PATCH", f"/memory/{memory}", {"content": WORD}, {"If-Match": f'"{WORD}"'}),
        ):
            for caller in ("alice", "operator"):
                answer = server.ask(caller, method, path, body, headers)
                if answer.status < 400 or answer.status >= 500 or seen(answer.text):
                    asked = f"{method} {path.partition(WORD)[0]}"
                    yield f"{caller}: {asked} answered {answer.status}, or repeats what was sent"
        server.ask("operator", "GET", for_owner("/memory", GHOST))
        if sorted(path.name for path in server.home.home.vaults.glob("*.db")) != vaults:
            yield "a look at a vault that is not there made it"
        yield from quiet(server, folder)


def _json(answer: Answer) -> Any:  # noqa: ANN401 - whatever the server says
    return json.loads(answer.body)


def _names(server: Server, answer: Answer, owner: str) -> bool:
    return any(one in answer.text for one in ids(server.scene, owner))


TRICKS: dict[str, Check] = {
    "requests once": check_requests_once,
    "purge tokens": check_purge_tokens,
    "cursors": check_cursors,
    "admin": check_admin,
    "ends at once": check_ends_at_once,
    "nothing repeated": check_nothing_is_repeated,
}
