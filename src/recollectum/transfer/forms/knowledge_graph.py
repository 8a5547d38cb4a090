"""Reads the file of the reference memory server: entities and relations, each a memory under a key of ours."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, BinaryIO, cast

from recollectum.text.cleaning import clean
from recollectum.transfer.forms.building import EPOCH, Talk
from recollectum.transfer.jsonl import bounded_lines
from recollectum.vault.files.foreign_sources import DamagedPart, ForeignItem, ForeignMemory, Progress
from recollectum.vault.intake.redaction import redact_text

AGENT = "reference-memory"
NAME = "MCP memory graph"
KEY_PREFIX = "graph_"
ENTITY_KEY = f"{KEY_PREFIX}entity_"
RELATION_KEY = f"{KEY_PREFIX}relation_"
_DIGEST_BYTES = 20

Item = dict[str, Any]


def parse_item(line: str) -> Item | None:
    """Parse one line of the graph's file; None when it is invalid."""
    try:
        found: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    item = cast("Item", found)
    texts = {"entity": ("name", "entityType"), "relation": ("from", "to", "relationType")}.get(str(item.get("type")))
    if texts is None or not all(isinstance(item.get(name), str) for name in texts):
        return None
    if item["type"] == "entity" and not _is_texts(item.get("observations")):
        return None
    return item


def kept_item(item: Item) -> Item:
    """Return an item as it is stored: its names identify it, so secrets in them are redacted here."""
    if item["type"] == "relation":
        return {"type": "relation", **{name: plain(item[name]) for name in ("from", "to", "relationType")}}
    said = [clean(one) for one in item["observations"]]
    return {
        "type": "entity",
        "name": plain(item["name"]),
        "entityType": plain(item["entityType"]),
        "observations": said,
    }


def key_of(item: Item) -> str:
    """Return the key of the memory of an item."""
    of_entity = item["type"] == "entity"
    named = item["name"] if of_entity else "\0".join(ends(item))
    digest = hashlib.blake2b(plain(named).encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return (ENTITY_KEY if of_entity else RELATION_KEY) + digest


def ends(item: Mapping[str, str]) -> tuple[str, str, str]:
    """Return what identifies a relation: both entities and its type."""
    return item["from"], item["to"], item["relationType"]


def line_of(item: Item) -> str:
    """Return the text of the memory of an item."""
    return json.dumps(item, ensure_ascii=False)


def plain(text: str) -> str:
    """Return a text as it reads in the graph, without secrets and references to stored ones."""
    return redact_text(clean(text))


def read(file: BinaryIO, progress: Progress, at: datetime = EPOCH) -> Iterator[ForeignItem]:
    """Yield every entity and relation as a memory."""
    talk = Talk(AGENT, "graph", EPOCH, title="knowledge graph")
    yield talk.begins
    for number, line in enumerate(bounded_lines(file), start=1):
        progress(len(line))
        if not line.strip():
            continue
        item = parse_item(line.decode("utf-8", "replace"))
        if item is None:
            yield DamagedPart(f"line {number}", "it is neither an entity nor a relation")
            continue
        kept = kept_item(item)
        text, key = line_of(kept), key_of(kept)
        native = f"{key} {hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"
        yield ForeignMemory(native_id=native, text=text, at=at, key=key)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in cast("list[object]", value))
