"""Imports the JSON-lines file of the reference memory server."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from recollectum.domain.ids import derived_id
from recollectum.domain.message import Message, Role
from recollectum.domain.notice import NO_NOTICE, Notice, total
from recollectum.domain.records import dataclass
from recollectum.domain.session import Session, SessionKey
from recollectum.domain.trust import Trust
from recollectum.doors.mcp.client import CHANNEL
from recollectum.doors.mcp.knowledge_graph import nodes
from recollectum.doors.mcp.knowledge_graph.nodes import Item, ObservationChange
from recollectum.home.files import read_regular
from recollectum.transfer.forms.knowledge_graph import parse_item

if TYPE_CHECKING:
    from recollectum.doors.mcp.knowledge_graph.nodes import Graph
    from recollectum.vault.vault import Vault

_AGENT = "reference-memory"
_LARGEST = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class GraphReport:
    """The result of importing a graph."""

    #: New entities, relations and observations.
    added: int
    known: int
    #: Numbers of invalid lines, from 1.
    damaged: tuple[int, ...]
    #: What was done to the texts that were new.
    notice: Notice = NO_NOTICE


def import_file(vault: "Vault", file: str) -> GraphReport:
    """Add the content of a file to the graph in a vault; a known entity gets its missing observations."""
    path = Path(file)
    said = read_regular(path, _LARGEST)
    lines = said.decode("utf-8", "replace").splitlines()
    found = [(number, parse_item(line)) for number, line in enumerate(lines, start=1) if line.strip()]
    damaged = tuple(number for number, item in found if item is None)
    items = [_kept(item) for _, item in found if item is not None]
    known = nodes.load(vault)
    new = {_place(item): item for item in items if _place(item) not in (*known.entities, *known.relations)}
    _check(new.values(), items, known)
    told = nodes.names_notice([item for _, item in found if item is not None], new.values())
    if new:
        # Asks the rules, and writes nothing: refused after the file is noted, it would leave an empty session.
        vault.memories.save_many(())
        source = _message(vault, path, said)
        saved = vault.memories.save_many(nodes.draft(one, message_id=source, agent=_AGENT) for one in new.values())
        told += total(one.notice for one in saved)
    grown = [_grow(vault, item) for item in items if _place(item) in known.entities]
    added = len(new) + sum(count for count, _ in grown)
    return GraphReport(added, len(items) - len(new), damaged, told + total(notice for _, notice in grown))


def _kept(item: Item) -> Item:
    if item["type"] == "relation":
        return nodes.relation(item)
    return nodes.entity(item["name"], item["entityType"], item["observations"])


def _place(item: Item) -> object:
    return item["name"] if item["type"] == "entity" else nodes.ends(item)


def _check(new: Iterable[Item], items: Iterable[Item], known: "Graph") -> None:
    """Refuse what is too long before anything is written."""
    for one in new:
        nodes.draft(one).check()
    for one in items:
        held = known.entities.get(one["name"]) if one["type"] == "entity" else None
        if held is not None:
            after = ObservationChange(adds=one["observations"])(held.item["observations"])
            nodes.draft({**held.item, "observations": after}).check()


def _grow(vault: "Vault", item: Item) -> tuple[int, Notice]:
    change = ObservationChange(adds=item["observations"])
    notice = nodes.change_observations(vault, item["name"], change)
    return len(change.added), notice


def _message(vault: "Vault", path: Path, said: bytes) -> str:
    """Return the id of a message for the file: memories from it get the trust of an import."""
    changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    seed = hashlib.sha256(said).hexdigest()
    key = SessionKey(agent=_AGENT, channel=CHANNEL)
    session = Session(id=derived_id("ses", changed, seed), key=key, created_at=changed, updated_at=changed)
    ended = replace(session, ended_at=changed, title=path.name)
    message = Message(
        id=derived_id("msg", changed, seed),
        session_id=session.id,
        position=1,
        role=Role.INFO,
        content="",
        created_at=changed,
        trust=Trust.IMPORTED,
    )
    vault.sessions.adopt(ended, [message])
    return message.id
