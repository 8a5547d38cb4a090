"""Declares tools, resources and prompts, and builds their lists for the wire.

Standard library only: the stdio server answers lists from these before anything else is imported.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from recollectum.domain.records import dataclass

#: A JSON object as it goes over the wire.
Wire = dict[str, Any]
Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """One tool: its purpose, its arguments, its answer, and its effect on the vault."""

    name: str
    title: str
    description: str
    takes: Schema
    answers: Schema
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = True

    def wire(self) -> Wire:
        """Return the tool as `tools/list` shows it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": dict(self.takes),
            "outputSchema": dict(self.answers),
            "annotations": {
                "readOnlyHint": self.read_only,
                "destructiveHint": self.destructive,
                "idempotentHint": self.idempotent,
                # None of our tools reaches beyond the vault.
                "openWorldHint": False,
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class McpResource:
    """One resource, or a template when its URI contains a `{name}`."""

    uri: str
    name: str
    title: str
    description: str
    mime_type: str = "text/plain"

    @property
    def is_template(self) -> bool:
        """Whether the URI is a template."""
        return "{" in self.uri

    def wire(self) -> Wire:
        """Return the resource as its list shows it."""
        return {
            "uriTemplate" if self.is_template else "uri": self.uri,
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "mimeType": self.mime_type,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class McpPrompt:
    """One prompt that a person can choose."""

    name: str
    title: str
    description: str
    #: Its argument: name, description, and whether it is required.
    argument: tuple[str, str, bool] | None = None

    def wire(self) -> Wire:
        """Return the prompt as `prompts/list` shows it."""
        said: Wire = {"name": self.name, "title": self.title, "description": self.description}
        if self.argument is not None:
            name, description, required = self.argument
            said["arguments"] = [{"name": name, "description": description, "required": required}]
        return said


@dataclass(frozen=True, slots=True, kw_only=True)
class McpProfile:
    """Everything one profile of the server offers."""

    #: Its name on the command line.
    profile: str
    instructions: str
    tools: tuple[McpTool, ...]
    resources: tuple[McpResource, ...] = ()
    prompts: tuple[McpPrompt, ...] = ()
    lists: Mapping[str, Wire] = field(init=False)

    def __post_init__(self) -> None:
        """Build the lists once."""
        plain = [one.wire() for one in self.resources if not one.is_template]
        templates = [one.wire() for one in self.resources if one.is_template]
        lists: dict[str, Wire] = {
            "tools/list": {"tools": [one.wire() for one in self.tools]},
            "resources/list": {"resources": plain},
            "resources/templates/list": {"resourceTemplates": templates},
            "prompts/list": {"prompts": [one.wire() for one in self.prompts]},
        }
        object.__setattr__(self, "lists", lists)

    def tool(self, name: str) -> McpTool | None:
        """Return the tool with that name, or None."""
        return next((one for one in self.tools if one.name == name), None)


def text(what: str, **rules: object) -> Schema:
    """Return the schema of a text."""
    return {"type": "string", "description": what, **rules}


def whole(what: str, least: int, most: int) -> Schema:
    """Return the schema of a whole number in a range."""
    return {"type": "integer", "description": what, "minimum": least, "maximum": most}


def objects(of: Schema, what: str | None = None) -> Schema:
    """Return the schema of a list."""
    said: Wire = {"type": "array", "items": of}
    return said if what is None else {**said, "description": what}


def takes(properties: Mapping[str, Schema], required: Sequence[str] = ()) -> Schema:
    """Return the schema of a tool's arguments: these and no others."""
    said: Wire = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return {**said, "required": list(required)} if required else said


def answers(properties: Mapping[str, Schema], required: Sequence[str] | None = None) -> Schema:
    """Return the schema of a tool's answer; without `required`, all members are always present."""
    needed = list(properties if required is None else required)
    return {"type": "object", "properties": dict(properties), "required": needed}
