"""Keeps the records of a framework's conversations: each conversation is one session, and each record one message."""

import asyncio
import builtins
from collections import OrderedDict
from collections.abc import Awaitable, Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, TypeVar

from recollectum.domain.errors import Conflict, NotFound
from recollectum.domain.page import every
from recollectum.domain.session import SessionKey
from recollectum.vault.intake.draft import MAX_PAGE

if TYPE_CHECKING:
    from recollectum.domain.message import Message
    from recollectum.domain.session import Session
    from recollectum.vault.intake.new_message import NewMessage
    from recollectum.vault.sessions.chat import Chat
    from recollectum.vault.vault import Vault

_T = TypeVar("_T")
_PAGE = 200
#: Pages grow by this factor.
_GROWTH = 5
_MOST_WRITTEN = 100


class SessionLog:
    """The conversations that one agent has in one vault, by their names in the framework."""

    def __init__(self, vault: "Vault", agent: str, channel: str) -> None:
        self._vault = vault
        self._agent = agent
        self._channel = channel
        #: The sessions that were written to last, so that not every record looks for its session first.
        self._written: OrderedDict[str, Chat] = OrderedDict()

    def add(
        self, name: str, said: "builtins.list[NewMessage]", *, title: str | None = None, anew: bool = False
    ) -> None:
        """Add records to the session of that name, in one transaction; it is started when there is none.

        The last one that was written to is used without a look, unless `anew`. Where `replace` has replaced it since,
        `delete_chat` does not delete it with what was added.
        """
        chat = None if anew else self._written.pop(name, None)
        if chat is not None:
            try:
                chat.add_many(said)
            except NotFound:
                # It was deleted meanwhile, here or by another process.
                chat = None
        while chat is None:
            chat = self.open(name, title=title)
            try:
                chat.add_many(said)
            except NotFound:
                # It was replaced since it was found.
                chat = None
        self._written[name] = chat
        while len(self._written) > _MOST_WRITTEN:
            self._written.popitem(last=False)

    def open(self, name: str, *, title: str | None = None) -> "Chat":
        """Return the session of that name; it is started when there is none, with a title for people."""
        # Also one that was ended, as idle conversations may be: the framework goes on with it.
        chat = self.find(name) or self._vault.sessions.open_key(self._key(name))
        if title and chat.info().title is None:
            chat.describe(title=title)
        return chat

    def has(self, name: str) -> bool:
        """Return whether there is a session of that name."""
        return bool(self._vault.sessions.list(key_prefix=str(self._key(name)), limit=1))

    def find(self, name: str) -> "Chat | None":
        """Return the session of that name, or None."""
        found = self._vault.sessions.list(key_prefix=str(self._key(name)), limit=1)
        return self._vault.sessions.chat(found[0].id) if found else None

    def every(self, name: str) -> "builtins.list[Chat]":
        """Return all sessions of that name, oldest first; there are several while one replaces another."""
        sessions = self._vault.sessions
        while True:
            listed = sessions.list(key_prefix=str(self._key(name)), limit=MAX_PAGE)
            try:
                return [sessions.chat(one.id) for one in reversed(listed)]
            except NotFound:
                # One was taken away since they were listed. What it held may be in one that is not in the list.
                continue

    def ids(self, name: str) -> set[str]:
        """Return the ids of all sessions of that name."""
        return {one.id for one in self._vault.sessions.list(key_prefix=str(self._key(name)), limit=MAX_PAGE)}

    def replace(self, name: str) -> "Chat":
        """Return a new session of that name; those before it are ended."""
        for one in self.every(name):
            one.end()
        return self._vault.sessions.open_key(self._key(name))

    def list(self) -> "Iterator[Session]":
        """Return all sessions, newest first."""
        prefix = str(self._key(""))[: -len(_topic(""))]
        sessions = self._vault.sessions
        return every(lambda cursor: sessions.list(key_prefix=prefix, cursor=cursor, limit=MAX_PAGE))

    def chat(self, session: "Session") -> "Chat":
        """Return a session as a chat."""
        return self._vault.sessions.chat(session.id)

    def delete(self, name: str) -> bool:
        """Destroy a session with all its messages; return whether there was one."""
        chats = self.every(name)
        for chat in chats:
            self._vault.sessions.delete(chat.id)
        return bool(chats)

    def delete_chat(self, chat: "Chat", message_count: int) -> bool:
        """Destroy one session if it has so many messages; return False when another one was added."""
        try:
            self._vault.sessions.delete(chat.id, message_count=message_count)
        except Conflict:
            return False
        except NotFound:
            # Another process was faster.
            return True
        return True

    def _key(self, name: str) -> SessionKey:
        return SessionKey(agent=self._agent, channel=self._channel, topic=_topic(name))


def first_to_last(chat: "Chat") -> "Iterator[Message]":
    """Return the messages of a session in order."""
    return every(lambda cursor: chat.transcript(cursor=cursor, limit=_PAGE))


def last_to_first(chat: "Chat", first: int = _PAGE) -> "Iterator[Message]":
    """Return the messages of a session, the last one first; `first` are read at once, and then larger pages."""
    size = min(first, _PAGE)
    page = chat.messages(limit=size)
    while True:
        yield from reversed(page)
        if page.next is None:
            return
        size = min(_GROWTH * size, _PAGE)
        page = chat.messages(cursor=page.next, limit=size)


async def finished(change: Awaitable[_T]) -> _T:
    """Wait until a change is done, also when the waiting task is cancelled; it is cancelled afterwards."""
    task = asyncio.ensure_future(change)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = cancelled or error
    if cancelled:
        raise cancelled
    return task.result()


def _topic(name: str) -> str:
    # A digest: a conversation may have any name, and no key is the beginning of another.
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
