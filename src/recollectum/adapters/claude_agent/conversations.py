"""Records the conversations of Claude Code under the key that an import gives them, so that none is there twice."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollectum.adapters.session_log import first_to_last
from recollectum.domain.session import SessionKey, name_agent
from recollectum.transfer.transcript_reader import TranscriptLineReader
from recollectum.vault.intake.new_message import NewMessage, hand_in

if TYPE_CHECKING:
    from recollectum.domain.message import Message
    from recollectum.domain.session import Session
    from recollectum.vault.vault import Vault

_FORM, _CHANNEL = "claude", "cli"


class Conversations:
    """What was said to Claude Code, by the ids that the program gives its conversations."""

    def __init__(self, vault: "Vault") -> None:
        self._vault = vault
        self._reader = TranscriptLineReader()

    def read(self, lines: Sequence[bytes]) -> "tuple[Message, ...]":
        """Return the messages of lines of a transcript; damaged lines have none."""
        return self._reader.read(_FORM, lines, None).messages

    def sessions(self, name: str) -> "list[Session]":
        """Return the sessions of a conversation, newest first: an idle one may have been ended and gone on."""
        keys = key_of(name).under_every_name()
        found = [one for key in keys for one in self._vault.sessions.list(key_prefix=str(key))]
        return sorted((one for one in found if one.key in keys), key=lambda one: one.id, reverse=True)

    def recorded(self, name: str) -> set[str]:
        """Return the ids of everything that is recorded of a conversation: a hook or an import may have done it."""
        chats = [self._vault.sessions.chat(one.id) for one in self.sessions(name)]
        return {one.native_id for chat in chats for one in first_to_last(chat) if one.native_id}

    def add(self, name: str, said: "Sequence[Message]") -> "list[Message]":
        """Record messages of a transcript and return them; those that are recorded already stay as they are."""
        return self.add_new(name, [hand_in(one) for one in said])

    def add_new(self, name: str, said: Sequence[NewMessage]) -> "list[Message]":
        """Record messages in one transaction."""
        if not said:
            return []
        found = self.sessions(name)
        chat = self._vault.sessions.chat(found[0].id) if found else self._vault.sessions.open_key(key_of(name))
        return chat.add_many(said)

    def delete(self, name: str) -> None:
        """Destroy what is recorded of a conversation."""
        for one in self.sessions(name):
            self._vault.sessions.delete(one.id)


def key_of(name: str) -> SessionKey:
    """Return the key of a conversation."""
    return SessionKey(agent=name_agent(_FORM), channel=_CHANNEL, topic=name)
