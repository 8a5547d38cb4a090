"""The adapters that keep conversations and the state of agents, against the stores of their frameworks."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from a2a.server.context import ServerCallContext
from a2a.server.tasks.database_task_store import DatabaseTaskStore
from a2a.server.tasks.task_store import TaskStore
from a2a.types.a2a_pb2 import Task
from agents.memory import SQLiteSession
from google.adk.events import Event
from google.adk.sessions import BaseSessionService
from google.adk.sessions import Session as AdkSession
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.sqlite import SqliteSaver
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import ConversationStore, InMemoryConversationStore
from pydantic_ai.messages import ModelRequest, UserPromptPart
from sqlalchemy.ext.asyncio import create_async_engine

from bench.adapters_race import Other, Row, Work, bare_rows, looked
from bench.adapters_set import BATCH, Set, in_batches
from recollectum import Recollectum
from recollectum.adapters.a2a import RecollectumTaskStore
from recollectum.adapters.adk import RecollectumSessionService
from recollectum.adapters.langgraph import RecollectumSaver
from recollectum.adapters.llama_index import RecollectumChatStore
from recollectum.adapters.openai_agents import RecollectumSession
from recollectum.adapters.pydantic_ai import RecollectumConversationStore

#: How many items a conversation has where it is read whole.
_LONG = 100
Batch = list[tuple[int, str]]


async def openai(home: Recollectum, place: Path, data: Set) -> list[Row]:
    """One session of the OpenAI Agents SDK, against its SQLiteSession on a file."""

    def add(session: RecollectumSession | SQLiteSession) -> Work[Batch]:
        return lambda batch: session.add_items(cast("Any", [{"role": "user", "content": text} for _, text in batch]))

    async def scan(query: str) -> list[str]:
        said = [str(cast("Any", item)["content"]) for item in await theirs.get_items()]
        return [text for text in said if any(word in text for word in query.split())]

    vault = home.vault("user:openai")
    ours, theirs = RecollectumSession("s", vault), SQLiteSession("s", place / "agents.db")
    row = Row("OpenAI session", data.size, Other("SQLiteSession on a file, WAL with synchronous=FULL", syncs=True))
    await row.write(in_batches(data.texts), add(ours), add(theirs))
    data.told(vault, row)
    row.read = await looked(
        data.queries, lambda _: ours.get_items(limit=20), lambda _: theirs.get_items(limit=20), "the last 20 items"
    )
    row.search = await looked(
        data.queries,
        lambda query: vault.recall(query, limit=20),
        scan,
        "recall here, all items compared with the words there",
    )
    theirs.close()
    row.bare = await bare_rows(
        place / "openai",
        "user:ann",
        in_batches(data.texts),
        lambda home: add(RecollectumSession("s", home.vault("user:ann"))),
    )
    return [row]


async def llama_index(home: Recollectum, place: Path, data: Set) -> list[Row]:
    """LlamaIndex's chat store, in conversations of 100 messages, against its SQLAlchemyChatStore on a file."""

    def add(store: AsyncDBChatStore) -> Work[Batch]:
        return lambda batch: store.add_messages(
            _name(batch[0][0]), [ChatMessage(role="user", content=text) for _, text in batch]
        )

    vault = home.vault("user:llama")
    engine = create_async_engine(f"sqlite+aiosqlite:///{place / 'llama.db'}")
    ours, theirs = RecollectumChatStore(vault), SQLAlchemyChatStore(table_name="chat", async_engine=engine)
    row = Row("LlamaIndex chat store", data.size, Other("SQLAlchemyChatStore on a file", syncs=True))
    await row.write(in_batches(data.texts), add(ours), add(theirs))
    row.read = await looked(
        _some(data), ours.get_messages, theirs.get_messages, f"all messages of a conversation of {_LONG}"
    )
    await engine.dispose()
    row.bare = await bare_rows(
        place / "llama",
        "user:ann",
        in_batches(data.texts),
        lambda home: add(RecollectumChatStore(home.vault("user:ann"))),
    )
    return [row]


async def pydantic_ai(home: Recollectum, place: Path, data: Set) -> list[Row]:
    """Pydantic AI's conversation store, in conversations of 100 messages; it brings a store in memory alone."""

    def save(store: ConversationStore) -> Work[Batch]:
        async def saved(batch: Batch) -> None:
            name = _name(batch[0][0])
            talk = await store.load(name, limit=BATCH) or Conversation(conversation_id=name)
            new = [ModelRequest(parts=[UserPromptPart(content=text)]) for _, text in batch]
            talk.messages = [*talk.messages, *new]
            await store.save(talk)

        return saved

    ours, theirs = RecollectumConversationStore(home.vault("user:pydantic")), InMemoryConversationStore()
    row = Row("Pydantic AI store", data.size, Other("InMemoryConversationStore", keeps=False))
    await row.write(in_batches(data.texts), save(ours), save(theirs))
    row.read = await looked(_some(data), ours.load, theirs.load, f"all messages of a conversation of {_LONG}")
    row.bare = await bare_rows(
        place / "pydantic",
        "user:ann",
        in_batches(data.texts),
        lambda home: save(RecollectumConversationStore(home.vault("user:ann"))),
    )
    return [row]


async def adk_sessions(home: Recollectum, place: Path, data: Set) -> list[Row]:
    """ADK's session service, in sessions of 100 events, against the one that it brings."""

    def append(service: BaseSessionService) -> Work[tuple[int, Event]]:
        open_ones: dict[str, AdkSession] = {}

        async def appended(one: tuple[int, Event]) -> None:
            name = _name(one[0])
            if name not in open_ones:
                open_ones[name] = await service.create_session(app_name="demo", user_id="ann", session_id=name)
            await service.append_event(open_ones[name], one[1].model_copy(deep=True))

        return appended

    def read(service: BaseSessionService) -> Work[str]:
        return lambda name: service.get_session(app_name="demo", user_id="ann", session_id=name)

    ours, theirs = RecollectumSessionService(home), SqliteSessionService(str(place / "sessions.db"))
    events = [(at, _event(at, text)) for at, text in enumerate(data.texts)]
    row = Row("ADK sessions", data.size, Other("SqliteSessionService", syncs=True))
    await row.write(events, append(ours), append(theirs))
    row.read = await looked(_some(data), read(ours), read(theirs), f"a session of {_LONG} events")
    row.bare = await bare_rows(place / "adks", "user:ann", events, lambda home: append(RecollectumSessionService(home)))
    return [row]


def _event(number: int, text: str) -> Event:
    content = types.Content(role="user", parts=[types.Part(text=text)])
    return Event(id=f"e{number}", author="user", content=content, timestamp=2e9 + number)


async def langgraph_saver(home: Recollectum, place: Path, data: Set) -> list[Row]:
    """LangGraph's checkpointer, in threads of 100 checkpoints, against its SqliteSaver."""

    def put(saver: BaseCheckpointSaver[Any]) -> Work[tuple[int, str]]:
        last: dict[str, RunnableConfig] = {}

        def stored(one: tuple[int, str]) -> None:
            name = _name(one[0])
            config = last.get(name) or _config(name)
            version = str(one[0])
            checkpoint = {
                **empty_checkpoint(),
                "id": f"{one[0]:020}",
                "channel_values": {"said": one[1]},
                "channel_versions": {"said": version},
            }
            metadata: Any = {"source": "loop", "step": one[0], "parents": {}}
            last[name] = saver.put(config, cast("Any", checkpoint), metadata, {"said": version})

        return stored

    def read(saver: BaseCheckpointSaver[Any]) -> Work[str]:
        return lambda name: saver.get_tuple(_config(name))

    ours = RecollectumSaver(home.vault("user:threads"))
    row = Row("LangGraph checkpointer", data.size, Other("SqliteSaver, WAL with synchronous=FULL", syncs=True))
    with SqliteSaver.from_conn_string(str(place / "checkpoints.db")) as theirs:
        await row.write(enumerate(data.texts), put(ours), put(theirs))
        row.read = await looked(_some(data), read(ours), read(theirs), f"the last of {_LONG} checkpoints")
    row.bare = await bare_rows(
        place / "saver",
        "user:ann",
        list(enumerate(data.texts)),
        lambda home: put(RecollectumSaver(home.vault("user:ann"))),
    )
    return [row]


def _config(thread: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}


async def a2a(home: Recollectum, place: Path, data: Set) -> list[Row]:
    """The task store of A2A servers, against the SDK's own on a file of SQLite."""

    def save(store: TaskStore) -> Work[tuple[int, str]]:
        return lambda one: store.save(Task(id=f"task-{one[0]}", context_id="c"), context)

    def read(store: TaskStore) -> Work[int]:
        return lambda number: store.get(f"task-{number}", context)

    context = ServerCallContext()
    engine = create_async_engine(f"sqlite+aiosqlite:///{place / 'tasks.db'}")
    ours, theirs = RecollectumTaskStore(home.vault("user:tasks")), DatabaseTaskStore(engine)
    await theirs.initialize()
    row = Row("A2A task store", data.size, Other("DatabaseTaskStore on a file of SQLite", syncs=True))
    await row.write(enumerate(data.texts), save(ours), save(theirs))
    row.read = await looked(range(len(data.queries)), read(ours), read(theirs), "one task by its id")
    await engine.dispose()
    return [row]


def _name(number: int) -> str:
    return f"talk-{number // _LONG}"


def _some(data: Set) -> Sequence[str]:
    talks = max(1, data.size // _LONG)
    return [f"talk-{number % talks}" for number in range(len(data.queries))]
