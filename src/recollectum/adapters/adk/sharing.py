"""Makes a record of a session and the changes of shared state that come with it one step, also across a crash.

A session and the state of its user are in one vault, and the state of the app is in another; no transaction spans them.
So a change is noted in the user's vault before the record, and applied after it. When the process ends in between, the
next one that reads the user's state finds the note: if the record is there, the change is applied, once.
"""

from typing import TYPE_CHECKING

from recollectum.adapters.adk.state_log import Intent, SharedState, SpokenText, add_record, read_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollectum.adapters.adk.homes import ServiceHome
    from recollectum.adapters.session_log import SessionLog
    from recollectum.domain.message import Json
    from recollectum.vault.sessions.chat import Chat

_STAMP = "stamp"
_SILENT = SpokenText("info", "")


class Sharing:
    """The shared states of one user of one app, and the changes between them."""

    def __init__(self, home: "ServiceHome", app_name: str, user_id: str) -> None:
        self.app = SharedState(home.app(app_name), app_name)
        self.user = SharedState(home.user(user_id), app_name)

    def add(self, chat: "Chat", intent: Intent, record: "Mapping[str, Json]", said: SpokenText = _SILENT) -> bool:
        """Append a record with its changes; return False, without them, when something else was appended first."""
        if not (intent.of_app or intent.of_user):
            return add_record(chat, intent.after, record, said)
        self.user.note(intent)
        if not add_record(chat, intent.after, {**record, _STAMP: intent.stamp}, said):
            self.user.drop(intent.stamp)
            return False
        self._apply(intent)
        return True

    def recover(self, log: "SessionLog") -> None:
        """Apply the changes whose records are there; forget those whose records never came."""
        for intent in self.user.intents():
            chat = log.find(intent.session_id)
            after = str(intent.after) if intent.after else None
            record = next(iter(chat.transcript(cursor=after, limit=1)), None) if chat else None
            if record and (read_record(record) or {}).get(_STAMP) == intent.stamp:
                self._apply(intent)
            elif chat is None or record:
                self.user.drop(intent.stamp)

    def _apply(self, intent: Intent) -> None:
        if intent.of_app:
            self.app.apply(intent.stamp, intent.of_app)
        # Last: as long as the user's state has the note, the change is not complete.
        self.user.apply(intent.stamp, intent.of_user)
