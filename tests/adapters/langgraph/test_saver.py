"""The LangGraph checkpointer: its conformance suite, exact state, long threads, and threads that are really gone."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, cast

import pytest
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.graph import START, StateGraph

from recollectum import Recollectum
from recollectum.adapters.langgraph import RecollectumSaver
from recollectum.adapters.langgraph.thread_log import MARGIN
from recollectum.adapters.packing import pack, unpack
from recollectum.adapters.session_log import SessionLog
from recollectum.testing import ScriptedModel
from recollectum.vault.sessions.chat import Chat
from recollectum.vault.sessions.service import Sessions
from tests.storage.statements import traced

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

BASE_TESTS = 58


class _State(TypedDict):
    total: int


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Recollectum]:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as opened:
        yield opened


@pytest.fixture
def saver(home: Recollectum) -> RecollectumSaver:
    return RecollectumSaver(home.vault("user:ann"))


def _config(thread: str, **more: str) -> "RunnableConfig":
    return {"configurable": {"thread_id": thread, "checkpoint_ns": "", **more}}


def _put(saver: RecollectumSaver, config: "RunnableConfig", **values: object) -> "RunnableConfig":
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = values
    return saver.put(config, checkpoint, {"source": "loop", "step": 1}, {})


def test_every_test_of_the_conformance_suite_passes(home: Recollectum) -> None:
    made = 0

    @checkpointer_test(name="Recollectum")
    async def fresh() -> AsyncGenerator[RecollectumSaver, None]:
        nonlocal made
        made += 1
        yield RecollectumSaver(home.vault(f"user:person{made}"))

    report = asyncio.run(validate(fresh))
    results = cast("dict[str, Any]", report.results)
    ran = {name: one for name, one in results.items() if one.detected}
    assert not {name: one.failures for name, one in ran.items() if one.failures}
    base = ("put", "put_writes", "get_tuple", "list", "delete_thread")
    assert sum(ran[name].tests_passed for name in base) == BASE_TESTS
    assert report.passed_all_base()
    assert set(ran) == {*base, "copy_thread", "prune", "delete_for_runs"}


@pytest.mark.parametrize("size", [0, 1, 5, 6, 7, 8, 13, 14, 15, 2000])
def test_bytes_come_back_as_they_were(size: int) -> None:
    data = bytes((7 * n + size) % 256 for n in range(size))
    assert unpack(pack(data)) == data


def test_state_is_exact_also_where_it_looks_like_a_secret(saver: RecollectumSaver) -> None:
    token = "ghp_" + "a1B2" * 9
    saved = _put(saver, _config(token), token=token, password="hunter2hunter2", raw=b"\0\xff", nul="a\0b")
    saver.put_writes(saved, [("secret", token)], "task")
    found = saver.get_tuple(_config(token))
    assert found is not None
    assert found.checkpoint["channel_values"] == {
        "token": token,
        "password": "hunter2hunter2",
        "raw": b"\0\xff",
        "nul": "a\0b",
    }
    assert found.pending_writes == [("task", "secret", token)]
    assert found.config.get("configurable", {})["thread_id"] == token


def test_a_long_thread_gives_its_latest_and_its_first(saver: RecollectumSaver) -> None:
    config = first = _put(saver, _config("t"), n=0)
    for n in range(1, 450):
        config = _put(saver, config, n=n)
    latest = saver.get_tuple(_config("t"))
    assert latest is not None
    assert latest.checkpoint["channel_values"] == {"n": 449}
    early = saver.get_tuple(first)
    assert early is not None
    assert early.checkpoint["channel_values"] == {"n": 0}
    assert len(list(saver.list(_config("t")))) == 450


def test_writes_that_come_before_their_checkpoint_are_found(saver: RecollectumSaver) -> None:
    checkpoint = empty_checkpoint()
    saver.put_writes(_config("t", checkpoint_id=checkpoint["id"]), [("c", 1)], "task")
    assert saver.get_tuple(_config("t")) is None
    saver.put(_config("t"), checkpoint, {}, {})
    found = saver.get_tuple(_config("t"))
    assert found is not None
    assert found.pending_writes == [("task", "c", 1)]


def test_a_graph_goes_on_where_another_process_left_it(home: Recollectum, tmp_path: Path) -> None:
    def add(state: _State) -> _State:
        return {"total": state["total"] + 1}

    def run(opened: Recollectum) -> int:
        saver = RecollectumSaver(opened.vault("user:ann"))
        graph = StateGraph(_State).add_node("add", add).add_edge(START, "add").compile(saver)
        config: RunnableConfig = {"configurable": {"thread_id": "t"}}
        before = cast("dict[str, int]", graph.get_state(config).values)
        return cast("dict[str, int]", graph.invoke({"total": before.get("total", 0)}, config))["total"]

    assert run(home) == 1
    home.close()
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as again:
        assert run(again) == 2


def test_checkpoints_are_never_recalled(home: Recollectum, saver: RecollectumSaver) -> None:
    _put(saver, _config("t"), text="the door is teal")
    assert not home.vault("user:ann").recall("teal door")


def test_threads_of_people_are_in_their_own_vaults(home: Recollectum) -> None:
    saver = RecollectumSaver(lambda thread: home.vault(f"user:{thread.partition('/')[0]}"))
    for thread in ("ann/1", "bob/1"):
        _put(saver, _config(thread), who=thread)
    found = saver.get_tuple(_config("bob/1"))
    assert found is not None
    assert found.checkpoint["channel_values"] == {"who": "bob/1"}
    assert [one.config for one in RecollectumSaver(home.vault("user:bob")).list(None)] == [found.config]
    with pytest.raises(ValueError, match="give a thread_id"):
        list(saver.list(None))


def test_a_deleted_thread_leaves_no_message(home: Recollectum, saver: RecollectumSaver) -> None:
    _put(saver, _config("t"), n=1)
    saver.delete_thread("t")
    saver.delete_thread("t")
    assert saver.get_tuple(_config("t")) is None
    assert home.vault("user:ann").admin.totals().messages == 0


def test_a_thread_is_read_by_no_language_model_and_goes_on_when_it_was_ended(tmp_path: Path) -> None:
    model = ScriptedModel([])
    with Recollectum(tmp_path / "other", settings={"encryption": "off"}, language_model=model) as home:
        vault = home.vault("user:ann")
        saver = RecollectumSaver(vault)
        saved = _put(saver, _config("t"), text="the door is teal")
        for session_id in vault.admin.consolidation.list_unread(everything=True):
            assert vault.admin.consolidation.run(session_id).trouble is None
            vault.sessions.chat(session_id).end()
        _put(saver, saved, text="the door is red")
        assert len(list(saver.list(_config("t")))) == 2
        assert not model.prompts


def _joined(state: list[int], writes: Sequence[list[int]]) -> list[int]:
    return [*state, *(number for write in writes for number in write)]


class _Deltas(TypedDict):
    seen: Annotated[list[int], DeltaChannel(_joined, snapshot_frequency=100)]


def _counting(saver: RecollectumSaver) -> Any:  # noqa: ANN401
    def count(state: _Deltas) -> _Deltas:
        return {"seen": [len(state["seen"])]}

    return StateGraph(_Deltas).add_node("count", count).add_edge(START, "count").compile(saver)


def test_what_the_latest_checkpoint_is_made_of_is_not_pruned(saver: RecollectumSaver) -> None:
    graph, config = _counting(saver), _config("t")
    for number in range(3):
        graph.invoke({"seen": [10 * number]}, {**config, "run_id": None, "metadata": {"run_id": f"run {number}"}})
    before = graph.get_state(config).values
    assert before == {"seen": [0, 1, 10, 3, 20, 5]}
    with pytest.raises(ValueError, match="delta channels"):
        saver.delete_for_runs(["run 0"])
    saver.prune(["t"])
    assert graph.get_state(config).values == before
    assert graph.invoke({"seen": []}, config) == {"seen": [*before["seen"], 6]}


def test_pruned_checkpoints_leave_no_message(home: Recollectum, saver: RecollectumSaver) -> None:
    config = _config("t")
    for number in range(5):
        config = _put(saver, config, n=number)
        saver.put_writes(config, [("c", number)], "task")
    saver.put_writes(_config("t", checkpoint_id="9"), [("early", 1)], "task")
    saver.prune(["t", "nowhere"])
    assert [one.checkpoint["channel_values"] for one in saver.list(_config("t"))] == [{"n": 4}]
    # The checkpoint, its write, and a write that waits for its checkpoint.
    assert home.vault("user:ann").admin.totals().messages == 3
    saver.prune(["t"], strategy="delete")
    assert home.vault("user:ann").admin.totals().messages == 0
    with pytest.raises(ValueError, match="keep_latest or delete"):
        saver.prune(["t"], strategy="everything")


def test_pruning_that_was_cut_off_loses_nothing(saver: RecollectumSaver, monkeypatch: pytest.MonkeyPatch) -> None:
    config = _config("t")
    for number in range(3):
        config = _put(saver, config, n=number)

    def crash(*_: object) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        # Where a process may end: the records that stay are copied, and those that go are still there.
        patch.setattr(SessionLog, "delete_chat", crash)
        with pytest.raises(KeyboardInterrupt):
            saver.prune(["t"])
    assert [one.checkpoint["channel_values"]["n"] for one in saver.list(_config("t"))] == [2, 1, 0]
    assert [one.config for one in saver.list(None, limit=1)] == [config]
    later = _put(saver, config, n=3)
    saver.prune(["t"])
    assert [one.config for one in saver.list(_config("t"))] == [later]


def test_what_is_written_during_pruning_stays(home: Recollectum, saver: RecollectumSaver) -> None:
    other, done = RecollectumSaver(home.vault("user:ann")), Event()

    def prune() -> None:
        while not done.is_set():
            other.prune(["t"])

    pruning = Thread(target=prune)
    pruning.start()
    try:
        config = _config("t")
        for number in range(40):
            config = _put(saver, config, n=number)
            found = saver.get_tuple(_config("t"))
            assert found is not None
            assert found.checkpoint["channel_values"] == {"n": number}
    finally:
        done.set()
        pruning.join()


@pytest.mark.parametrize("step", ["list", "chat", "messages"])
def test_a_thread_that_is_replaced_while_it_is_read_is_read_again(
    home: Recollectum, saver: RecollectumSaver, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    _put(saver, _config("t", checkpoint_ns="first"), n="first")
    config = _config("t")
    for number in range(MARGIN + 50):
        config = _put(saver, config, n=number)
    owner: type = Chat if step == "messages" else Sessions
    real = cast("Callable[..., object]", getattr(owner, step))
    pruned: list[str] = []

    def read(self: object, *args: object, **named: object) -> object:
        # Another process prunes the thread: when its sessions are listed, when the first of them is about to be
        # opened, or between the first two pages of its messages.
        found = None if step == "chat" else real(self, *args, **named)
        if not pruned:
            pruned.append(step)
            RecollectumSaver(home.vault("user:ann")).prune(["t"])
        return real(self, *args, **named) if step == "chat" else found

    monkeypatch.setattr(owner, step, read)
    found = saver.get_tuple(_config("t", checkpoint_ns="first"))
    assert pruned == [step]
    assert found is not None
    assert found.checkpoint["channel_values"] == {"n": "first"}


def test_a_thread_that_another_process_prunes_or_deletes_goes_on(home: Recollectum) -> None:
    here, there = (RecollectumSaver(home.vault("user:ann")) for _ in range(2))
    config = _put(here, _put(here, _config("t"), said="one"), said="two")
    there.prune(["t"])
    # The session that it wrote to last is gone.
    config = _put(here, config, said="three")
    assert [one.checkpoint["channel_values"]["said"] for one in there.list(_config("t"))] == ["three", "two"]
    there.delete_thread("t")
    _put(here, config, said="four")
    assert [one.checkpoint["channel_values"]["said"] for one in there.list(_config("t"))] == ["four"]


def test_only_the_first_record_of_a_thread_looks_for_its_session(tmp_path: Path) -> None:
    with traced() as log, Recollectum(tmp_path / "home", settings={"encryption": "off"}) as home:
        saver = RecollectumSaver(home.vault("user:ann"))
        config = _config("t")

        def put() -> None:
            nonlocal config
            config = _put(saver, config, said="one")

        assert any("FROM sessions" in sql for sql in log.of(put))
        assert not any("FROM sessions" in sql for sql in log.of(put))
