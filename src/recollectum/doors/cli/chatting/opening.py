"""What a chat stands on: the open home, the vault and the model, opened anew when a settings file changes."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from recollectum.domain.errors import KeyProblem
from recollectum.doors.cli.asking import on_terminal, secret
from recollectum.doors.cli.edge import Misuse
from recollectum.doors.cli.flags import Run
from recollectum.doors.cli.target import check_user, home_of, opened, opened_keys
from recollectum.home.keys.holders import PASSPHRASE_VARIABLE, HolderKind
from recollectum.home.project import find_project
from recollectum.settings.known import known, nearest
from recollectum.settings.load import SYSTEM_FOLDER, SYSTEM_VARIABLE

if TYPE_CHECKING:
    from recollectum.engine import Recollectum
    from recollectum.models.language import LanguageModel
    from recollectum.settings.model import Settings
    from recollectum.vault.vault import Vault

PROVIDER = "language_model.provider"
MODEL = "language_model.model"
#: What a local model needs beside the context: our instructions, the tools, and what they answer.
_ROOM = 700
_LEAST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An open home with one vault and one model."""

    recollectum: "Recollectum"
    vault: "Vault"
    model: "LanguageModel | None"
    closes: ExitStack

    @property
    def settings(self) -> "Settings":
        """The settings in force."""
        return self.recollectum.loaded.settings

    @property
    def tokens(self) -> int | None:
        """The budget of a context where the model's window is smaller than the settings' own; else None."""
        chosen = self.settings.language_model
        if chosen.provider != "local":
            return None
        left = max(_LEAST, chosen.window_tokens - chosen.max_output_tokens - _ROOM)
        return left if left < self.settings.context.tokens else None


def open_place(run: Run, agent: str) -> Place:
    """The home, the vault of the user in question, and the model that the settings ask for; nothing is loaded yet."""
    with ExitStack() as stack:
        recollectum = stack.enter_context(opened(run, create=True))
        vault = recollectum.vault(check_user(recollectum, run, create=True), agent=agent)
        # The same one that reads conversations and writes summaries: a local model is held in memory once.
        model = recollectum.language_model
        return Place(recollectum=recollectum, vault=vault, model=model, closes=stack.pop_all())


def with_model(run: Run, chosen: str | None) -> Run:
    """The run with the provider, or `PROVIDER/MODEL`, that the line asks for."""
    if chosen is None:
        return run
    provider, _, model = chosen.partition("/")
    allowed = known()[PROVIDER].spec.one_of
    if provider not in allowed:
        near = nearest(provider, allowed)
        raise Misuse(f"--model {provider!r} is not a provider; the nearest is {near!r}")
    variables = {known()[PROVIDER].variable: provider}
    if model:
        variables[known()[MODEL].variable] = model
    return replace(run, environ={**run.environ, **variables})


def with_passphrase(run: Run) -> Run:
    """The run with the passphrase in it, asked for once, so that opening the home again does not ask."""
    if run.environ.get(PASSPHRASE_VARIABLE) or not on_terminal() or not home_of(run).keys_file.exists():
        return run
    try:
        with opened_keys(run) as keys:
            asks = keys.holder().kind is HolderKind.PASSPHRASE
    except KeyProblem:
        # Whatever it is, opening the home says it.
        return run
    return replace(run, environ={**run.environ, PASSPHRASE_VARIABLE: secret("Passphrase")}) if asks else run


def settings_mark(run: Run) -> Mapping[Path, str]:
    """What every settings file holds now, as digests; another one means that one was changed, made or removed."""
    home = home_of(run)
    system = Path(run.environ.get(SYSTEM_VARIABLE) or SYSTEM_FOLDER)
    project = find_project(Path.cwd(), home)
    files = [home.settings_file, home.legacy_settings_file, system / "defaults.toml", system / "settings.toml"]
    return {file: _digest(file) for file in [*files, *([project.settings_file] if project else [])]}


def _digest(file: Path) -> str:
    try:
        return sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""
