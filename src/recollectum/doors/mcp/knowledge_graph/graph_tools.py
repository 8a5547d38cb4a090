"""Implements the nine tools of the graph profile."""

from collections.abc import Callable, Mapping
from typing import Any

from recollectum.domain.errors import NotFound
from recollectum.domain.notice import NO_NOTICE, Notice, total
from recollectum.doors.json_values import to_json
from recollectum.doors.mcp.client import McpClient
from recollectum.doors.mcp.knowledge_graph import nodes
from recollectum.doors.mcp.knowledge_graph.nodes import Graph, Item, ObservationChange
from recollectum.doors.mcp.results import ToolAnswer, indented_json, notice_sentences
from recollectum.doors.mcp.tools import Arguments, ToolFunction
from recollectum.transfer.forms.knowledge_graph import plain


def create_entities(guest: McpClient, given: Arguments) -> ToolAnswer:
    """Add entities whose names are new."""
    asked = [nodes.entity(one["name"], one["entityType"], one["observations"]) for one in given["entities"]]
    first = {one["name"]: one for one in reversed(asked)}
    new = {name: one for name, one in first.items() if nodes.find(guest.vault, one) is None}
    made = [one for one in asked if new.get(one["name"]) is one]
    told = nodes.names_notice(given["entities"], made) + _keep(guest, "create_entities", made)
    shown = [_plain(nodes.readable(one)) for one in made]
    return _added(shown, {"entities": shown}, told)


def create_relations(guest: McpClient, given: Arguments) -> ToolAnswer:
    """Add relations that are new."""
    asked = {nodes.ends(one): one for one in map(nodes.relation, given["relations"])}
    made = [one for one in asked.values() if nodes.find(guest.vault, one) is None]
    told = nodes.names_notice(given["relations"], made) + _keep(guest, "create_relations", made)
    shown = [_plain(one) for one in made]
    return _added(shown, {"relations": shown}, told)


def add_observations(guest: McpClient, given: Arguments) -> ToolAnswer:
    """Add observations to entities; add none when one of the entities is missing."""
    for one in given["observations"]:
        if nodes.find_entity(guest.vault, name := plain(one["entityName"])) is None:
            raise NotFound(f"Entity with name {name} not found")
    results: list[Any] = []
    told = NO_NOTICE
    for one in given["observations"]:
        change = ObservationChange(adds=one["contents"])
        told += nodes.change_observations(guest.vault, one["entityName"], change)
        results.append({"entityName": plain(one["entityName"]), "addedObservations": change.added})
    return _added(results, {"results": results}, told)


def delete_entities(guest: McpClient, given: Arguments) -> ToolAnswer:
    """Forget entities and their relations."""
    names = set(map(plain, given["entityNames"]))
    found = nodes.load_part(guest.vault, names)
    gone = list(found.entities.values())
    gone += [node for place, node in found.relations.items() if names.intersection(place[:2])]
    return _forget(guest, gone, "Entities deleted successfully")


def delete_observations(guest: McpClient, given: Arguments) -> ToolAnswer:
    """Remove observations."""
    for one in given["deletions"]:
        if nodes.find_entity(guest.vault, one["entityName"]) is not None:
            nodes.change_observations(guest.vault, one["entityName"], ObservationChange(removes=one["observations"]))
    return _done("Observations deleted successfully")


def delete_relations(guest: McpClient, given: Arguments) -> ToolAnswer:
    """Forget relations."""
    asked = {nodes.ends(one): one for one in map(nodes.relation, given["relations"])}
    gone = [node for one in asked.values() if (node := nodes.find(guest.vault, one))]
    return _forget(guest, gone, "Relations deleted successfully")


def read_graph(guest: McpClient, _: Arguments) -> ToolAnswer:
    """Return the whole graph."""
    return _part(nodes.load(guest.vault), lambda _item: True)


def search_nodes(guest: McpClient, given: Arguments) -> ToolAnswer:
    """Return entities that contain a text."""
    wanted = plain(given["query"]).lower()

    def holds(item: Item) -> bool:
        return any(wanted in one.lower() for one in (item["name"], item["entityType"], *item["observations"]))

    # All is read: the text may begin or end inside a word, and the index knows the stems of words, not their letters,
    # and only the first part of a long text.
    return _part(nodes.load(guest.vault), holds, beside=True)


def open_nodes(guest: McpClient, given: Arguments) -> ToolAnswer:
    """Return entities by name."""
    return _part(nodes.load_part(guest.vault, given["names"]), lambda _item: True, beside=True)


TOOLS: Mapping[str, ToolFunction] = {
    one.__name__: one
    for one in (
        create_entities,
        create_relations,
        add_observations,
        delete_entities,
        delete_observations,
        delete_relations,
        read_graph,
        search_nodes,
        open_nodes,
    )
}


def _keep(guest: McpClient, tool: str, items: list[Item]) -> Notice:
    if not items:
        return NO_NOTICE
    saved = guest.vault.memories.save_many(map(nodes.draft, items), said_by=guest.tool_use(tool))
    return total(one.notice for one in saved)


def _added(shown: list[Any], structured: dict[str, Any], told: Notice) -> ToolAnswer:
    """Return the answer of the reference server; it has a notice besides only where there is something to tell."""
    if not told:
        return ToolAnswer(indented_json(shown), structured)
    return ToolAnswer(indented_json(shown), {**structured, "notice": to_json(told)}, notice_sentences(told))


def _forget(guest: McpClient, nodes: list[nodes.GraphNode], sentence: str) -> ToolAnswer:
    for node in nodes:
        guest.vault.memories.forget(node.memory.id)
    return _done(sentence)


def _done(sentence: str) -> ToolAnswer:
    return ToolAnswer(sentence, {"success": True, "message": sentence})


def _part(found: Graph, wanted: Callable[[Item], bool], *, beside: bool = False) -> ToolAnswer:
    entities = [node.item for node in found.entities.values() if wanted(node.item)]
    names = {one["name"] for one in entities}
    relations = [node.item for place, node in found.relations.items() if not beside or names.intersection(place[:2])]
    shown: dict[str, Any] = {
        "entities": [_plain(one) for one in entities],
        "relations": [_plain(one) for one in relations],
    }
    return ToolAnswer(indented_json(shown), shown)


def _plain(item: Item) -> Item:
    return {name: value for name, value in item.items() if name != "type"}
