"""Lists, installs, switches, updates and removes extensions of a home, and merges what they bring."""

import builtins
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import InvalidInput
from recollectum.domain.files.extension import (
    Extension,
    ExtensionPreview,
    ExtensionState,
    McpServerEntry,
    MergedExtensions,
)
from recollectum.domain.ids import Clock
from recollectum.domain.message import Json
from recollectum.home.extensions import installation
from recollectum.home.extensions.contents import ExtensionContents, changed_files, read_contents
from recollectum.home.extensions.installation import Agreement, is_left_over, not_installed, staged
from recollectum.home.extensions.merged import merge_extensions
from recollectum.home.extensions.register import FOLDER, Agreed, read_register, register_lock
from recollectum.home.paths import Home
from recollectum.home.project import ProjectFolder, overrides
from recollectum.policy.actions import Action
from recollectum.vault.extensions.abilities import describe_abilities
from recollectum.vault.gate import Gate, operation

#: What an entry of the person shows to others; arguments and addresses may hold tokens.
_PLAIN = ("command", "type", "description", "timeout", "includeTools", "excludeTools")


class Extensions:
    """The extensions of a home; a key with admin sees them, and only the process owner changes them."""

    def __init__(self, home: Home, project: ProjectFolder | None, gate: Gate, clock: Clock) -> None:
        self._home = home
        self._project = project
        self._gate = gate
        self._clock = clock

    @property
    def gate(self) -> Gate:
        """The gate that checks every operation."""
        return self._gate

    @operation(Action.EXTENSION_READ, Scope.USER)
    def list(self) -> builtins.list[Extension]:
        """Return every extension of the home and of the project with its state, by name; a broken one is among them."""
        return self._listed()

    @operation(Action.EXTENSION_READ, Scope.USER)
    def get(self, name: str) -> Extension:
        """Return the extension with that name."""
        found = [one for one in self._listed() if one.name == name]
        if not found:
            raise not_installed(name)
        # An installed one comes before a folder of the same name that nobody agreed to.
        return min(found, key=lambda one: one.state is ExtensionState.UNTRUSTED)

    @operation(Action.EXTENSION_READ, Scope.USER)
    def merged(self) -> MergedExtensions:
        """Return the MCP servers and files for agents: the person's own first, then those of enabled extensions.

        What may be a secret in the person's own servers is for the process owner alone.
        """
        found = merge_extensions(self._home, self._project)
        if self._gate.caller.operator:
            return found
        return replace(found, servers=tuple(_without_values(one) for one in found.servers))

    @operation(Action.EXTENSION_WRITE, Scope.GLOBAL)
    def preview(self, source: str | Path) -> ExtensionPreview:
        """Return what a folder or archive would bring, and what it may do; nothing is changed."""
        path = _place(source)
        with register_lock(self._home), staged(self._home, path) as (root, contents):
            return self._preview(root, contents, str(path.absolute()))

    @operation(Action.EXTENSION_WRITE, Scope.GLOBAL)
    def preview_trust(self, name: str) -> ExtensionPreview:
        """Return what a folder of the home brings that was copied there by hand, or changed since it was agreed to."""
        folder = self._folder_of(name)
        return self._preview(folder, read_contents(folder), str(folder))

    @operation(Action.EXTENSION_WRITE, Scope.GLOBAL)
    def install(self, source: str | Path, token: str) -> Extension:
        """Install what the preview with this token showed; a kill leaves it installed or not, and nothing between."""
        made = installation.install(self._home, _place(source), self._agreement(token))
        return self._examined(made)

    @operation(Action.EXTENSION_WRITE, Scope.GLOBAL)
    def trust(self, name: str, token: str) -> Extension:
        """Agree to the files of an extension as the preview with this token showed them."""
        made = installation.trust(self._home, self._folder_of(name).name, self._agreement(token))
        return self._examined(made)

    @operation(Action.EXTENSION_WRITE, Scope.GLOBAL)
    def update(self, name: str, token: str, *, source: str | Path | None = None, downgrade: bool = False) -> Extension:
        """Replace an extension by what the preview with this token showed; its switches stay as they are."""
        path = _place(source) if source is not None else self._source_of(name)
        made = installation.update(self._home, name, path, self._agreement(token), downgrade=downgrade)
        return self._examined(made)

    @operation(Action.EXTENSION_WRITE, Scope.GLOBAL)
    def switch(self, name: str, *, enabled: bool, in_project: bool = False) -> Extension:
        """Enable or disable an extension, everywhere or in the current project."""
        if in_project and self._project is None:
            raise InvalidInput(
                "there is no project here that you trust; trust its folder with `recollectum projects trust FOLDER`, "
                "or leave the project out"
            )
        key = self._project.id if self._project and in_project else None
        return self._examined(installation.switch(self._home, name, key, enabled=enabled))

    @operation(Action.EXTENSION_WRITE, Scope.GLOBAL)
    def delete(self, name: str) -> Extension:
        """Uninstall an extension with its files; the folder or archive that it came from stays."""
        before = self._examined(self._agreed(name))
        installation.uninstall(self._home, name)
        return before

    @operation(Action.EXTENSION_WRITE, Scope.GLOBAL)
    def source_of(self, name: str) -> Path:
        """Return the folder or archive that an extension was installed from."""
        return self._source_of(name)

    def _source_of(self, name: str) -> Path:
        found = self._agreed(name).source
        if found is None:
            raise InvalidInput(f"{name} was put into place by hand, so there is no source; name one to update it from")
        return Path(found)

    def _agreement(self, token: str) -> Agreement:
        return Agreement(token=token, at=self._clock(), check=describe_abilities)

    def _agreed(self, name: str) -> Agreed:
        found = read_register(self._home).get(name)
        if found is None:
            raise not_installed(name)
        return found

    def _folder_of(self, name: str) -> Path:
        """Return the folder of an extension in the home, which may be one that nobody agreed to."""
        agreed = read_register(self._home).get(name)
        if agreed:
            return self._home.folder(FOLDER) / agreed.folder
        found = [path for path in self._untold({}) if name in (path.name, _untrusted(path).name)]
        if not found:
            raise not_installed(name)
        return found[0]

    def _preview(self, root: Path, contents: ExtensionContents, source: str) -> ExtensionPreview:
        manifest = contents.manifest
        before = read_register(self._home).get(manifest.name)
        return ExtensionPreview(
            name=manifest.name,
            version=manifest.version,
            description=manifest.description,
            replaces=before.version if before else None,
            source=source,
            files=len(contents.files),
            bytes=contents.bytes,
            may=describe_abilities(root, contents),
            ignored=contents.ignored,
            settings=manifest.settings,
            token=contents.token,
        )

    def _listed(self) -> builtins.list[Extension]:
        agreed = read_register(self._home)
        found = [self._examined(one) for one in agreed.values()]
        found += [_untrusted(path) for path in self._untold(agreed)]
        return sorted([*found, *self._of_project()], key=lambda one: (one.name, one.state is ExtensionState.UNTRUSTED))

    def _untold(self, agreed: Mapping[str, Agreed]) -> Iterator[Path]:
        """Yield the folders that nobody agreed to."""
        folder = self._home.folder(FOLDER)
        named = {one.folder for one in agreed.values()}
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            is_other = path.is_dir() and not path.name.startswith(".") and path.name not in named
            if is_other and not is_left_over(path, agreed):
                yield path

    def _of_project(self) -> Iterator[Extension]:
        """Yield the extensions in the folder of the project, which have no effect until they are installed."""
        if self._project is None:
            return
        try:
            found = overrides(self._home, self._project, FOLDER)
        except InvalidInput as error:
            folder = self._project.folder(FOLDER)
            yield _broken(folder.name, folder, str(error))
            return
        yield from (
            _untrusted(path) for path in found.values() if path.is_relative_to(self._project.root) and path.is_dir()
        )

    def _examined(self, one: Agreed) -> Extension:
        folder = self._home.folder(FOLDER) / one.folder
        listed = Extension(
            name=one.name,
            state=ExtensionState.ENABLED if one.is_enabled(self._project) else ExtensionState.DISABLED,
            version=one.version,
            folder=str(folder),
            source=one.source,
            installed_at=one.installed_at,
            enabled=one.enabled,
            projects=one.projects,
        )
        if changed := changed_files(folder, one.files):
            words = f"{changed[0]} is not what was agreed to"
            cure = f"look at it, then run: recollectum extensions trust {one.name}, or update it"
            return replace(listed, state=ExtensionState.CHANGED, changed=changed, problems=(f"{words}; {cure}",))
        try:
            contents = read_contents(folder)
            may = describe_abilities(folder, contents)
        except InvalidInput as error:
            return replace(listed, state=ExtensionState.BROKEN, problems=tuple(str(error).splitlines()))
        return replace(listed, description=contents.manifest.description, may=may)


def _untrusted(folder: Path) -> Extension:
    """Return a folder that nobody agreed to, with what it would do."""
    try:
        contents = read_contents(folder)
        may = describe_abilities(folder, contents)
    except InvalidInput as error:
        return _broken(folder.name, folder, str(error))
    manifest = contents.manifest
    return Extension(
        name=manifest.name,
        state=ExtensionState.UNTRUSTED,
        version=manifest.version,
        description=manifest.description,
        folder=str(folder),
        projects={},
        may=may,
    )


def _broken(name: str, folder: Path, words: str) -> Extension:
    problems = tuple(words.splitlines())
    return Extension(name=name, state=ExtensionState.BROKEN, folder=str(folder), projects={}, problems=problems)


def _without_values(one: McpServerEntry) -> McpServerEntry:
    """Return an entry of the person with the names of its variables and headers, and nothing that may be a secret."""
    if one.extension is not None:
        return one
    config: dict[str, Json] = {name: one.config[name] for name in _PLAIN if name in one.config}
    for part in ("env", "headers"):
        values = one.config.get(part)
        if isinstance(values, dict):
            config[part] = {name: f"${{{name}}}" for name in values}
    return replace(one, config=config)


def _place(source: str | Path) -> Path:
    """Return the path of a folder or archive; an empty text would be the working directory."""
    if isinstance(source, str) and not source.strip():
        raise InvalidInput("the path is empty; name the folder or archive of the extension")
    return Path(source)
