"""ADK's session service: as its SqliteSessionService on random histories, stale writes refused, users kept apart."""

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Awaitable, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.adk.cli.service_registry import get_service_registry, load_services_module
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events import Event, EventActions
from google.adk.sessions import BaseSessionService, Session
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types

from recollectum import InvalidInput, Recollectum
from recollectum.adapters.adk import RecollectumMemoryService, RecollectumSessionService
from tests.adapters.adk.dying_program import MOMENTS, PLACE, event

STEPS = int(os.environ.get("ADAPTER_STEPS", "400")) // 2
SECRET = "ghp_" + "a1B2" * 9
APP = "demo"
ROOT = Path(__file__).parents[3]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Recollectum]:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as opened:
        yield opened


@pytest.fixture
def service(home: Recollectum) -> RecollectumSessionService:
    return RecollectumSessionService(home)


def _event(n: float, *, author: str = "user", **more: object) -> Event:
    parts = [types.Part(text=f"message {n}")]
    content = types.Content(role="user" if author == "user" else "model", parts=parts)
    given = {"author": author, "invocation_id": f"i{n}", "content": content, "timestamp": 2e9 + n, **more}
    return Event.model_validate(given)


def _delta(rnd: random.Random, n: int) -> dict[str, Any]:
    names = rnd.sample(["k", "j", "user:y", "user:z", "app:x", "temp:t"], rnd.randint(0, 3))
    return {name: rnd.choice([n, None, "text", {"deep": [n]}]) for name in names}


def _shown(session: Session | None) -> object:
    if session is None:
        return None
    events = [event.model_dump(exclude_none=True) for event in session.events]
    return session.id, session.user_id, sorted(session.state.items(), key=str), events


class _Pair:
    """Both services, with the same sessions in hand."""

    def __init__(self, ours: BaseSessionService, theirs: BaseSessionService) -> None:
        self.both = (ours, theirs)
        self.held: dict[tuple[str, str], list[Session]] = {}

    async def each(self, act: str, **given: object) -> list[Any]:
        return [await self.tried(getattr(service, act)(**given)) for service in self.both]

    async def tried(self, call: Awaitable[Any]) -> Any:  # noqa: ANN401
        try:
            return await call
        except (AlreadyExistsError, ValueError) as error:
            return f"{type(error).__name__}: {error}"


async def _step(rnd: random.Random, n: int, pair: _Pair) -> None:
    place: dict[str, Any] = {
        "app_name": APP,
        "user_id": rnd.choice(["ann", "bob"]),
        "session_id": rnd.choice(["s1", "s2", "s11"]),
    }
    key, dice = (place["user_id"], place["session_id"]), rnd.random()
    if dice < 0.15:
        made = await pair.each("create_session", **place, state=_delta(rnd, n))
        if all(isinstance(one, Session) for one in made):
            pair.held[key] = made
        assert [_shown(one) if isinstance(one, Session) else one for one in made[:1]] == [
            _shown(one) if isinstance(one, Session) else one for one in made[1:]
        ]
    elif dice < 0.6 and key in pair.held:
        event = _event(n, author=rnd.choice(["user", "root"]), partial=rnd.random() < 0.1)
        event.actions = EventActions(state_delta=_delta(rnd, n))
        results = [
            await pair.tried(service.append_event(session, event.model_copy(deep=True)))
            for service, session in zip(pair.both, pair.held[key], strict=True)
        ]
        assert isinstance(results[0], str) == isinstance(results[1], str)
        assert [one.state for one in pair.held[key][:1]] == [one.state for one in pair.held[key][1:]]
    elif dice < 0.65:
        await pair.each("delete_session", **place)
    elif dice < 0.9:
        recent = rnd.choice([None, 0, 1, 3])
        config = rnd.choice(
            [None, GetSessionConfig(num_recent_events=recent), GetSessionConfig(after_timestamp=2e9 + n / 2)]
        )
        ours, theirs = await pair.each("get_session", **place, config=config)
        assert _shown(ours) == _shown(theirs)
        if ours and theirs and config is None:
            pair.held[key] = [ours, theirs]
    else:
        ours, theirs = await pair.each("get_user_state", app_name=APP, user_id=place["user_id"])
        assert ours == theirs
        ours, theirs = await pair.each("list_sessions", app_name=APP, user_id=rnd.choice([None, "ann"]))
        assert sorted(map(str, map(_shown, ours.sessions))) == sorted(map(str, map(_shown, theirs.sessions)))


@pytest.mark.feature("A19")
def test_a_random_history_reads_as_in_the_service_of_adk(service: RecollectumSessionService, tmp_path: Path) -> None:
    async def replay() -> None:
        rnd = random.Random(11)
        pair = _Pair(service, SqliteSessionService(str(tmp_path / "adk.db")))
        for n in range(STEPS):
            await _step(rnd, n, pair)

    asyncio.run(replay())


async def _refused(call: Awaitable[object]) -> str:
    try:
        await call
    except (AlreadyExistsError, ValueError) as error:
        return type(error).__name__
    return "accepted"


def test_a_stale_write_a_second_session_and_a_lost_one_are_refused(service: RecollectumSessionService) -> None:
    async def talk() -> list[str]:
        place: dict[str, Any] = {"app_name": APP, "user_id": "ann"}
        session = await service.create_session(**place, session_id=" s1 ")
        assert session.id == "s1"
        stale = await service.get_session(**place, session_id="s1")
        assert stale is not None
        await service.append_event(session, _event(1))
        told = [await _refused(service.append_event(stale, _event(2)))]
        told.append(await _refused(service.create_session(**place, session_id="s1")))
        await service.delete_session(**place, session_id="s1")
        await service.delete_session(**place, session_id="s1")
        return [*told, await _refused(service.append_event(session, _event(3)))]

    assert asyncio.run(talk()) == ["StaleSessionError", "AlreadyExistsError", "SessionNotFoundError"]


def test_of_many_writers_with_one_session_exactly_one_is_accepted(service: RecollectumSessionService) -> None:
    async def talk() -> list[str]:
        place: dict[str, Any] = {"app_name": APP, "user_id": "ann", "session_id": "s"}
        await service.create_session(**place)
        copies = [await service.get_session(**place) for _ in range(5)]
        return list(
            await asyncio.gather(*(_refused(service.append_event(one, _event(1))) for one in copies if one is not None))
        )

    assert sorted(asyncio.run(talk())) == ["StaleSessionError"] * 4 + ["accepted"]


def test_what_was_said_is_recalled_without_its_secrets_and_only_by_its_user(
    service: RecollectumSessionService, home: Recollectum
) -> None:
    async def talk() -> Session | None:
        place: dict[str, Any] = {"app_name": APP, "user_id": "ann", "session_id": "s"}
        session = await service.create_session(**place, state={"token": SECRET})
        content = types.Content(role="user", parts=[types.Part(text=f"the door is teal, {SECRET}")])
        await service.append_event(session, Event(author="user", content=content, timestamp=2e9))
        return await service.get_session(**place)

    kept = asyncio.run(talk())
    assert kept is not None
    assert SECRET not in str(kept.events)
    assert kept.state == {"token": SECRET}
    (hit,) = home.vault("user:ann").recall("teal door")
    assert hit.trust == "owner"
    assert not home.vault("user:bob").recall("teal door")


def test_services_yaml_registers_both_services_under_a_uri(tmp_path: Path) -> None:
    (tmp_path / "services.yaml").write_text(
        "services:\n"
        "  - {scheme: recollectum, type: session, class: recollectum.adapters.adk.RecollectumSessionService}\n"
        "  - {scheme: recollectum, type: memory, class: recollectum.adapters.adk.RecollectumMemoryService}\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.path", [*sys.path])
        load_services_module(str(tmp_path))
    uri = f"recollectum://{tmp_path}/home"
    sessions = get_service_registry().create_session_service(uri, agents_dir=str(tmp_path))
    memory = get_service_registry().create_memory_service(uri, agents_dir=str(tmp_path))
    assert isinstance(sessions, RecollectumSessionService)
    assert isinstance(memory, RecollectumMemoryService)
    asyncio.run(sessions.create_session(app_name=APP, user_id="ann", session_id="s"))
    asyncio.run(sessions.close())
    asyncio.run(memory.close())
    with Recollectum(tmp_path / "home") as home:
        assert [str(owner) for owner in home.list_owners()] == ["agent:demo", "user:ann"]
    with pytest.raises(InvalidInput, match="names a host"):
        RecollectumSessionService(uri="recollectum://host/home")


@pytest.mark.process
def test_an_event_and_the_shared_state_that_it_changes_are_there_together_after_a_kill(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.adapters.adk.dying_program", str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert run.stdout.splitlines() == [f"{moment} True" for moment in MOMENTS], run.stderr
    for moment in MOMENTS:
        with Recollectum(tmp_path / moment, settings={"encryption": "off"}) as home:
            session = asyncio.run(_after_the_kill(RecollectumSessionService(home)))
        # Until the event is written nothing has happened; from then on all of it has.
        number = 1 if moment in ("noting", "writing") else 2
        assert len(session.events) == number, moment
        assert session.state == {"n": number, "user:n": number, "app:n": number}, moment


async def _after_the_kill(service: RecollectumSessionService) -> Session:
    """Return the session as it was found; then go on with it, and look that nothing old is applied again."""
    found = await service.get_session(**PLACE)
    assert found is not None
    kept = found.model_copy(deep=True)
    await service.create_session(app_name=APP, user_id="bob", state={"app:n": 7})
    (listed,) = (await service.list_sessions(app_name=APP, user_id="ann")).sessions
    assert listed.state["app:n"] == 7
    await service.append_event(found, event(3))
    assert await service.get_user_state(app_name=APP, user_id="ann") == {"n": 3}
    return kept
