"""A talk: one chat from its first line to its last, which outlives the settings it began with."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recollectum.domain.errors import RecollectumError
from recollectum.doors.cli.chatting.agent import Agent, Answered, Show
from recollectum.doors.cli.chatting.lines import Ask
from recollectum.doors.cli.chatting.opening import Place, open_place, settings_mark
from recollectum.doors.cli.chatting.upkeep import Upkeep
from recollectum.doors.cli.flags import Run
from recollectum.doors.cli.output import note

if TYPE_CHECKING:
    from recollectum.domain.session import SessionKey
    from recollectum.vault.vault import Vault

_NO_MODEL = "no language model is set up, so the answers are what memory holds (by: rules); see: recollectum settings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the line asked for."""

    agent: str
    channel: str
    session: str | None = None
    tokens: int | None = None


class Talk:
    """One conversation at one terminal."""

    def __init__(self, run: Run, wanted: Wanted, show: Show, ask: Ask) -> None:
        self.ask = ask
        self._run = run
        self._wanted = wanted
        self._show = show
        self._mark: Mapping[Path, str] = settings_mark(run)
        self._place = open_place(run, wanted.agent)
        try:
            self.agent = self._agent(self._place, self._key())
        except BaseException:
            self._place.closes.close()
            raise
        self.upkeep = self._upkeep()
        if self._place.model is None:
            note(_NO_MODEL)

    @property
    def vault(self) -> "Vault":
        """The vault of the person who talks."""
        return self._place.vault

    def start(self) -> None:
        """Begin to sweep, beside the chat."""
        self.upkeep.start()

    def turn(self, text: str) -> Answered:
        """One whole turn, after which the idle timer runs anew; also where the model failed, for something was said."""
        try:
            return self.agent.turn(text)
        finally:
            self.upkeep.turn(self.agent.chat().id)

    def refresh(self) -> None:
        """Take over settings that were changed; a file that cannot be used is told once, and the old ones stay."""
        if (trouble := self.upkeep.take_trouble()) is not None:
            note(f"a conversation will be read later: {trouble}")
        mark = settings_mark(self._run)
        if mark == self._mark:
            return
        try:
            place = open_place(self._run, self._wanted.agent)
        except RecollectumError as error:
            self._mark = mark
            note(f"the settings were changed and cannot be used, so the old ones stay: {error}")
            return
        if not self.upkeep.stop():
            # It reads with what it began with, and is done at the next turn or the one after.
            place.closes.close()
            note("the settings were changed; they are taken over once the reading beside the chat is done")
            return
        self._mark, before, self._place = mark, self._place, place
        self.agent = self._agent(place, self.agent.key)
        self.upkeep = self._upkeep()
        self.upkeep.start()
        before.closes.close()
        note("the settings were changed and are in force; the conversation goes on")

    def close(self) -> None:
        """End the sweep and close the home; what is still being read is taken over by the next sweep."""
        if self.upkeep.stop():
            self._place.closes.close()

    def _key(self) -> "SessionKey":
        sessions, wanted = self._place.vault.sessions, self._wanted
        if wanted.session is not None:
            return sessions.open_key(wanted.session).key
        return sessions.open(channel=wanted.channel, agent=wanted.agent).key

    def _agent(self, place: Place, key: "SessionKey") -> Agent:
        named = place.settings.language_model.model or (place.model.identity.model if place.model else None)
        tokens = self._wanted.tokens or place.tokens
        return Agent(place.vault, place.model, self._show, key=key, tokens=tokens, counted_as=named, told=note)

    def _upkeep(self) -> Upkeep:
        return Upkeep(self._place.vault, self._place.settings.consolidation.idle_minutes)
