"""Reads the export of ChatGPT: a tree of messages for each conversation, of which the shown branch is imported."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import BinaryIO

from recollectum.domain.message import Json, Message, Role
from recollectum.transfer.foreign_json import as_object
from recollectum.transfer.forms.building import EPOCH, Talk, optional_moment, role_of, text_field, text_or_none
from recollectum.transfer.forms.json_files import read_conversations
from recollectum.vault.files.foreign_sources import ForeignItem, OmittedPart, Progress

AGENT = "chatgpt"
NAME = "ChatGPT export"
#: Contents whose text the person or the model wrote; others show what a tool or a search did.
_SPOKEN = ("text", "multimodal_text", "code", "tether_quote")


def is_conversation(value: Mapping[str, Json]) -> bool:
    """Return whether an object is a conversation of this form."""
    return isinstance(value.get("mapping"), dict) and "current_node" in value


def read(file: BinaryIO, progress: Progress) -> Iterator[ForeignItem]:
    """Yield the conversations of a list."""
    yield from read_conversations(file, progress, _conversation)


def _conversation(value: Mapping[str, Json]) -> Iterator[ForeignItem]:
    native = text_or_none(value.get("conversation_id")) or text_field(value, "id", "the conversation")
    nodes = as_object(value.get("mapping"), "mapping")
    branch = list(_branch(nodes, value.get("current_node")))
    began = optional_moment(value.get("create_time"), EPOCH)
    talk = Talk(
        AGENT,
        native,
        began,
        updated=optional_moment(value.get("update_time"), began),
        title=text_or_none(value.get("title")),
        channel="web",
    )
    yield talk.begins
    at = began
    for node in branch:
        message = node.get("message")
        if not isinstance(message, dict):
            continue
        at = optional_moment(message.get("create_time"), at)
        yield from _message(talk, message, at)
    hidden = sum(1 for one in nodes.values() if isinstance(one, dict) and one.get("message")) - sum(
        1 for one in branch if one.get("message")
    )
    if hidden > 0:
        yield OmittedPart("abandoned message", hidden)


def _branch(nodes: Mapping[str, Json], last: Json) -> Iterator[Mapping[str, Json]]:
    """Yield the nodes from the root to the last one, by the links to their parents."""
    found: list[Mapping[str, Json]] = []
    seen: set[str] = set()
    while isinstance(last, str) and last in nodes and last not in seen:
        seen.add(last)
        node = nodes[last]
        if not isinstance(node, dict):
            break
        found.append(node)
        last = node.get("parent")
    return reversed(found)


def _message(talk: Talk, message: Mapping[str, Json], at: datetime) -> Iterator[ForeignItem]:
    author, content = message.get("author"), message.get("content")
    metadata = message.get("metadata")
    if not isinstance(author, dict) or not isinstance(content, dict):
        return
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation") is True:
        return
    parts = content.get("parts")
    listed = parts if isinstance(parts, list) else [content.get("text")]
    text = "\n".join(part for part in listed if isinstance(part, str) and part)
    files = sum(1 for part in listed if isinstance(part, dict))
    if files:
        yield OmittedPart("attachment", files)
    if text and content.get("content_type") in _SPOKEN:
        yield _said(talk, message, author, text, at)


def _said(talk: Talk, message: Mapping[str, Json], author: Mapping[str, Json], text: str, at: datetime) -> Message:
    metadata = message.get("metadata")
    role = role_of(author.get("role"))
    extra: dict[str, Json] = {"tool": author.get("name")} if role is Role.TOOL and author.get("name") else {}
    return talk.say(
        role,
        text,
        at,
        text_or_none(message.get("id")),
        model=text_or_none(metadata.get("model_slug")) if isinstance(metadata, dict) else None,
        extra=extra,
    )
