"""The task store of A2A servers: as the SDK's own store in memory on random histories, and lasting."""

# pyright: reportUnknownMemberType=false

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from a2a.auth.user import User
from a2a.server.context import ServerCallContext
from a2a.server.tasks.inmemory_task_store import InMemoryTaskStore
from a2a.types.a2a_pb2 import ListTasksRequest, Task, TaskState, TaskStatus
from a2a.utils.errors import InvalidParamsError
from google.protobuf.timestamp_pb2 import Timestamp

from recollectum import Recollectum, Vault
from recollectum.adapters.a2a import RecollectumTaskStore

_STEPS = 60
_STATES = (TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED)


class _Named(User):
    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def is_authenticated(self) -> bool:
        return True

    @property
    def user_name(self) -> str:
        return self._name


def _context(name: str) -> ServerCallContext:
    return ServerCallContext(user=_Named(name))


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with Recollectum(tmp_path / "home", settings={"tasks.url": "memory://a2a-tests"}) as home:
        yield home.vault("user:ann")


def _task(chance: random.Random) -> Task:
    task = Task(id=f"task-{chance.randrange(6)}", context_id=f"context-{chance.randrange(2)}")
    if chance.random() < 0.8:
        at = Timestamp(seconds=1_800_000_000 + chance.randrange(4), nanos=chance.randrange(10**9))
        task.status.CopyFrom(TaskStatus(state=chance.choice(_STATES), timestamp=at))
    task.metadata["note"] = f"naïve ☃ {chance.random()}"
    return task


def _request(chance: random.Random) -> ListTasksRequest:
    wanted = ListTasksRequest(page_size=chance.choice((1, 2, 100)))
    if chance.random() < 0.5:
        wanted.context_id = "context-1"
    if chance.random() < 0.5:
        wanted.status = _STATES[0]
    if chance.random() < 0.3:
        wanted.status_timestamp_after.CopyFrom(Timestamp(seconds=1_800_000_002))
    return wanted


@pytest.mark.feature("C15")
def test_it_answers_as_the_store_of_the_sdk(vault: Vault) -> None:
    chance = random.Random(5)
    ours, theirs = RecollectumTaskStore(vault), InMemoryTaskStore()

    async def compare(context: ServerCallContext) -> None:
        wanted, more = _request(chance), True
        while more:
            found = await ours.list(wanted, context)
            assert found == await theirs.list(wanted, context)
            wanted.page_token = found.next_page_token
            more = bool(found.next_page_token)

    async def play() -> None:
        for _ in range(_STEPS):
            context = _context(chance.choice(("ann", "bob", "a/b", "")))
            task = _task(chance)
            match chance.randrange(5):
                case 0:
                    await ours.delete(task.id, context)
                    await theirs.delete(task.id, context)
                case 1:
                    assert await ours.get(task.id, context) == await theirs.get(task.id, context)
                case 2:
                    await compare(context)
                case _:
                    await ours.save(task, context)
                    await theirs.save(task, context)

    asyncio.run(play())


@pytest.mark.feature("C15")
def test_tasks_last_and_keep_their_workspace(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "file").write_text("content")
    context = _context("ann")
    with Recollectum(tmp_path / "home") as home:
        store = RecollectumTaskStore(lambda asked: home.vault(f"user:{asked.user.user_name}"))
        asyncio.run(store.save(Task(id="t/1"), context))
        name = store.task_id("t/1", context)
        home.vault("user:ann").tasks.save_workspace(name, tmp_path / "work")
    with Recollectum(tmp_path / "home") as home:
        store = RecollectumTaskStore(lambda asked: home.vault(f"user:{asked.user.user_name}"))
        asyncio.run(store.save(Task(id="t/1", context_id="later"), context))
        assert asyncio.run(store.get("t/1", context)) == Task(id="t/1", context_id="later")
        assert asyncio.run(store.get("t/1", _context("bob"))) is None
        home.vault("user:ann").tasks.extract(name, tmp_path / "new")
    assert (tmp_path / "new" / "file").read_text() == "content"


def test_a_page_token_that_no_page_gave_is_refused(vault: Vault) -> None:
    with pytest.raises(InvalidParamsError):
        asyncio.run(RecollectumTaskStore(vault).list(ListTasksRequest(page_token="made up"), _context("ann")))
