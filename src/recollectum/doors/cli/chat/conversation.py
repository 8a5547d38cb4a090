"""Holds one chat from its first line to its last, and reopens the home when a settings file changes."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from recollectum.domain.errors import KeyProblem, RecollectumError
from recollectum.domain.records import dataclass
from recollectum.domain.session import SessionKey
from recollectum.doors.cli.chat.agent import ChatAgent, ChatTurn, ReplySink
from recollectum.doors.cli.chat.terminal_io import Ask
from recollectum.doors.cli.chat.upkeep import ChatUpkeep
from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run
from recollectum.doors.cli.terminal.output import note
from recollectum.doors.cli.terminal.prompts import ask_secret, is_interactive
from recollectum.doors.cli.terminal.target import check_user, home_of, open_home, open_key_store
from recollectum.home.keys.holders import PASSPHRASE_VARIABLE, HolderKind
from recollectum.home.trusted_projects import find_trusted
from recollectum.settings.load import SYSTEM_FOLDER, SYSTEM_VARIABLE
from recollectum.settings.registry import all_settings, nearest
from recollectum.upkeep.presence import has_keys

if TYPE_CHECKING:
    from recollectum.engine import Recollectum
    from recollectum.models.language.port import LanguageModel
    from recollectum.settings.model import Settings
    from recollectum.vault.vault import Vault

PROVIDER = "language_model.provider"
MODEL = "language_model.model"
#: What a local model needs besides the context: our instructions, the tools, and their answers.
_ROOM = 700
_LEAST_TOKENS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatHome:
    """An open home with one vault and one model."""

    recollectum: "Recollectum"
    vault: "Vault"
    model: "LanguageModel | None"
    closes: ExitStack
    #: The model of the settings if it is too small to answer a person.
    too_small: str | None = None

    @property
    def settings(self) -> "Settings":
        """The effective settings."""
        return self.recollectum.settings

    @property
    def tokens(self) -> int | None:
        """The context budget if the model's window is smaller than that of the settings; else None."""
        chosen = self.settings.language_model
        if chosen.provider != "local":
            return None
        left = max(_LEAST_TOKENS, chosen.window_tokens - chosen.max_output_tokens - _ROOM)
        return left if left < self.settings.context.tokens else None


def open_chat_home(run: Run, agent: str) -> ChatHome:
    """Open the home, the user's vault and the model of the settings; no model is loaded yet."""
    with ExitStack() as stack:
        recollectum = stack.enter_context(open_home(run, create=True))
        vault = recollectum.vault(check_user(recollectum, run, create=True), agent=agent)
        # The model that also reads conversations and writes summaries: a local model is loaded only once.
        model = recollectum.language_model
        if model and model.identity.small and not recollectum.settings.language_model.model:
            # Nobody named it: it chooses among sentences well, and talks badly. Consolidation still uses it.
            return ChatHome(
                recollectum=recollectum, vault=vault, model=None, closes=stack.pop_all(), too_small=str(model.identity)
            )
        return ChatHome(recollectum=recollectum, vault=vault, model=model, closes=stack.pop_all())


def with_model(run: Run, chosen: str | None) -> Run:
    """Return the run with the provider, or `PROVIDER/MODEL`, from the command line."""
    if chosen is None:
        return run
    provider, _, model = chosen.partition("/")
    allowed = all_settings()[PROVIDER].spec.one_of
    if provider not in allowed:
        near = nearest(provider, allowed)
        raise Misuse(f"--model {provider!r} is not a provider; the nearest is {near!r}")
    variables = {all_settings()[PROVIDER].variable: provider}
    if model:
        variables[all_settings()[MODEL].variable] = model
    return replace(run, environ={**run.environ, **variables})


def with_passphrase(run: Run) -> Run:
    """Return the run with the passphrase, asked for once, so that reopening the home does not ask."""
    if run.environ.get(PASSPHRASE_VARIABLE) or not is_interactive() or not has_keys(home_of(run)):
        return run
    try:
        with open_key_store(run) as keys:
            asks = keys.holder().kind is HolderKind.PASSPHRASE
    except KeyProblem:
        # Opening the home reports the error.
        return run
    return replace(run, environ={**run.environ, PASSPHRASE_VARIABLE: ask_secret("Passphrase")}) if asks else run


def settings_digests(run: Run) -> Mapping[Path, str]:
    """Return a digest of every settings file, to detect that one was changed, created or removed."""
    home = home_of(run)
    system = Path(run.environ.get(SYSTEM_VARIABLE) or SYSTEM_FOLDER)
    project = find_trusted(Path.cwd(), home)
    files = [home.settings_file, home.legacy_settings_file, system / "defaults.toml", system / "settings.toml"]
    return {file: _digest(file) for file in [*files, *([project.settings_file] if project else [])]}


def _digest(file: Path) -> str:
    try:
        return sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


_NO_MODEL = (
    "no language model is set up, so answers come from memory and from what you say here (by: rules); "
    "to talk with one, such as Ollama's: recollectum settings set language_model.provider ollama"
)
_TOO_SMALL = (
    "{model} is too small to talk with, so answers come from memory and from what you say here (by: rules); "
    "name a larger GGUF file: recollectum settings set language_model.model FILE"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """The options of the command line."""

    agent: str
    channel: str
    session: str | None = None
    tokens: int | None = None


class Conversation:
    """One conversation in one terminal."""

    def __init__(self, run: Run, wanted: ChatOptions, show: ReplySink, ask: Ask) -> None:
        self.ask = ask
        self._run = run
        self._wanted = wanted
        self._show = show
        self._mark: Mapping[Path, str] = settings_digests(run)
        self._place = open_chat_home(run, wanted.agent)
        try:
            self.agent = self._agent(self._place, self._named_key())
        except BaseException:
            self._place.closes.close()
            raise
        self.upkeep = self._upkeep()
        if self._place.model is None:
            note(_TOO_SMALL.format(model=self._place.too_small) if self._place.too_small else _NO_MODEL)

    @property
    def vault(self) -> "Vault":
        """The person's vault."""
        return self._place.vault

    def start(self) -> None:
        """Start the sweep in the background."""
        self.upkeep.start()

    def turn(self, text: str) -> ChatTurn:
        """Run one turn and restart the idle timer, even if the model failed, because the message was recorded."""
        try:
            return self.agent.turn(text)
        finally:
            if self.agent.key is not None:
                self.upkeep.turn(self.agent.chat().id)

    def refresh(self) -> None:
        """Apply changed settings; an invalid file is reported once, and the old settings stay."""
        if (trouble := self.upkeep.take_trouble()) is not None:
            note(f"a conversation will be read later: {trouble}")
        mark = settings_digests(self._run)
        if mark == self._mark:
            return
        try:
            place = open_chat_home(self._run, self._wanted.agent)
        except RecollectumError as error:
            self._mark = mark
            note(f"the settings were changed and cannot be used, so the old ones stay in force: {error}")
            return
        if not self.upkeep.stop():
            # It continues with the settings it started with, and is done in the next turn or two.
            place.closes.close()
            note("the settings were changed; they take effect when the consolidation in the background is done")
            return
        self._mark, before, self._place = mark, self._place, place
        self.agent = self._agent(place, self.agent.key)
        self.upkeep = self._upkeep()
        self.upkeep.start()
        before.closes.close()
        note("the settings were changed and are in force; the conversation continues")

    def close(self) -> None:
        """Stop the sweep and close the home; the next sweep takes over an unfinished conversation."""
        if self.upkeep.stop():
            self._place.closes.close()

    def _named_key(self) -> SessionKey | None:
        return None if self._wanted.session is None else SessionKey.parse(self._wanted.session)

    def _agent(self, place: ChatHome, key: SessionKey | None) -> ChatAgent:
        named = place.settings.language_model.model or (place.model.identity.model if place.model else None)
        tokens = self._wanted.tokens or place.tokens
        wanted = self._wanted
        return ChatAgent(
            place.vault,
            place.model,
            self._show,
            key=key,
            begin=lambda: place.vault.sessions.open(channel=wanted.channel, agent=wanted.agent),
            tokens=tokens,
            counted_as=named,
            told=note,
        )

    def _upkeep(self) -> ChatUpkeep:
        return ChatUpkeep(self._place.vault, self._place.settings.consolidation.idle_minutes)
