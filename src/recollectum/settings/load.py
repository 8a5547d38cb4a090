"""Merges all scopes into one validated Settings value that records the origin of each setting."""

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from pathlib import Path
from types import MappingProxyType

from recollectum.domain.errors import InvalidInput, SettingsError
from recollectum.domain.records import dataclass
from recollectum.home.extensions.register import register_file
from recollectum.home.paths import Home
from recollectum.home.project import ProjectFolder, find_project
from recollectum.home.trusted_projects import is_trusted
from recollectum.settings.check import (
    Layer,
    SettingOrigin,
    SettingsScope,
    check_environment,
    check_overrides,
    check_tree,
)
from recollectum.settings.model import Settings
from recollectum.settings.read import parse_toml, read_toml
from recollectum.settings.registry import all_settings
from recollectum.settings.spec import Value


def build(values: Mapping[str, Value]) -> Settings:
    """Return the default settings with these values in their place; the values must have been checked."""
    top: dict[str, object] = {}
    sections: dict[str, dict[str, Value]] = {}
    for key, value in values.items():
        section, _, name = key.rpartition(".")
        if section:
            sections.setdefault(section, {})[name] = value
        else:
            top[name] = value
    settings = Settings()
    for section, inner in sections.items():
        top[section] = replace(getattr(settings, section), **inner)
    return replace(settings, **top)


SYSTEM_FOLDER = Path("/etc/recollectum")
SYSTEM_VARIABLE = "RECOLLECTUM_SYSTEM_DIR"
#: A value by dotted key, with its origin.
Values = Mapping[str, tuple[Value, SettingOrigin]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSettings:
    """The settings in force, and the origin of each."""

    settings: Settings
    #: By dotted key; a setting that nobody set comes from `built-in`.
    origins: Mapping[str, SettingOrigin]
    #: The project whose folder adds to the home; None outside a project, and in one that the person does not trust.
    project: ProjectFolder | None
    #: The project of the working directory, if the person does not trust it: nothing in it takes effect.
    untrusted: ProjectFolder | None = None


def load(
    home: Home,
    *,
    cwd: Path,
    environ: Mapping[str, str],
    overrides: Mapping[str, object] = MappingProxyType({}),
    system: Path = SYSTEM_FOLDER,
) -> LoadedSettings:
    """Merge all scopes, or raise one error with every problem of every scope, a line each."""
    problems: list[str] = []
    found = find_project(cwd, home)
    project = found if found and is_trusted(home, found) else None
    folder = _system_folder(environ, system, problems)
    layers = [
        *_extension_layers(home, project),
        _file_layer(SettingsScope.SYSTEM_DEFAULTS, folder / "defaults.toml", environ, problems),
        _user_layer(home, environ, problems),
        _project_layer(project, environ, problems),
        _file_layer(SettingsScope.SYSTEM, folder / "settings.toml", environ, problems),
        check_environment(environ),
        check_overrides(overrides),
    ]
    problems += [problem for layer in layers if layer for problem in layer.problems]
    if problems:
        raise SettingsError("\n".join(problems))
    merged = reduce(merge, (with_origins(layer) for layer in layers if layer), _built_in())
    settings = build({key: value for key, (value, _) in merged.items()})
    origins = {key: origin for key, (_, origin) in merged.items()}
    return LoadedSettings(settings=settings, origins=origins, project=project, untrusted=None if project else found)


def merge(lower: Values, higher: Values) -> Values:
    """Return both layers merged; the higher scope wins. Merging is associative, so the scopes form a chain."""
    return {**lower, **higher}


def with_origins(layer: Layer) -> Values:
    """Return the values of a layer, each with its origin: for the environment, each has its own variable."""
    if layer.origin.scope is SettingsScope.ENVIRONMENT:
        scope = SettingsScope.ENVIRONMENT
        return {key: (value, SettingOrigin(scope, all_settings()[key].variable)) for key, value in layer.values.items()}
    return {key: (value, layer.origin) for key, value in layer.values.items()}


def _built_in() -> Values:
    return {key: (setting.default, SettingOrigin(SettingsScope.BUILT_IN)) for key, setting in all_settings().items()}


def _system_folder(environ: Mapping[str, str], system: Path, problems: list[str]) -> Path:
    named = environ.get(SYSTEM_VARIABLE, "")
    if named and not Path(named).is_absolute():
        problems.append(f"the variable {SYSTEM_VARIABLE} is {named!r}; write an absolute path")
    return Path(named) if named else system


def _file_layer(scope: SettingsScope, path: Path, environ: Mapping[str, str], problems: list[str]) -> Layer | None:
    try:
        tree = read_toml(path)
    except SettingsError as error:
        problems.append(str(error))
        return None
    return None if tree is None else check_tree(tree, SettingOrigin(scope, str(path)), environ)


def _extension_layers(home: Home, project: ProjectFolder | None) -> list[Layer]:
    """Return the settings of enabled extensions; one with a problem has no effect, and is listed with its extension."""
    if not register_file(home).exists():
        return []
    from recollectum.home.extensions.merged import extension_settings  # noqa: PLC0415 - most homes have no extension

    layers = (check_extension_settings(data, str(path)) for path, data in extension_settings(home, project))
    return [layer for layer in layers if not layer.problems]


def check_extension_settings(data: bytes, file: str) -> Layer:
    """Return the settings in some bytes of an extension, with their problems."""
    origin = SettingOrigin(SettingsScope.EXTENSION, file)
    try:
        return check_tree(parse_toml(data.decode("utf-8-sig"), Path(file)), origin, None)
    except UnicodeDecodeError:
        return Layer(origin, problems=[f"{file} is not UTF-8; save the file in that encoding"])
    except SettingsError as error:
        return Layer(origin, problems=[str(error)])


def _project_layer(project: ProjectFolder | None, environ: Mapping[str, str], problems: list[str]) -> Layer | None:
    if project is None:
        return None
    try:
        path = project.check_inside(project.settings_file)
    except InvalidInput as error:
        problems.append(str(error))
        return None
    return _file_layer(SettingsScope.WORKSPACE, path, environ, problems)


def _user_layer(home: Home, environ: Mapping[str, str], problems: list[str]) -> Layer | None:
    """Return settings.toml, or the old settings.json if there is none; if both exist, they must not disagree."""
    from recollectum.settings.legacy import read_legacy  # noqa: PLC0415 - for old files only; importing us stays quick

    try:
        legacy = read_legacy(home.legacy_settings_file)
        tree = read_toml(home.settings_file)
    except SettingsError as error:
        problems.append(str(error))
        return None
    if tree is None:
        return legacy.check(environ) if legacy else None
    if legacy and (keys := legacy.differences(tree)):
        problems.append(disagreement(home, keys))
    return check_tree(tree, SettingOrigin(SettingsScope.USER, str(home.settings_file)), environ)


def disagreement(home: Home, keys: list[str]) -> str:
    """Return the sentence about two files of one home with different settings."""
    return (
        f"{home.legacy_settings_file} and {home.settings_file} disagree about {', '.join(keys)}; "
        f"write what you want into settings.toml and remove settings.json"
    )
