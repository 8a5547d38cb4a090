"""The LangGraph store: as its SqliteStore on random histories, with search by meaning, and people kept apart."""

# pyright: reportMissingTypeStubs=false

import asyncio
import os
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, PutOp, SearchItem, SearchOp
from langgraph.store.sqlite import SqliteStore

from recollectum import Recollectum
from recollectum.adapters.langgraph import RecollectumStore
from recollectum.testing import ScriptedEmbedder

STEPS = int(os.environ.get("ADAPTER_STEPS", "400"))
LABELS = ["users", "docs", "x y", "Ünï", "a"]
FILTERS: list[dict[str, Any] | None] = [
    None,
    {"t": "p"},
    {"n": {"$gte": 4}},
    {"n": {"$lt": 3, "$ne": 1}},
    {"missing": {"$ne": 1}},
    {"none": None},
    {"t": {"$gt": "Q"}},
    {"n": {"$lte": 5}, "t": {"$eq": "q"}},
]


class _Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 5, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


@pytest.fixture
def home(tmp_path: Path, clock: _Clock) -> Iterator[Recollectum]:
    embedder = ScriptedEmbedder(synonyms={"hue": "colour"})
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}, embedder=embedder, clock=clock) as opened:
        yield opened


@pytest.fixture
def store(home: Recollectum) -> RecollectumStore:
    return RecollectumStore(home.vault("user:ann"))


def _shown(items: list[SearchItem]) -> list[tuple[object, ...]]:
    return sorted((item.namespace, item.key, str(item.value)) for item in items)


def _step(rnd: random.Random, ours: RecollectumStore, theirs: SqliteStore) -> None:
    namespace = tuple(rnd.choice(LABELS) for _ in range(rnd.randint(1, 5))) if rnd.random() < 0.6 else ("users",)
    key, dice = rnd.choice("abcdef"), rnd.random()
    if dice < 0.4:
        value = {"n": rnd.randint(0, 9), "t": rnd.choice("pqPQ"), "m": {"z": [rnd.randint(0, 2)]}, "none": None}
        ours.put(namespace, key, value)
        theirs.put(namespace, key, value)
    elif dice < 0.5:
        ours.delete(namespace, key)
        theirs.delete(namespace, key)
    elif dice < 0.65:
        one, other = ours.get(namespace, key), theirs.get(namespace, key)
        assert (one and one.value) == (other and other.value)
    elif dice < 0.85:
        prefix, wanted = namespace[: rnd.randint(0, 5)], rnd.choice(FILTERS)
        assert _shown(ours.search(prefix, filter=wanted, limit=1000)) == _shown(
            theirs.search(prefix, filter=wanted, limit=1000)
        )
    else:
        prefix = rnd.choice([None, namespace[:1], ("*",), namespace[:2]])
        suffix, depth = rnd.choice([None, namespace[-1:]]), rnd.choice([None, 1, 2])
        assert ours.list_namespaces(prefix=prefix, suffix=suffix, max_depth=depth, limit=1000) == sorted(
            theirs.list_namespaces(prefix=prefix, suffix=suffix, max_depth=depth, limit=1000)
        )


@pytest.mark.parametrize("seed", [1, 2])
def test_a_random_history_reads_as_in_the_store_of_langgraph(seed: int, store: RecollectumStore) -> None:
    rnd = random.Random(seed)
    with SqliteStore.from_conn_string(":memory:") as theirs:
        theirs.setup()
        for _ in range(STEPS):
            _step(rnd, store, theirs)


def test_search_finds_by_words_and_by_meaning_and_keeps_to_its_namespace(store: RecollectumStore) -> None:
    store.put(("memories", "home"), "1", {"text": "the colour of the door is teal"})
    store.put(("memories", "work"), "2", {"text": "the colour of the report is grey"})
    store.put(("memories", "home"), "3", {"text": "tennis on Sundays"})
    found = store.search(("memories", "home"), query="which hue has the door")
    assert found[0].key == "1"
    assert found[0].score is not None
    assert {item.key for item in found} <= {"1", "3"}
    assert store.search(("memories",), query="report")[0].key == "2"
    assert not store.search(("memories",), query="door", filter={"text": "no"})


def test_an_item_that_is_not_indexed_is_listed_and_never_found(store: RecollectumStore) -> None:
    store.put(("m",), "1", {"text": "the door is teal"}, index=False)
    assert [item.key for item in store.search(("m",))] == ["1"]
    assert store.search(("m",), query="teal door") == []


def test_many_others_do_not_hide_the_items_of_a_namespace(store: RecollectumStore) -> None:
    store.batch([PutOp(("noise", str(n)), "k", {"text": f"teal door number {n}"}) for n in range(120)])
    store.put(("mine",), "1", {"text": "teal door of mine"})
    assert [item.key for item in store.search(("mine",), query="teal door", limit=2)] == ["1"]


def test_pages_of_a_search_follow_each_other(store: RecollectumStore) -> None:
    store.batch([PutOp(("m",), str(n), {"text": f"teal {n}"}) for n in range(7)])
    for query in (None, "teal"):
        pages = [store.search(("m",), query=query, limit=3, offset=at) for at in (0, 3, 6)]
        assert [len(page) for page in pages] == [3, 3, 1]
        assert len({item.key for page in pages for item in page}) == 7


def test_a_batch_reads_before_it_writes_and_the_last_write_counts(store: RecollectumStore) -> None:
    store.put(("m",), "1", {"n": 1})
    got, *_, found = store.batch(
        [GetOp(("m",), "1"), PutOp(("m",), "1", {"n": 2}), PutOp(("m",), "1", {"n": 3}), SearchOp(("m",), limit=10)]
    )
    assert getattr(got, "value", None) == {"n": 1}
    assert isinstance(found, list)
    assert getattr(found[0], "value", None) == {"n": 1}
    item = store.get(("m",), "1")
    assert item is not None
    assert item.value == {"n": 3}
    assert item.created_at <= item.updated_at


def test_the_awaited_methods_do_the_same(store: RecollectumStore) -> None:
    async def converse() -> list[SearchItem]:
        await asyncio.gather(*(store.aput(("m",), str(n), {"text": f"teal {n}"}) for n in range(5)))
        await store.adelete(("m",), "0")
        return await store.asearch(("m",), query="teal")

    assert sorted(item.key for item in asyncio.run(converse())) == ["1", "2", "3", "4"]


def test_the_time_to_live_is_in_minutes_and_begins_anew_with_each_access(
    store: RecollectumStore, clock: _Clock
) -> None:
    store.put(("m",), "read", {"n": 1}, ttl=10)
    store.put(("m",), "left", {"n": 1}, ttl=10)
    store.put(("m",), "kept", {"n": 1})
    clock.now += timedelta(minutes=9)
    assert store.get(("m",), "read") is not None
    assert store.get(("m",), "left", refresh_ttl=False) is not None
    clock.now += timedelta(minutes=2)
    assert store.get(("m",), "left") is None
    assert sorted(item.key for item in store.search(("m",), refresh_ttl=False)) == ["kept", "read"]
    clock.now += timedelta(minutes=9)
    assert [item.key for item in store.search(("m",))] == ["kept"]


def test_the_default_time_to_live_is_that_of_the_configuration(home: Recollectum, clock: _Clock) -> None:
    store = RecollectumStore(home.vault("user:ann"), ttl={"default_ttl": 5, "refresh_on_read": False})
    store.put(("m",), "1", {"n": 1})
    clock.now += timedelta(minutes=4)
    assert store.get(("m",), "1") is not None
    clock.now += timedelta(minutes=2)
    assert store.get(("m",), "1") is None


@pytest.mark.parametrize("namespace", [(), ("langgraph", "x"), ("a.b",), ("",)])
def test_a_namespace_that_langgraph_forbids_is_refused(store: RecollectumStore, namespace: tuple[str, ...]) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {"n": 1})


def test_labels_are_checked_also_in_a_batch(store: RecollectumStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("ok",), "k", {"n": 1}), PutOp(("a.b",), "k", {"n": 1})])
    assert store.get(("ok",), "k") is None


def test_an_unknown_operator_is_named(store: RecollectumStore) -> None:
    store.put(("m",), "1", {"n": 1})
    with pytest.raises(ValueError, match=r"\$near"):
        store.search(("m",), filter={"n": {"$near": 1}})


def test_one_store_keeps_people_apart_when_a_label_names_the_vault(home: Recollectum) -> None:
    store = RecollectumStore(lambda namespace: home.vault(f"user:{namespace[1]}"))
    for person in ("ann", "bob"):
        store.put(("memories", person), "door", {"text": f"the door of {person} is teal"})
    assert [item.value["text"] for item in store.search(("memories", "bob"), query="teal door")] == [
        "the door of bob is teal"
    ]
    assert not home.vault("user:ann").recall("bob")[0].text.count("bob")


def test_a_secret_in_a_value_is_not_stored(store: RecollectumStore) -> None:
    secret = "ghp_" + "a1B2" * 9
    store.put(("m",), "1", {"text": f"my token is {secret}"})
    item = store.get(("m",), "1")
    assert item is not None
    assert secret not in str(item.value)
