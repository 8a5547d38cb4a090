"""mem0's own MemoryClient, unchanged, against a real server: every method, for one person and not for another."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

import asyncio
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.routing import Match

from recollectum.doors.rest.routes import add_rest
from tests.doors.server.daemons import Running, daemon, home

pytestmark = [pytest.mark.loopback, pytest.mark.process, pytest.mark.slow]

ANN = {"user_id": "ann"}
#: A call of the client's own HTTP client; one with `request` names its method first.
_CALL = re.compile(r'client\.(?:request\(")?(?P<method>\w+)(?:\(|",)\s*f?"(?P<path>/?(?:v\d|api)/[^"]+)"')


@pytest.fixture
def secrets() -> dict[str, str]:
    with home() as opened:
        for person in ("user:ann", "user:bob"):
            opened.vault(person)
        return {name: opened.keys.add(f"user:{name}")[1] for name in ("ann", "bob")}


@pytest.fixture
def running(secrets: dict[str, str]) -> Iterator[Running]:
    assert secrets
    with daemon() as started:
        yield started


@pytest.fixture
def mem0(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Any:  # noqa: ANN401
    """The package, which would send telemetry and write into the home of the person who runs the tests."""
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path_factory.mktemp("mem0")))
    import mem0

    return mem0


@pytest.mark.feature("A19")
def test_the_client_of_mem0_remembers_and_finds_for_one_person_and_not_for_another(
    running: Running,
    secrets: dict[str, str],
    mem0: Any,  # noqa: ANN401
) -> None:
    ann, bob = (mem0.MemoryClient(api_key=secrets[name], host=running.url) for name in ("ann", "bob"))
    with closing(ann.client), closing(bob.client):
        _remember(ann)
        _change(ann)
        _list(ann)
        _keep_apart(ann, bob, mem0.exceptions)
        _delete(ann, mem0.exceptions)
        _refuse(ann, mem0.exceptions)
    asyncio.run(_awaited(mem0.AsyncMemoryClient(api_key=secrets["bob"], host=running.url)))
    with httpx.Client() as client, pytest.raises(ValueError, match="send an API key"):
        mem0.MemoryClient(api_key="rk_wrong", host=running.url, client=client)


def _remember(ann: Any) -> None:  # noqa: ANN401
    assert (ann.org_id, ann.project_id, ann.user_email) == ("recollectum", "user:ann", None)
    said = [{"role": "user", "content": "My door is teal.", "name": "Ann"}, {"role": "system", "content": "Be brief."}]
    made = ann.add(said, **ANN, run_id="r1", app_id="house", metadata={"kind": "house"})
    assert made["message"] == "no language model is configured, so the messages were kept as they are"
    (one,) = made["results"]
    assert (one["memory"], one["data"], one["event"]) == (said[0]["content"], {"memory": said[0]["content"]}, "ADD")
    found = ann.get(one["id"])
    assert {
        name: found[name] for name in ("memory", "metadata", "user_id", "run_id", "app_id", "actor_id", "role")
    } == {
        "memory": "My door is teal.",
        "metadata": {"kind": "house"},
        "user_id": "ann",
        "run_id": "r1",
        "app_id": "house",
        "actor_id": "Ann",
        "role": "user",
    }
    assert "message" not in ann.add("Tennis on Sundays", filters=ANN, infer=False)
    (hit, *_) = ann.search("a teal door", filters={"AND": [ANN, {"kind": {"in": ["house"]}}]})["results"]
    assert hit["id"] == one["id"]
    assert hit["score"] > 0
    assert ann.search("door", filters=ANN, fields=["memory"])["results"][0].keys() == {"id", "memory"}


def _change(ann: Any) -> None:  # noqa: ANN401
    (one,) = ann.get_all(filters={"app_id": "house"})["results"]
    done = ann.update(one["id"], text="My door is red.", metadata={"floor": 2})
    assert done["message"] == "Memory updated successfully!"
    ann.update(one["id"], expiration_date="2999-01-01")
    assert ann.get(one["id"])["expiration_date"] == "2999-01-01"
    ann.update(one["id"], expiration_date=None)
    after = ann.get(one["id"])
    assert "expiration_date" not in after
    assert (after["memory"], after["metadata"]) == ("My door is red.", {"kind": "house", "floor": 2})
    told = [(line["event"], line["new_memory"]) for line in ann.history(one["id"])]
    assert told[:2] == [("ADD", "My door is teal."), ("UPDATE", "My door is red.")]
    ann.batch_update([{"memory_id": one["id"], "text": "My door is blue."}])
    assert ann.get(one["id"])["memory"] == "My door is blue."


def _list(ann: Any) -> None:  # noqa: ANN401
    for n in range(3):
        ann.add(f"fact {n}", **ANN, agent_id="planner", infer=False)
    first = ann.get_all(filters={"agent_id": "planner"}, page=1, page_size=2)
    last = ann.get_all(filters={"agent_id": "planner"}, page=2, page_size=2)
    assert [one["memory"] for one in (*first["results"], *last["results"])] == ["fact 2", "fact 1", "fact 0"]
    assert (first["count"], first["previous"], last["next"]) == (3, None, None)
    assert first["next"] == "/v3/memories/?page=2&page_size=2"
    assert ann.get_all(filters=ANN, start_date="2999-01-01")["count"] == 0
    assert ann.get_all(filters={"user_id": "*"}, end_date="2999-01-01")["count"] == 5
    entities = {(one["type"], one["name"]): one["total_memories"] for one in ann.users()["results"]}
    assert entities == {("user", "ann"): 5, ("agent", "planner"): 3, ("app", "house"): 1, ("run", "r1"): 1}


def _keep_apart(ann: Any, bob: Any, errors: Any) -> None:  # noqa: ANN401
    kept = ann.get_all(filters=ANN)["results"]
    assert bob.get_all(filters={"user_id": "bob"})["results"] == bob.users()["results"] == []
    told: set[str] = set()
    for user in ("ann", "nobody", "a:b", "a@b"):
        for ask in (
            lambda user=user: bob.search("door", filters={"user_id": user}),
            lambda user=user: bob.get_all(filters={"OR": [{"user_id": {"in": [user]}}]}),
            lambda user=user: bob.add("x", user_id=user),
            lambda user=user: bob.delete_all(user_id=user),
            lambda user=user: bob.delete_users(user_id=user),
        ):
            with pytest.raises(errors.MemoryNotFoundError) as refused:
                ask()
            told.add(str(refused.value))
    for memory_id in (kept[0]["id"], kept[0]["id"].partition("@")[0], "mem_0@user:ann", "mem_0@user:nobody"):
        for ask in (
            lambda one=memory_id: bob.get(one),
            lambda one=memory_id: bob.history(one),
            lambda one=memory_id: bob.update(one, text="x"),
            lambda one=memory_id: bob.delete(one),
            lambda one=memory_id: bob.batch_update([{"memory_id": one, "text": "x"}]),
            lambda one=memory_id: bob.batch_delete([{"memory_id": one}]),
        ):
            with pytest.raises(errors.MemoryNotFoundError) as refused:
                ask()
            told.add(str(refused.value))
    # One sentence for a user, and one for a memory: what is there is not told from what never was.
    assert len(told) == 2, told
    assert bob.delete_users(agent_id="planner")["message"] == "Entity deleted successfully."
    assert ann.get_all(filters=ANN)["results"] == kept


def _delete(ann: Any, errors: Any) -> None:  # noqa: ANN401
    first, second, *rest = ann.get_all(filters=ANN)["results"]
    assert ann.delete(first["id"], delete_linked=True) == {"message": "Memory deleted successfully!"}
    with pytest.raises(errors.MemoryNotFoundError):
        ann.batch_delete([{"memory_id": second["id"]}, {"memory_id": first["id"]}])
    assert ann.get(second["id"])["memory"]
    ann.batch_delete([{"memory_id": second["id"].partition("@")[0]}])
    assert ann.get_all(filters=ANN)["count"] == len(rest)
    options = {"filters": {"user_id": "ann", "app_id": "house"}}
    assert ann.delete_all(**options) == {"message": "Memories deleted successfully!"}
    assert ann.get_all(filters=ANN)["count"] == len(rest) - 1
    assert ann.reset()["message"].startswith("Client reset successful.")
    assert ann.get_all(filters=ANN)["count"] == 0


def _refuse(ann: Any, errors: Any) -> None:  # noqa: ANN401
    made = ann.add("My door is teal.", **ANN, infer=False)["results"][0]["id"]
    for ask, word in (
        (lambda: ann.add("x"), "At least one of user_id"),
        (lambda: ann.add("x", user_id="a b"), "whitespace"),
        (lambda: ann.add("x", **ANN, timestamp=5), "timestamp"),
        (lambda: ann.add("x", **ANN, expiration_date="2001-01-01"), "is over"),
        (lambda: ann.add("x", **ANN, filters={"colour": "red"}), "ids"),
        (lambda: ann.add("x", **ANN, surprise=1), "no such field"),
        (lambda: ann.search("x", filters=ANN, rerank=True), "rerank"),
        (lambda: ann.search("x", filters={"colour": "red"}), "at least one of"),
        (lambda: ann.search("x", filters={**ANN, "n": {"near": 1}}), "unknown"),
        (lambda: ann.search("x", filters={**ANN, "AND": {"n": 1}}), "needs a list"),
        (lambda: ann.search("x", filters={"OR": [ANN, {"user_id": "bob"}]}), "several users"),
        (lambda: ann.search("x", filters=ANN, top_k=-1), "greater than"),
        (lambda: ann.get_all(filters=ANN, start_date="the week before"), "ISO 8601"),
        (lambda: ann.get_all(filters=ANN, show_expired=True), "expired"),
        (lambda: ann.update(made, text=" "), "empty"),
        (lambda: ann.delete_all(), "At least one of"),
        (lambda: ann.delete_all(filters={"colour": "red"}), "ids"),
        (lambda: ann.batch_delete([]), "at least 1"),
    ):
        with pytest.raises(errors.ValidationError, match=word):
            ask()
    for ask in (
        lambda: ann.create_memory_export("{}", **ANN),
        lambda: ann.get_memory_export(**ANN),
        lambda: ann.get_summary(),
        lambda: ann.feedback(made, "POSITIVE"),
        lambda: ann.get_profile("ann"),
        lambda: ann.generate_profile("ann"),
        lambda: ann.get_profile_settings(),
        lambda: ann.update_profile_settings(enabled=True),
        lambda: ann.sample_profiles(),
        lambda: ann.get_profile_job("j1"),
        lambda: ann.get_project(),
        lambda: ann.update_project(custom_instructions="x"),
        lambda: ann.project.get(),
        lambda: ann.project.create("x"),
        lambda: ann.project.update(custom_instructions="x"),
        lambda: ann.project.delete(),
        lambda: ann.project.get_members(),
        lambda: ann.project.add_member("x@example.org"),
        lambda: ann.project.update_member("x@example.org", "OWNER"),
        lambda: ann.project.remove_member("x@example.org"),
        lambda: ann.get_webhooks("p"),
        lambda: ann.create_webhook("http://x", "x", "p", []),
        lambda: ann.update_webhook(1, name="x"),
        lambda: ann.delete_webhook(1),
    ):
        with pytest.raises(errors.MemoryNotFoundError, match="this route of mem0 is not offered: "):
            ask()
    assert [one["memory"] for one in ann.get_all(filters=ANN)["results"]] == ["My door is teal."]


async def _awaited(bob: Any) -> None:  # noqa: ANN401
    async with bob:
        made = await bob.add("My door is red.", user_id="bob", infer=False)
        one = made["results"][0]["id"]
        await bob.update(one, text="My door is green.")
        assert (await bob.get(one))["memory"] == "My door is green."
        assert len(await bob.history(one)) == 2
        assert (await bob.search("door", filters={"user_id": "bob"}))["results"][0]["id"] == one
        assert (await bob.get_all(filters={"user_id": "bob"}))["count"] == 1
        assert (await bob.users())["count"] == 1
        await bob.batch_update([{"memory_id": one, "metadata": {"n": 1}}])
        await bob.batch_delete([{"memory_id": one}])
        await bob.add("more", user_id="bob", infer=False)
        await bob.delete_all(user_id="bob")
        assert (await bob.get_all(filters={"user_id": "bob"}))["count"] == 0


def test_every_route_that_the_client_calls_is_there(mem0: Any) -> None:  # noqa: ANN401
    app = FastAPI()
    add_rest(app)
    routes = [one.original_route for one in iter_route_contexts(app.routes)]
    called = {(found["method"].upper(), _path(found)) for found in _CALL.finditer(_source(mem0))}
    assert len(called) > 30
    for method, path in called:
        scope = {"type": "http", "method": method, "path": path, "path_params": dict[str, str]()}
        assert any(one.matches(scope)[0] is Match.FULL for one in routes), (method, path)


def _source(mem0: Any) -> str:  # noqa: ANN401
    folder = Path(mem0.__file__).parent / "client"
    text = "".join((folder / name).read_text("utf-8") for name in ("main.py", "project.py"))
    for name, value in re.findall(r'^([A-Z_]+_PATH) = "(.+)"$', text, re.MULTILINE):
        text = text.replace(name, f'"{value}"')
    return text


def _path(found: "re.Match[str]") -> str:
    return (
        "/"
        + re.sub(r"\{[^}]*\}", "x", found["path"].replace("{_encode_path_segment(entity['type'])}", "user")).strip("/")
        + "/"
    )
