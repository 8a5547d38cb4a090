"""The nine tools of the graph profile, over the graph in the vault."""

from collections.abc import Callable, Mapping
from typing import Any

from recollectum.domain.errors import NotFound
from recollectum.doors.mcp import graph
from recollectum.doors.mcp.answering import Answer, pretty
from recollectum.doors.mcp.graph import ChangeOf, Graph, Item
from recollectum.doors.mcp.guest import Guest
from recollectum.doors.mcp.tools import Arguments, Work


def create_entities(guest: Guest, given: Arguments) -> Answer:
    """Add entities whose names are new."""
    known = graph.load(guest.vault).entities
    asked = [graph.entity(one["name"], one["entityType"], one["observations"]) for one in given["entities"]]
    new = {one["name"]: one for one in reversed(asked) if one["name"] not in known}
    made = [one for one in asked if new.get(one["name"]) is one]
    _keep(guest, "create_entities", made)
    shown = [_plain(one) for one in made]
    return Answer(pretty(shown), {"entities": shown})


def create_relations(guest: Guest, given: Arguments) -> Answer:
    """Add relations that are new."""
    known = graph.load(guest.vault).relations
    asked = {graph.ends(one): one for one in map(graph.relation, given["relations"])}
    made = [one for place, one in asked.items() if place not in known]
    _keep(guest, "create_relations", made)
    shown = [_plain(one) for one in made]
    return Answer(pretty(shown), {"relations": shown})


def add_observations(guest: Guest, given: Arguments) -> Answer:
    """Add observations to entities; none is added when one of the entities is not there."""
    known = graph.load(guest.vault).entities
    for one in given["observations"]:
        if one["entityName"] not in known:
            raise NotFound(f"Entity with name {one['entityName']} not found")
    results: list[Any] = []
    for one in given["observations"]:
        change = ChangeOf(adds=one["contents"])
        graph.change_observations(guest.vault, one["entityName"], change)
        results.append({"entityName": one["entityName"], "addedObservations": change.added})
    return Answer(pretty(results), {"results": results})


def delete_entities(guest: Guest, given: Arguments) -> Answer:
    """Forget entities and their relations."""
    found, names = graph.load(guest.vault), set(given["entityNames"])
    gone = [node for name, node in found.entities.items() if name in names]
    gone += [node for place, node in found.relations.items() if names.intersection(place[:2])]
    return _forget(guest, gone, "Entities deleted successfully")


def delete_observations(guest: Guest, given: Arguments) -> Answer:
    """Take observations away."""
    known = graph.load(guest.vault).entities
    for one in given["deletions"]:
        if one["entityName"] in known:
            graph.change_observations(guest.vault, one["entityName"], ChangeOf(removes=one["observations"]))
    return _done("Observations deleted successfully")


def delete_relations(guest: Guest, given: Arguments) -> Answer:
    """Forget relations."""
    found = graph.load(guest.vault).relations
    gone = [found[place] for place in {graph.ends(one) for one in given["relations"]} if place in found]
    return _forget(guest, gone, "Relations deleted successfully")


def read_graph(guest: Guest, _: Arguments) -> Answer:
    """The whole graph."""
    return _part(graph.load(guest.vault), lambda _item: True)


def search_nodes(guest: Guest, given: Arguments) -> Answer:
    """Entities that hold a text."""
    wanted = given["query"].lower()

    def holds(item: Item) -> bool:
        return any(wanted in one.lower() for one in (item["name"], item["entityType"], *item["observations"]))

    return _part(graph.load(guest.vault), holds, beside=True)


def open_nodes(guest: Guest, given: Arguments) -> Answer:
    """Entities by name."""
    names = set(given["names"])
    return _part(graph.load(guest.vault), lambda item: item["name"] in names, beside=True)


TOOLS: Mapping[str, Work] = {
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


def _keep(guest: Guest, tool: str, items: list[Item]) -> None:
    if items:
        message_id = guest.spoken(tool)
        guest.vault.memories.save_many(graph.draft(one, message_id=message_id, agent=guest.agent) for one in items)


def _forget(guest: Guest, nodes: list[graph.Node], sentence: str) -> Answer:
    for node in nodes:
        guest.vault.memories.forget(node.memory.id)
    return _done(sentence)


def _done(sentence: str) -> Answer:
    return Answer(sentence, {"success": True, "message": sentence})


def _part(found: Graph, wanted: Callable[[Item], bool], *, beside: bool = False) -> Answer:
    entities = [node.item for node in found.entities.values() if wanted(node.item)]
    names = {one["name"] for one in entities}
    relations = [node.item for place, node in found.relations.items() if not beside or names.intersection(place[:2])]
    shown: dict[str, Any] = {
        "entities": [_plain(one) for one in entities],
        "relations": [_plain(one) for one in relations],
    }
    return Answer(pretty(shown), shown)


def _plain(item: Item) -> Item:
    return {name: value for name, value in item.items() if name != "type"}
