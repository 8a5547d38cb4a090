"""Stores a knowledge graph as keyed memories, one for each entity and each relation.

The text of such a memory is the line that server would write to its file, so that recall finds its words and an export
is a join. Concurrent changes are resolved by the versions of the memories.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from recollectum.domain.errors import Conflict, NotFound
from recollectum.domain.notice import NO_NOTICE, Notice
from recollectum.domain.page import every
from recollectum.domain.records import dataclass
from recollectum.text.cleaning import clean
from recollectum.transfer.forms.knowledge_graph import (
    KEY_PREFIX,
    RELATION_KEY,
    Item,
    ends,
    kept_item,
    key_of,
    line_of,
    parse_item,
    plain,
)
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.kept_secrets import without_references
from recollectum.vault.intake.tally import Tally

if TYPE_CHECKING:
    from recollectum.domain.memory import Memory
    from recollectum.vault.vault import Vault

_PAGE = 1000
_TRIES = 5


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An entity or a relation, and the memory that holds it."""

    item: Item
    memory: "Memory"


@dataclass(frozen=True, slots=True)
class Graph:
    """Everything in the graph, oldest first."""

    entities: Mapping[str, GraphNode]
    relations: Mapping[tuple[str, str, str], GraphNode]


def load(vault: "Vault") -> Graph:
    """Return the current graph."""
    return _graph(reversed(list(_nodes(vault, KEY_PREFIX))))


def load_part(vault: "Vault", names: Iterable[str]) -> Graph:
    """Return the entities with these names, each found by its key, and all relations."""
    found = [node for name in {plain(one) for one in names} if (node := find_entity(vault, name))]
    relations = reversed(list(_nodes(vault, RELATION_KEY)))
    return _graph([*sorted(found, key=lambda node: node.memory.id), *relations])


def find_entity(vault: "Vault", name: str) -> GraphNode | None:
    """Return the entity with that name, by its key, or None."""
    return find(vault, {"type": "entity", "name": name})


def find(vault: "Vault", item: Item) -> GraphNode | None:
    """Return the entity or relation that has the names of an item, by its key, or None."""
    memory = vault.memories.find(key_of(item))
    kept = parse_item(memory.content) if memory else None
    return GraphNode(kept, memory) if memory and kept else None


def _graph(found: "Iterable[GraphNode]") -> Graph:
    entities: dict[str, GraphNode] = {}
    relations: dict[tuple[str, str, str], GraphNode] = {}
    for node in found:
        if node.item["type"] == "entity":
            entities[node.item["name"]] = node
        else:
            relations[ends(node.item)] = node
    return Graph(entities, relations)


def entity(name: str, kind: str, observations: Iterable[str]) -> Item:
    """Return an entity as it is stored; the vault redacts secrets in its observations, or stores them if set.

    Its name identifies it, so a secret in a name is redacted here, for good.
    """
    return kept_item({"type": "entity", "name": name, "entityType": kind, "observations": list(observations)})


def relation(given: Mapping[str, str]) -> Item:
    """Return a relation as it is stored."""
    return kept_item({"type": "relation", **given})


def readable(item: Item) -> Item:
    """Return an item without secrets, for the client that sent it, before the vault has processed it."""
    said = {"observations": [plain(one) for one in item["observations"]]} if "observations" in item else {}
    return {**item, **said}


def draft(item: Item, *, message_id: str | None = None, agent: str | None = None) -> Draft:
    """Return an item as a draft for the vault."""
    return Draft(content=line_of(item), key=key_of(item), message_id=message_id, agent=agent)


def names_notice(given: Iterable[Mapping[str, Any]], made: Iterable[Item]) -> Notice:
    """Return the notice about the names and types that were redacted here, before the vault saw them."""
    tally = Tally()
    stored = {name for item in made for name in _names_of(item)}
    for item in given:
        for name in _names_of(item):
            if (spelled := plain(name)) in stored:
                tally.compare(name, spelled)
    return tally.notice()


def change_observations(vault: "Vault", name: str, changed: "ObservationChange") -> Notice:
    """Change the observations of one entity; retry when another client changes it at the same time."""
    for attempt in range(_TRIES):
        found = find_entity(vault, name)
        if found is None:
            raise NotFound(f"Entity with name {name} not found")
        item, memory = found.item, found.memory
        after = changed(item["observations"])
        if after == item["observations"]:
            break
        try:
            edited = vault.memories.edit(memory.id, line_of({**item, "observations": after}), version=memory.version)
        except Conflict:
            if attempt == _TRIES - 1:
                raise
        else:
            return edited.notice
    return NO_NOTICE


class ObservationChange:
    """Adds observations to an entity, or removes some."""

    def __init__(self, *, adds: Iterable[str] = (), removes: Iterable[str] = ()) -> None:
        self._adds = [clean(one) for one in adds]
        self._removes = {plain(one) for one in removes}
        #: What the last call added, without secrets.
        self.added: list[str] = []

    def __call__(self, before: list[str]) -> list[str]:
        """Return the observations after the change."""
        known = {without_references(one) for one in before}
        new = [one for one in self._adds if plain(one) not in known]
        self.added = [plain(one) for one in new]
        return [one for one in before if without_references(one) not in self._removes] + new


def _nodes(vault: "Vault", prefix: str) -> Iterator[GraphNode]:
    for memory in every(lambda cursor: vault.memories.list(key_prefix=prefix, cursor=cursor, limit=_PAGE)):
        item = parse_item(memory.content)
        if item is not None:
            yield GraphNode(item, memory)


def _names_of(item: Mapping[str, Any]) -> list[str]:
    return [item[name] for name in ("name", "entityType", "from", "to", "relationType") if name in item]
