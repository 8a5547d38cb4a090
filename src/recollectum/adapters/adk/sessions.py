"""Keeps the sessions of the Agent Development Kit in the vaults of their users."""

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from google.adk.errors._stale_session_error import StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events import Event
from google.adk.platform import time as adk_time
from google.adk.platform import uuid as adk_uuid
from google.adk.sessions import BaseSessionService, Session
from google.adk.sessions.base_session_service import GetSessionConfig, ListSessionsResponse
from google.adk.sessions.state import State as Prefixes
from pydantic_core import to_jsonable_python

from recollectum.adapters.adk.events import event_text, pack_event
from recollectum.adapters.adk.homes import ServiceHome
from recollectum.adapters.adk.sharing import Sharing
from recollectum.adapters.adk.state_log import Intent, SpokenText, State, last_state, new_stamp, read_record
from recollectum.adapters.session_log import SessionLog, first_to_last, last_to_first

if TYPE_CHECKING:
    from recollectum.domain.message import Json
    from recollectum.engine import Recollectum
    from recollectum.vault.sessions.chat import Chat

CHANNEL = "adk"


class RecollectumSessionService(BaseSessionService):
    """ADK's session service on vaults: each user's sessions are in the vault of that user, and recall finds them.

    A stale write is refused, as by ADK's SQLite service. Pass an open home, or a URI, as `services.yaml` does.
    """

    def __init__(self, home: "Recollectum | None" = None, *, uri: str | None = None, **_: object) -> None:
        self._home = ServiceHome(home, uri)

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """Create a session; one that exists is refused."""
        wanted = (session_id or "").strip() or adk_uuid.new_uuid()
        return await asyncio.to_thread(self._create, app_name, user_id, wanted, _jsonable(state or {}))

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """Return a session with its events, or those that the config asks for; None when there is none."""
        return await asyncio.to_thread(self._get, app_name, user_id, session_id.strip(), config)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """Return the sessions of a user, or of all users, without events; the last updated one is last."""
        users = [user_id] if user_id is not None else await asyncio.to_thread(self._home.users)
        listed = [one for user in users for one in await asyncio.to_thread(self._list, app_name, user)]
        listed.sort(key=lambda one: (one.last_update_time, one.user_id, one.id))
        return ListSessionsResponse(sessions=listed)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Destroy a session; nothing happens when there is none."""
        await asyncio.to_thread(self._delete, app_name, user_id, session_id.strip())

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return what all sessions of a user share, by keys without their prefix."""
        return (await asyncio.to_thread(self._shared, app_name, user_id))[1]

    async def append_event(self, session: Session, event: Event) -> Event:
        """Append an event; raise StaleSessionError when the session changed since it was read."""
        if event.partial:
            return event
        self._apply_temp_state(session, event)
        event = self._trim_temp_delta_state(event)
        await asyncio.to_thread(self._append, session, event)
        session.last_update_time = event.timestamp
        return self._commit_event_to_session(session, event)

    async def close(self) -> None:
        """Close the home, if this service opened it."""
        await asyncio.to_thread(self._home.close)

    def _log(self, app_name: str, user_id: str) -> SessionLog:
        return SessionLog(self._home.user(user_id), app_name, CHANNEL)

    def _shared(self, app_name: str, user_id: str) -> tuple[State, State]:
        """Return the state of an app and of a user, with changes that a crash kept from them."""
        sharing = Sharing(self._home, app_name, user_id)
        sharing.recover(self._log(app_name, user_id))
        return sharing.app.load(), sharing.user.load()

    def _delete(self, app_name: str, user_id: str, session_id: str) -> None:
        log = self._log(app_name, user_id)
        # What the events of the session changed stays.
        Sharing(self._home, app_name, user_id).recover(log)
        log.delete(session_id)

    def _create(self, app_name: str, user_id: str, session_id: str, state: State) -> Session:
        of_app, of_user, own = _split(state)
        now = adk_time.get_time()
        log = self._log(app_name, user_id)
        first: State = {"id": session_id, "updated": now, "state": own}
        intent = Intent(new_stamp(), session_id, 0, of_app, of_user)
        sharing = Sharing(self._home, app_name, user_id)
        if log.find(session_id) or not sharing.add(log.open(session_id, title=session_id), intent, first):
            raise AlreadyExistsError(f"Session with id {session_id} already exists.")
        return _session(app_name, user_id, session_id, _merged(*self._shared(app_name, user_id), own), now)

    def _get(self, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None) -> Session | None:
        chat = self._log(app_name, user_id).find(session_id)
        if chat is None:
            return None
        found = self._loaded(chat, app_name, user_id)
        if found is None:
            return None
        records = (read_record(message) or {} for message in first_to_last(chat))
        events = [Event.model_validate(record["event"]) for record in records if "event" in record]
        found.events = _wanted(events, config)
        return found

    def _list(self, app_name: str, user_id: str) -> list[Session]:
        log = self._log(app_name, user_id)
        found = (self._loaded(log.chat(one), app_name, user_id) for one in log.list())
        return [one for one in found if one is not None]

    def _loaded(self, chat: "Chat", app_name: str, user_id: str) -> Session | None:
        """Return a session without its events; None when its first record is not written yet."""
        last = _last_record(chat)
        if last is None:
            return None
        merged = _merged(*self._shared(app_name, user_id), last_state(chat))
        return _session(app_name, user_id, str(last["id"]), merged, float(cast("float", last["updated"])))

    def _append(self, session: Session, event: Event) -> None:
        chat = self._log(session.app_name, session.user_id).find(session.id)
        after = chat.info().message_count if chat else 0
        last = _last_record(chat) if chat else None
        if chat is None or last is None:
            raise SessionNotFoundError(f"Session {session.id} not found.")
        of_app, of_user, own = _split(_jsonable(event.actions.state_delta))
        record: dict[str, Json] = {"id": session.id, "updated": event.timestamp, "event": pack_event(event)}
        if own:
            record["state"] = {**last_state(chat), **own}
        overtaken = cast("float", last["updated"]) > session.last_update_time
        intent = Intent(new_stamp(), session.id, after, of_app, of_user)
        sharing = Sharing(self._home, session.app_name, session.user_id)
        if overtaken or not sharing.add(chat, intent, record, _said(event)):
            raise StaleSessionError(
                "The last_update_time provided in the session object is earlier than the update_time in storage."
                " Please check if it is a stale session."
            )


def _last_record(chat: "Chat") -> "dict[str, Json] | None":
    return next((record for one in last_to_first(chat) if (record := read_record(one))), None)


def _said(event: Event) -> SpokenText:
    role, text = event_text(event)
    speaker = None if event.author in ("user", "") else event.author
    return SpokenText(role, text, speaker, datetime.fromtimestamp(event.timestamp, UTC))


def _wanted(events: list[Event], config: GetSessionConfig | None) -> list[Event]:
    """Return the events that a config asks for, by their time; those of one time in the order in which they came."""
    ordered = sorted(events, key=lambda event: event.timestamp)
    if config and config.after_timestamp:
        ordered = [event for event in ordered if event.timestamp >= config.after_timestamp]
    if config and config.num_recent_events is not None:
        return ordered[-config.num_recent_events :] if config.num_recent_events else []
    return ordered


def _session(app_name: str, user_id: str, session_id: str, state: State, updated: float) -> Session:
    return Session(app_name=app_name, user_id=user_id, id=session_id, state=state, events=[], last_update_time=updated)


def _jsonable(state: dict[str, Any]) -> State:
    """Return a state as JSON; what is not JSON becomes its text."""
    return cast("State", to_jsonable_python(state, fallback=str))


def _split(state: State) -> tuple[State, State, State]:
    """Return what belongs to the app, to the user and to the session; what is temporary belongs to none."""
    parts: tuple[State, State, State] = ({}, {}, {})
    for name, value in state.items():
        if name.startswith(Prefixes.APP_PREFIX):
            parts[0][name.removeprefix(Prefixes.APP_PREFIX)] = value
        elif name.startswith(Prefixes.USER_PREFIX):
            parts[1][name.removeprefix(Prefixes.USER_PREFIX)] = value
        elif not name.startswith(Prefixes.TEMP_PREFIX):
            parts[2][name] = value
    return parts


def _merged(of_app: State, of_user: State, own: State) -> State:
    prefixed = {Prefixes.APP_PREFIX + name: value for name, value in of_app.items()}
    return {**own, **prefixed, **{Prefixes.USER_PREFIX + name: value for name, value in of_user.items()}}
