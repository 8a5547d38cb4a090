"""Extension: what somebody else wrote for agents, its manifest, what it brings, and whether it has an effect."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from recollectum.domain.message import Json
from recollectum.domain.records import dataclass


class ExtensionState(StrEnum):
    """Whether an extension has an effect, and if not, why."""

    ENABLED = "enabled"
    DISABLED = "disabled"
    #: Nobody has agreed to it: its folder was copied into place by hand, or lies in a project.
    UNTRUSTED = "untrusted"
    #: A file is not the one that was agreed to.
    CHANGED = "changed"
    #: Its manifest cannot be used.
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionSetting:
    """A value that an extension needs from the person, given as an environment variable or a credential."""

    name: str
    variable: str
    description: str = ""
    #: Whether it is a secret, which belongs into the credential store.
    secret: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionManifest:
    """What an extension says about itself."""

    name: str
    version: str
    description: str = ""
    #: The configuration of each MCP server, by its name.
    servers: Mapping[str, Mapping[str, Json]]
    context_files: tuple[str, ...] = ()
    #: Tools that are denied while the extension is enabled, such as `run_shell_command(rm)`.
    exclude_tools: tuple[str, ...] = ()
    settings: tuple[ExtensionSetting, ...] = ()
    #: The name of its file.
    file: str
    #: Fields that another program knows and Recollectum does not use.
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """One extension of a home or a project, as it is now."""

    name: str
    state: ExtensionState
    version: str | None = None
    description: str = ""
    #: The folder of its files.
    folder: str
    #: The folder or archive that it was installed from.
    source: str | None = None
    installed_at: datetime | None = None
    #: Whether it is enabled everywhere, and where a project differs from that, by the key of the project.
    enabled: bool = False
    projects: Mapping[str, bool]
    #: What it may do, a sentence each.
    may: tuple[str, ...] = ()
    #: Files that differ from what was agreed to, are missing, or were added.
    changed: tuple[str, ...] = ()
    #: What is wrong with it, a sentence each.
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionPreview:
    """What an installation would bring; nothing was changed."""

    name: str
    version: str
    description: str = ""
    #: The version that is installed now.
    replaces: str | None = None
    #: Where it was found.
    source: str
    files: int
    bytes: int
    may: tuple[str, ...]
    #: Fields and folders that have no effect here.
    ignored: tuple[str, ...] = ()
    settings: tuple[ExtensionSetting, ...] = ()
    #: Names exactly these files.
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServerEntry:
    """An MCP server for an agent to start; Recollectum starts none."""

    name: str
    #: As agents read it: `command`, `args`, `env`, `url` and the like.
    config: Mapping[str, Json]
    #: The extension that brings it; None for an entry of the person.
    extension: str | None = None
    #: The environment variables that the person gives it, from the environment or the credential store.
    variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionFile:
    """A command, skill, agent or context file for an agent to read."""

    #: `commands`, `skills`, `agents` or `context`.
    kind: str
    name: str
    path: str
    #: The extension that brings it; None for one of the person or the project.
    extension: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedExtensions:
    """What enabled extensions bring, below what the person and the project have."""

    servers: tuple[McpServerEntry, ...]
    files: tuple[ExtensionFile, ...]
    #: What was left out because something of the same name comes first, a sentence each.
    conflicts: tuple[str, ...] = ()
    #: Extensions that bring nothing because something is wrong with them, a sentence each.
    problems: tuple[str, ...] = ()
