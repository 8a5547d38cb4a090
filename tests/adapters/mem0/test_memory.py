"""The face of mem0: as its own Memory on random histories, with filters, versions, and users kept apart."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

import os
import random
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from recollectum import Recollectum
from recollectum.adapters.mem0 import RecollectumMemory
from recollectum.testing import ScriptedModel
from tests.adapters.mem0.faces import EMBEDDER, ClientFace, Face, load_mem0, own_memory
from tests.doors.http.served import serving
from tests.plugins.engines import SQLITE, current_engine

STEPS = int(os.environ.get("ADAPTER_STEPS", "400")) // 4
#: A server is asked over a socket, and with SQLite the long history runs anyway.
SERVER_STEPS = STEPS // 5


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Recollectum]:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}, embedder=EMBEDDER) as opened:
        yield opened


@pytest.fixture
def memory(home: Recollectum) -> RecollectumMemory:
    return RecollectumMemory(home)


@pytest.fixture(params=["python", pytest.param("http", marks=pytest.mark.loopback)])
def ours(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Face]:
    """Our face in Python, and mem0's client with a server of ours."""
    if request.param == "python":
        yield RecollectumMemory(request.getfixturevalue("home"))
        return
    mem0 = load_mem0(tmp_path, monkeypatch)
    with serving(tmp_path / "served") as served, ExitStack() as stack:
        url = f"http://127.0.0.1:{served.port}"
        clients = {one: mem0.MemoryClient(served.new_key(f"user:{one}"), url) for one in ("ann", "bob")}
        for one in clients.values():
            stack.enter_context(closing(one.client))
        yield ClientFace(clients, mem0.exceptions)


def _shown(found: dict[str, Any]) -> list[tuple[object, ...]]:
    names = ("memory", "hash", "metadata", "user_id", "agent_id", "run_id", "actor_id", "role")
    return sorted(tuple(str(one.get(name)) for name in names) for one in found["results"])


def _told(history: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    names = ("event", "old_memory", "new_memory", "is_deleted", "actor_id", "role")
    return [tuple(one[name] for name in names) for one in history]


def _tried(one: Face, method: str, *given: object) -> str:
    try:
        return str(getattr(one, method)(*given))
    except ValueError:
        return "refused"


FILTERS: list[dict[str, Any]] = [
    {},
    {"n": 2},
    {"n": "2"},
    {"run_id": "r1"},
    {"agent_id": "planner"},
    {"role": "assistant"},
    {"n": {"gte": 1}},
    {"n": {"gt": 0, "lt": 3}},
    {"n": {"ne": 2}},
    {"t": {"in": ["x", "y"]}},
    {"t": {"nin": ["x"]}},
    {"t": ["x", "z"]},
    {"AND": [{"n": 1}, {"t": "x"}]},
    {"OR": [{"n": 1}, {"t": "y"}]},
    {"NOT": [{"n": 1}]},
    {"created_at": {"gte": "2020-01-01"}},
]


def _added(rnd: random.Random, n: int, user: str, both: tuple[Face, Face]) -> list[list[str]]:
    said = [{"role": "user", "content": f"fact {n} about tea"}, {"role": "system", "content": "be brief"}]
    said += [{"role": "assistant", "content": f"noted {n}", "name": "Kim"}] if rnd.random() < 0.3 else []
    given: dict[str, Any] = {"user_id": user, "infer": False, "metadata": {"n": rnd.randint(0, 3)}}
    given["metadata"] |= {"t": rnd.choice("xy")} if rnd.random() < 0.7 else {}
    given |= rnd.choice([{}, {}, {"run_id": "r1"}, {"agent_id": "planner"}])
    made = [one.add(said, **given)["results"] for one in both]
    names = ("memory", "event", "actor_id", "role")
    shown = [[tuple(one[name] for name in names) for one in several] for several in made]
    assert shown[0] == shown[1]
    return [[mine["id"], other["id"]] for mine, other in zip(*made, strict=True)]


@pytest.mark.slow
@pytest.mark.feature("A19")
def test_a_random_history_reads_as_in_mem0(ours: Face, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = (ours, own_memory(tmp_path, monkeypatch))
    rnd = random.Random(2)
    ids: list[list[str]] = []
    for n in range(STEPS if current_engine() == SQLITE else SERVER_STEPS):
        user, dice = rnd.choice(["ann", "bob"]), rnd.random()
        if dice < 0.35 or not ids:
            ids += _added(rnd, n, user, both)
            continue
        pair = rnd.choice(ids)
        if dice < 0.6:
            text = rnd.choice([None, f"changed {n}"])
            metadata = {"n": n % 4, "user_id": "eve"} if text is None or rnd.random() < 0.5 else None
            results = [
                _tried(one, "update", memory_id, text, metadata) for one, memory_id in zip(both, pair, strict=True)
            ]
            assert results[0] == results[1]
        elif dice < 0.7:
            results = [_tried(one, "delete", memory_id) for one, memory_id in zip(both, pair, strict=True)]
            assert results[0] == results[1]
            assert both[0].get(pair[0]) is both[1].get(pair[1]) is None
        else:
            wanted = {"user_id": user, **rnd.choice(FILTERS)}
            found = [one.get_all(filters=wanted, top_k=1000) for one in both]
            assert _shown(found[0]) == _shown(found[1]), wanted
            _compare_one(both, pair)
    for user in ("ann", "bob"):
        assert both[0].delete_all(user_id=user) == both[1].delete_all(user_id=user)
        assert both[0].get_all(filters={"user_id": user}, top_k=10)["results"] == []


def _compare_one(both: tuple[Face, Face], pair: list[str]) -> None:
    """Compare one memory with its history; what was deleted has one there alone."""
    found = [one.get(memory_id) for one, memory_id in zip(both, pair, strict=True)]
    assert (found[0] is None) is (found[1] is None)
    if found[0] and found[1]:
        assert _shown({"results": [found[0]]}) == _shown({"results": [found[1]]})
        told = [_told(one.history(memory_id)) for one, memory_id in zip(both, pair, strict=True)]
        assert told[0] == told[1]
        hits = [one.search(found[0]["memory"], filters={"user_id": found[0]["user_id"]}, top_k=3) for one in both]
        assert found[0]["memory"] in [hit["memory"] for hit in hits[0]["results"]]
        assert found[1]["memory"] in [hit["memory"] for hit in hits[1]["results"]]


def test_search_finds_what_has_to_do_with_the_query_and_keeps_users_apart(memory: RecollectumMemory) -> None:
    for user in ("ann", "bob"):
        memory.add(f"the door of {user} is teal", user_id=user, metadata={"kind": "house"}, infer=False)
    memory.add("tennis on Sundays", user_id="ann", infer=False)
    (first, *_) = memory.search("teal door", filters={"user_id": "ann"}, top_k=3)["results"]
    assert first["memory"] == "the door of ann is teal"
    assert first["score"] > 0.1
    assert not memory.search("bob", filters={"user_id": "ann", "kind": "garden"})["results"]
    either = {"user_id": "ann", "OR": [{"kind": "house"}, {"kind": "garden"}], "NOT": [{"kind": {"contains": "gar"}}]}
    assert [one["memory"] for one in memory.get_all(filters=either)["results"]] == ["the door of ann is teal"]


def test_a_change_is_in_the_history(memory: RecollectumMemory) -> None:
    made = memory.add("likes Tea", user_id="ann", infer=False)["results"][0]
    memory.update(made["id"], "likes tea")
    told = [(one["event"], one["old_memory"], one["new_memory"]) for one in memory.history(made["id"])]
    assert told == [("ADD", None, "likes Tea"), ("UPDATE", "likes Tea", "likes tea")]


def test_a_language_model_extracts_and_a_plain_memory_is_known_too(tmp_path: Path) -> None:
    model = ScriptedModel([])
    with Recollectum(tmp_path / "other", settings={"encryption": "off"}, language_model=model) as home:
        memory = RecollectumMemory(home)
        assert memory.add("I like tea", user_id="ann") == {"results": []}
        assert len(model.prompts) == 1
        plain = home.vault("user:ann").memories.save("The person likes tea.")
        (found,) = memory.get_all(filters={"user_id": "ann"})["results"]
        assert found["memory"] == "The person likes tea."
        memory.update(found["id"], "The person likes coffee.")
        assert home.vault("user:ann").memories.get(plain.id).content == "The person likes coffee."


@pytest.mark.parametrize(
    ("method", "given", "named"),
    [
        ("search", ["x"], {"user_id": "ann"}),
        ("search", ["x"], {}),
        ("search", [" "], {"filters": {"user_id": "ann"}}),
        ("search", ["x"], {"filters": {"user_id": "ann"}, "threshold": 2}),
        ("search", ["x"], {"filters": {"user_id": "*"}}),
        ("get_all", [], {"filters": {"user_id": "ann"}, "top_k": -1}),
        ("get_all", [], {"filters": {"user_id": "ann", "n": {"near": 1}}}),
        ("get_all", [], {"filters": {"user_id": ["ann", "bob"]}}),
        ("add", [5], {"user_id": "ann"}),
        ("add", [[{"role": "user"}]], {"user_id": "ann"}),
        ("add", ["x"], {"user_id": "ann", "expiration_date": "soon", "infer": False}),
        ("get_all", [], {}),
        ("get_all", [], {"filters": {"n": 1}}),
        ("add", ["x"], {}),
        ("add", ["x"], {"user_id": "a b"}),
        ("delete", ["00000000-0000-0000-0000-000000000000"], {}),
        ("update", ["mem_x@user:nobody", "x"], {}),
    ],
)
def test_what_mem0_refuses_is_refused(
    memory: RecollectumMemory, method: str, given: list[Any], named: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        getattr(memory, method)(*given, **named)


def test_a_memory_expires_after_its_day(memory: RecollectumMemory) -> None:
    memory.add("for long", user_id="ann", expiration_date="2999-01-01", infer=False)
    assert len(memory.get_all(filters={"user_id": "ann"})["results"]) == 1
