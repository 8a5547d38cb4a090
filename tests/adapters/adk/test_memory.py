"""ADK's memory service: finds what its SqliteMemoryService finds, by meaning too, once, and never what was deleted."""

import asyncio
import os
import random
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from google.adk.events import Event
from google.adk.memory import BaseMemoryService
from google.adk.memory._sqlite_memory_service import SqliteMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session
from google.genai import types

from recollectum import NotFound, Recollectum
from recollectum.adapters.adk import RecollectumMemoryService, RecollectumSessionService
from recollectum.testing import ScriptedEmbedder

APP = "demo"
STEPS = int(os.environ.get("ADAPTER_STEPS", "400")) // 8
SAID = [
    ("user", "my door is teal"),
    ("root", "a teal door is nice"),
    ("user", "the car is red, the roof is grey"),
    ("user", "tennis on Sundays"),
    ("root", "see you on the court"),
]
QUERIES = ["teal", "door", "car", "roof", "tennis", "court", "nothing"]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Recollectum]:
    embedder = ScriptedEmbedder(synonyms={"vehicle": "car"})
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}, embedder=embedder) as opened:
        yield opened


@pytest.fixture
def service(home: Recollectum) -> RecollectumMemoryService:
    return RecollectumMemoryService(home)


def _content(author: str, text: str) -> types.Content:
    return types.Content(role="user" if author == "user" else "model", parts=[types.Part(text=text)])


def _session(user: str = "ann", name: str = "s1") -> Session:
    events = [
        Event(id=f"e{n}", author=author, content=_content(author, text), timestamp=2e9 + n)
        for n, (author, text) in enumerate(SAID)
    ]
    return Session(id=name, app_name=APP, user_id=user, events=[*events, Event(author="root", id="empty")])


def _parts(event: Event) -> list[types.Part]:
    return (event.content and event.content.parts) or []


def _texts(found: list[MemoryEntry]) -> list[str]:
    return [str(part.text) for one in found for part in one.content.parts or ()]


async def _search(service: BaseMemoryService, query: str, user: str = "ann") -> list[MemoryEntry]:
    return (await service.search_memory(app_name=APP, user_id=user, query=query)).memories


@pytest.mark.feature("A19")
def test_a_word_finds_what_the_service_of_adk_finds_and_first(
    service: RecollectumMemoryService, tmp_path: Path
) -> None:
    async def replay() -> None:
        theirs = SqliteMemoryService(str(tmp_path / "memory.db"))
        for one in (service, theirs):
            await one.add_session_to_memory(_session())
            await one.add_session_to_memory(_session())
        for query in QUERIES:
            found, known = await _search(service, query), await _search(theirs, query)
            expected = sorted(_texts(known))
            assert sorted(_texts(found)[: len(expected)]) == expected, query
            authors = {_texts([one])[0]: one.author for one in known}
            assert {_texts([one])[0]: one.author for one in found if _texts([one])[0] in authors} == authors

    asyncio.run(replay())


_WORDS = ("teal", "door", "harbour", "tennis", "grey", "roof", "kettle", "Bergen", "grün", "ferry")


class _Histories:
    """Sessions that grow at random, of two users in two apps, in our service and in that of ADK."""

    def __init__(self, ours: RecollectumMemoryService, theirs: SqliteMemoryService) -> None:
        self._both = (ours, theirs)
        self._chance, self._count = random.Random(5), count()
        self._sessions: dict[tuple[str, str, str], Session] = {}

    def _grown(self) -> tuple[Session, list[Event]]:
        place = app, user, name = (
            self._chance.choice("xy"),
            self._chance.choice(["ann", "bob"]),
            self._chance.choice("12"),
        )
        session = self._sessions.setdefault(place, Session(id=name, app_name=app, user_id=user))
        new: list[Event] = []
        for _ in range(self._chance.randrange(1, 4)):
            number, author = next(self._count), self._chance.choice(["user", "root"])
            text = f"note{number} " + " ".join(self._chance.sample(_WORDS, 3))
            new.append(Event(id=f"e{number}", author=author, content=_content(author, text), timestamp=2e9 + number))
        session.events.extend(new)
        return session, new

    async def step(self) -> None:
        """Add a whole session, or what is new in it; then compare what a word finds."""
        session, new = self._grown()
        whole = self._chance.random() < 0.5
        for one in self._both:
            if whole:
                await one.add_session_to_memory(session)
            else:
                await one.add_events_to_memory(
                    app_name=session.app_name, user_id=session.user_id, events=new, session_id=session.id
                )
        asked = {"app_name": self._chance.choice("xy"), "user_id": self._chance.choice(["ann", "bob"])}
        word = self._chance.choice([*_WORDS, f"note{next(self._count) - 1}", "nothing"])
        ours, theirs = [(await one.search_memory(**asked, query=word)).memories for one in self._both]
        known = sorted((_texts([one])[0], one.author) for one in theirs)
        found = sorted(
            (_texts([one])[0], one.author) for one in ours if word.lower() in _texts([one])[0].lower().split()
        )
        assert found == known, (asked, word)
        assert len({*_texts(ours)}) == len(ours)
        own = (one for place, one in self._sessions.items() if place[:2] == (asked["app_name"], asked["user_id"]))
        said = {str(part.text) for one in own for event in one.events for part in _parts(event)}
        assert {*_texts(ours)} <= said


@pytest.mark.feature("A19")
def test_a_random_history_is_found_as_in_the_service_of_adk(home: Recollectum, tmp_path: Path) -> None:
    async def replay() -> None:
        theirs = SqliteMemoryService(str(tmp_path / "memory.db"), max_results=1000)
        histories = _Histories(RecollectumMemoryService(home, results=300), theirs)
        for _ in range(STEPS):
            await histories.step()

    asyncio.run(replay())


def test_meaning_finds_it_too_and_only_for_its_user_and_its_app(service: RecollectumMemoryService) -> None:
    async def talk() -> list[list[str]]:
        await service.add_session_to_memory(_session())
        mine = _texts(await _search(service, "vehicle"))
        other_user = _texts(await _search(service, "teal", "bob"))
        other_app = await service.search_memory(app_name="other", user_id="ann", query="teal")
        return [mine[:1], other_user, _texts(other_app.memories), _texts(await _search(service, "  "))]

    assert asyncio.run(talk()) == [["the car is red, the roof is grey"], [], [], []]


def test_a_deleted_memory_does_not_come_back_when_its_session_is_added_again(
    service: RecollectumMemoryService,
) -> None:
    async def talk() -> list[str]:
        await service.add_session_to_memory(_session())
        (tennis,) = [one for one in await _search(service, "tennis") if "tennis" in _texts([one])[0]]
        await service.delete_memory(app_name=APP, user_id="ann", memory_id=tennis.id)
        await service.add_session_to_memory(_session())
        with pytest.raises(NotFound):
            await service.delete_memory(app_name=APP, user_id="ann", memory_id=tennis.id)
        left = _texts(await _search(service, "tennis"))
        await service.delete_memory(app_name=APP, user_id="ann")
        await service.add_session_to_memory(_session())
        return [*(text for text in left if "tennis" in text), *_texts(await _search(service, "teal"))]

    assert asyncio.run(talk()) == []


def test_memories_are_added_with_their_metadata(service: RecollectumMemoryService) -> None:
    entry = MemoryEntry(
        id="m1", content=_content("user", "likes tea"), author="user", custom_metadata={"topic": "drinks"}
    )

    async def talk() -> list[MemoryEntry]:
        await service.add_memory(app_name=APP, user_id="ann", memories=[entry], custom_metadata={"source": "form"})
        return await _search(service, "tea")

    (found,) = asyncio.run(talk())
    assert found.custom_metadata == {"topic": "drinks", "source": "form"}
    assert found.author == "user"


def test_a_session_of_our_service_is_searched_and_stored_once(
    service: RecollectumMemoryService, home: Recollectum
) -> None:
    async def talk() -> list[MemoryEntry]:
        sessions = RecollectumSessionService(home)
        session = await sessions.create_session(app_name=APP, user_id="ann", session_id="s1")
        for event in _session().events:
            await sessions.append_event(session, event)
        await service.add_session_to_memory(session)
        return await _search(service, "tennis")

    assert _texts(asyncio.run(talk()))[0] == "tennis on Sundays"
    assert not home.vault("user:ann").memories.list()


def test_what_a_model_said_has_the_trust_of_an_assistant(service: RecollectumMemoryService, home: Recollectum) -> None:
    asyncio.run(service.add_session_to_memory(_session()))
    trusts = {memory.trust for memory in home.vault("user:ann").memories.list()}
    assert trusts == {"owner", "assistant"}


def test_no_more_results_than_asked_for_reach_a_prompt(home: Recollectum) -> None:
    service = RecollectumMemoryService(home, results=2)
    events = [Event(id=f"e{n}", author="user", content=_content("user", f"teal number {n}")) for n in range(9)]

    async def talk() -> list[MemoryEntry]:
        await service.add_events_to_memory(app_name=APP, user_id="ann", events=events)
        return await _search(service, "teal")

    assert len(asyncio.run(talk())) == 2
