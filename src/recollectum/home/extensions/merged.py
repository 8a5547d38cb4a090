"""Merges what enabled extensions bring below what the person and the project have; a changed one brings nothing."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from recollectum.domain.errors import InvalidInput, RecollectumError
from recollectum.domain.files.extension import ExtensionFile, McpServerEntry, MergedExtensions
from recollectum.domain.message import Json
from recollectum.domain.records import dataclass
from recollectum.home.extensions.contents import (
    HANDED,
    SETTINGS,
    ExtensionContents,
    changed_files,
    is_policy,
    read_contents,
)
from recollectum.home.extensions.manifest import GEMINI_NAME, MAX_BYTES, NAME, parse_manifest, read_object
from recollectum.home.extensions.register import FOLDER, Agreed, read_register, register_file
from recollectum.home.files import read_regular
from recollectum.home.paths import Home
from recollectum.home.project import ProjectFolder, overrides

_MANIFESTS = (NAME, GEMINI_NAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restrictions:
    """The rules that one extension brings, or why they cannot be had."""

    manifest: Path
    exclude_tools: tuple[str, ...] = ()
    #: Each policy file with its content, which is what was agreed to.
    policies: tuple[tuple[Path, bytes], ...] = ()
    problem: str = ""


def restrictions(home: Home, project: ProjectFolder | None) -> list[Restrictions]:
    """Return the rules of enabled extensions; what cannot be read may have denied something, and is reported."""
    try:
        agreed = read_register(home)
    except RecollectumError as error:
        return [Restrictions(manifest=register_file(home), problem=str(error))]
    found = (_restrictions(home, one) for one in agreed.values() if one.is_enabled(project))
    return [one for one in found if one.problem or one.exclude_tools or one.policies]


def _restrictions(home: Home, one: Agreed) -> Restrictions:
    folder = home.folder(FOLDER) / one.folder
    manifest = next(name for name in (*_MANIFESTS, "") if not name or name in one.files)
    place = folder / manifest
    try:
        tools = parse_manifest(agreed_bytes(folder, one, manifest), manifest).exclude_tools
        policies = tuple(
            (folder / name, agreed_bytes(folder, one, name)) for name in sorted(one.files) if is_policy(name)
        )
    except InvalidInput as error:
        return Restrictions(manifest=place, problem=str(error))
    return Restrictions(manifest=place, exclude_tools=tools, policies=policies)


def agreed_bytes(folder: Path, one: Agreed, name: str) -> bytes:
    """Return the content of a file, which is what was agreed to; raise when it differs."""
    try:
        data = read_regular(folder / name, MAX_BYTES)
    except OSError:
        data = b""
    if hashlib.sha256(data).hexdigest() != one.files.get(name):
        raise InvalidInput(
            f"{name or 'a file'} of the extension {one.name} is missing or changed since it was agreed to; look at it "
            f"with: recollectum extensions show {one.name}"
        )
    return data


def extension_settings(home: Home, project: ProjectFolder | None) -> list[tuple[Path, bytes]]:
    """Return the settings file of each enabled extension that has one, as it was agreed to."""
    try:
        agreed = read_register(home)
    except RecollectumError:
        # The policies and the doctor report it.
        return []
    found: list[tuple[Path, bytes]] = []
    for one in agreed.values():
        if SETTINGS in one.files and one.is_enabled(project):
            folder = home.folder(FOLDER) / one.folder
            try:
                found.append((folder / SETTINGS, agreed_bytes(folder, one, SETTINGS)))
            except InvalidInput:
                # It is listed as changed, and has no effect.
                continue
    return found


def merge_extensions(home: Home, project: ProjectFolder | None) -> MergedExtensions:
    """Return what agents get: the person's own first, then the extensions in the order of their names."""
    merging = _Merging(home, project)
    merging.take_own()
    for one in read_register(home).values():
        if one.is_enabled(project):
            merging.take(one)
    return MergedExtensions(
        servers=tuple(merging.servers.values()),
        files=tuple(merging.files.values()),
        conflicts=tuple(merging.conflicts),
        problems=tuple(merging.problems),
    )


class _Merging:
    def __init__(self, home: Home, project: ProjectFolder | None) -> None:
        self._home = home
        self._project = project
        self.servers: dict[str, McpServerEntry] = {}
        self.files: dict[tuple[str, str], ExtensionFile] = {}
        self.conflicts: list[str] = []
        self.problems: list[str] = []

    def take_own(self) -> None:
        """Take what the person and the project have themselves."""
        try:
            for name, config in own_servers(self._home).items():
                self.servers[name] = McpServerEntry(name=name, config=config)
        except InvalidInput as error:
            self.problems.append(str(error))
        for kind in HANDED:
            try:
                for name, path in overrides(self._home, self._project, kind).items():
                    self.files[kind, name] = ExtensionFile(kind=kind, name=name, path=str(path))
            except InvalidInput as error:
                self.problems.append(str(error))

    def take(self, one: Agreed) -> None:
        """Take what an extension brings, unless something of the same name is there."""
        folder = self._home.folder(FOLDER) / one.folder
        try:
            contents = read_contents(folder)
        except InvalidInput as error:
            self.problems.append(f"{one.name} brings nothing: {error}")
            return
        if changed := changed_files(folder, one.files):
            self.problems.append(f"{one.name} brings nothing, because {changed[0]} is not what was agreed to")
            return
        variables = tuple(setting.variable for setting in contents.manifest.settings)
        for name, config in contents.manifest.servers.items():
            if self._is_free(self.servers.get(name), "MCP server", name, one.name):
                filled = cast("Mapping[str, Json]", self._filled(dict(config), folder))
                self.servers[name] = McpServerEntry(name=name, config=filled, extension=one.name, variables=variables)
        for kind, name, path in _handed(contents, folder):
            if self._is_free(self.files.get((kind, name)), kind, name, one.name):
                self.files[kind, name] = ExtensionFile(kind=kind, name=name, path=str(path), extension=one.name)

    def _is_free(self, there: McpServerEntry | ExtensionFile | None, what: str, name: str, extension: str) -> bool:
        if there is None:
            return True
        other = f"the extension {there.extension} has" if there.extension else "you have"
        self.conflicts.append(f"{what} {name!r} of {extension} is left out, because {other} one of that name")
        return False

    def _filled(self, value: Json, folder: Path) -> Json:
        """Return a configuration with the variables of Gemini CLI in its texts resolved."""
        if isinstance(value, str):
            filled = value.replace("${extensionPath}", str(folder))
            filled = filled.replace("${/}", os.sep).replace("${pathSeparator}", os.sep)
            return filled.replace("${workspacePath}", str(self._project.root)) if self._project else filled
        if isinstance(value, list):
            return [self._filled(one, folder) for one in value]
        if isinstance(value, dict):
            return {name: self._filled(one, folder) for name, one in value.items()}
        return value


def _handed(contents: ExtensionContents, folder: Path) -> Iterator[tuple[str, str, Path]]:
    for kind in HANDED:
        yield from ((kind, name, folder / kind / name) for name in contents.entries(kind))
    # Each extension has its own text, so these do not replace one another.
    yield from (("context", f"{contents.manifest.name}/{name}", folder / name) for name in contents.context_files)


def own_servers(home: Home) -> dict[str, Mapping[str, Json]]:
    """Return the person's own MCP servers, by name."""
    try:
        document = read_object(read_regular(home.mcp_file, MAX_BYTES), str(home.mcp_file))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise InvalidInput(f"{home.mcp_file} cannot be read ({error.strerror}); correct its owner or mode") from None
    found: object = document.get("mcpServers", {})
    servers = cast("dict[str, object]", found) if isinstance(found, dict) else {"": None}
    if not all(isinstance(one, dict) for one in servers.values()):
        raise InvalidInput(f"{home.mcp_file}: mcpServers must be an object with an object for each server; correct it")
    return cast("dict[str, Mapping[str, Json]]", servers)
