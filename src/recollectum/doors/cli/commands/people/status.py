"""`recollectum status`: reports where the home is, what its vaults hold, and who holds the key."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.errors import InvalidInput, NotFound, RecollectumError
from recollectum.domain.memory import State
from recollectum.domain.records import dataclass
from recollectum.doors.cli.commands.forget.lifecycle import explain_held_clock
from recollectum.doors.cli.terminal.errors import FAILED
from recollectum.doors.cli.terminal.flags import Run, command, format_owner
from recollectum.doors.cli.terminal.output import answer, listing, moment, note
from recollectum.doors.cli.terminal.target import describe_key_holder, open_home, user_of
from recollectum.home.keys.holders import HolderKind, KeyHolder
from recollectum.home.paths import OVERRIDABLE
from recollectum.home.project import overrides

if TYPE_CHECKING:
    from recollectum.domain.access.owner import Owner
    from recollectum.domain.hit import IndexHealth
    from recollectum.engine import Recollectum
    from recollectum.home.paths import Home
    from recollectum.home.project import ProjectFolder
    from recollectum.policy.clock import ClockReading
    from recollectum.vault.vault import Vault


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultStatus:
    """What is known about one vault."""

    #: Its location, in words.
    file: str | None
    bytes: int
    memories: Mapping[State, int]
    sessions: int
    messages: int
    clock_held: bool
    clock_believed: datetime
    check: "IndexHealth | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectStatus:
    """What the current project adds to the home."""

    folder: Path
    #: Whether the person trusts it; else nothing in it takes effect.
    trusted: bool
    settings_file: Path | None
    #: Its additions by folder: policies, commands, skills, agents and extensions.
    overrides: Mapping[str, list[str]]
    #: What was found there but is not used, one sentence each.
    problems: list[str]


_UNTRUSTED = "it is not trusted, so nothing in it takes effect; look at it, then run: recollectum projects trust FOLDER"


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "status")(status)


def status(
    run: Run,
    *,
    check: Annotated[bool, typer.Option("--check", help="Also compare the index with its rows.")] = False,
) -> None:
    """Show where the home is, what the vault holds, who holds the key, and what the project adds."""
    with open_home(run) as recollectum:
        owner = user_of(recollectum, run)
        vault = _existing(recollectum, owner)
        reading = vault.admin.clock() if vault else None
        inside = _vault_status(recollectum, vault, reading, check=check) if vault and reading else None
        holder = recollectum.encryption().holder() if recollectum.caller.operator else None
        project = _project_status(recollectum)
        reserve = _size(recollectum.home.reserve_file)
        model = _embedding_model(recollectum)
        installed_as = _installation(recollectum)
        document = {
            "home": recollectum.home.root,
            "version": installed_version(),
            "installation": installed_as,
            "user": format_owner(owner),
            "vault": inside,
            "embedding_model": model,
            "encryption": holder,
            "project": project,
            "reserve_bytes": reserve,
        }
        home = [("home", recollectum.home.root), ("version", installed_version()), ("installation", installed_as)]
        home.append(("user", format_owner(owner)))
        meaning = ("search", describe_search(recollectum))
        lines = listing([*home, *_vault_lines(inside), meaning, *_home_lines(holder, project, reserve)])
    answer(run, document, lines)
    if reading and reading.held:
        note(explain_held_clock(reading))
    if inside and inside.check and not inside.check.sound:
        raise typer.Exit(FAILED)


def installed_version() -> str:
    """Return the version of this program."""
    # Reading a package's metadata takes longer than most commands.
    from importlib.metadata import version  # noqa: PLC0415

    return version("recollectum")


def _installation(recollectum: "Recollectum") -> str | None:
    """Return the id of this installation; None, with a remark, when its file cannot be read or made."""
    from recollectum.home.identity.installation import installation  # noqa: PLC0415 - `--help` need not load it

    try:
        return installation(recollectum.home).id
    except RecollectumError as error:
        note(str(error))
        return None


def _embedding_model(recollectum: "Recollectum") -> str | None:
    """Return the model that computes vectors, and its provider; None if only words are compared."""
    embedder = recollectum.embedder
    return f"{embedder.identity.model} ({embedder.identity.provider})" if embedder else None


def describe_search(recollectum: "Recollectum") -> str:
    """Return how recall searches, and how to get more where it compares words only."""
    # Imported here: `--help` need not load it.
    from recollectum.upkeep.doctor.model_checks import how_to_get_more  # noqa: PLC0415

    model = _embedding_model(recollectum)
    if model:
        return f"semantic, by {model}, and by words"
    match recollectum.settings.embedding.provider:
        case "none":
            return "words only, because embedding.provider is none"
        case "auto" if not recollectum.settings.embedding.model:
            return f"words only; {how_to_get_more()}"
        case _:
            return "words only, because the model of the settings cannot be opened; see: recollectum doctor"


def _existing(recollectum: "Recollectum", owner: "Owner") -> "Vault | None":
    try:
        return recollectum.vault(owner, create=False)
    except NotFound:
        return None


def _vault_status(recollectum: "Recollectum", vault: "Vault", reading: "ClockReading", *, check: bool) -> VaultStatus:
    place, totals = recollectum.vault_place(vault.owner), vault.admin.totals()
    return VaultStatus(
        file=place.words if place else None,
        bytes=place.bytes if place else 0,
        memories={state: totals.memories.get(state, 0) for state in State if state is not State.PURGED},
        sessions=totals.sessions,
        messages=totals.messages,
        clock_held=reading.held,
        clock_believed=reading.policy_now,
        check=vault.admin.index.verify() if check else None,
    )


def _project_status(recollectum: "Recollectum") -> ProjectStatus | None:
    loaded = recollectum.loaded_settings
    project = loaded.project or loaded.untrusted
    return project_status(recollectum.home, project, trusted=loaded.project is not None) if project else None


def project_status(home: "Home", project: "ProjectFolder", *, trusted: bool) -> ProjectStatus:
    """Return what the folder of a project adds to a home, or would add."""
    found: dict[str, list[str]] = {}
    problems = [] if trusted else [_UNTRUSTED]
    for folder in OVERRIDABLE:
        try:
            entries = overrides(home, project, folder)
        except InvalidInput as error:
            problems.append(str(error))
            continue
        # The home's own entries are in the list as well; the project's are inside its folder.
        found[folder] = sorted(name for name, path in entries.items() if path.is_relative_to(project.root))
    settings = project.settings_file if project.settings_file.exists() else None
    return ProjectStatus(
        folder=project.root, trusted=trusted, settings_file=settings, overrides=found, problems=problems
    )


def _vault_lines(inside: VaultStatus | None) -> list[tuple[str, object]]:
    if inside is None:
        return [("vault", "none yet; the first save creates it")]
    memories = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in inside.memories.items())
    held = f"in doubt; the time in use is {moment(inside.clock_believed)}" if inside.clock_held else None
    return [
        ("vault", inside.file),
        ("size", f"{inside.bytes / 1024:.0f} KiB"),
        ("memories", memories),
        ("sessions", f"{inside.sessions} with {inside.messages} messages"),
        ("clock", held),
        ("check", _sound(inside.check)),
    ]


def _sound(health: "IndexHealth | None") -> str | None:
    return health.words if health else None


def _home_lines(holder: KeyHolder | None, project: ProjectStatus | None, reserve: int) -> list[tuple[str, object]]:
    code = None
    if holder and holder.kind is not HolderKind.OFF:
        made = holder.recovery_code_made_at
        code = f"made on {moment(made)}" if made else "not made; make one with: recollectum encryption new-code"
    lines: list[tuple[str, object]] = [
        ("encryption", describe_key_holder(holder) if holder else None),
        ("recovery code", code),
        ("disk reserve", f"{reserve / 2**20:.0f} MiB" if reserve else "not held"),
        ("project", project.folder if project else "none"),
    ]
    if project:
        lines.append(("project settings", project.settings_file or "none"))
        lines += [(f"project {folder}", ", ".join(names)) for folder, names in project.overrides.items() if names]
        lines += [("project problem", problem) for problem in project.problems]
    return lines


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
