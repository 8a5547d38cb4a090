"""Lists the users, agents, apps and runs that have memories, and deletes the memories of one of them."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from recollectum.adapters.mem0.filters import SCOPES
from recollectum.adapters.mem0.records import Result
from recollectum.domain.errors import Denied

if TYPE_CHECKING:
    from recollectum.adapters.mem0.shelf import Shelf

_USER = "user_id"


def list_entities(shelf: "Shelf") -> list[Result]:
    """Return the entities of the person's vault, and the users of others that this caller may read."""
    times: dict[tuple[str, str], list[datetime]] = {}
    for kind, name, at in _mentions(shelf):
        times.setdefault((kind, name), []).append(at)
    return [
        {
            "id": f"{kind}:{name}",
            "name": name,
            "type": kind,
            "total_memories": len(found),
            "created_at": min(found).isoformat(),
            "updated_at": max(found).isoformat(),
        }
        for (kind, name), found in sorted(times.items())
    ]


def _mentions(shelf: "Shelf") -> Iterator[tuple[str, str, datetime]]:
    for owner in shelf.home.list_owners():
        scopes = SCOPES if owner == shelf.person else (_USER,)
        try:
            kept = list(shelf.everything(shelf.home.vault(owner)))
        except Denied:
            if owner == shelf.person:
                raise
            # A grant for one conversation shows no memories.
            continue
        for one in kept:
            named = ((scope, one.body[scope]) for scope in scopes if scope in one.body)
            yield from ((scope.removesuffix("_id"), str(name), one.memory.updated_at) for scope, name in named)


def delete_entity(shelf: "Shelf", kind: str, name: str) -> None:
    """Delete the memories of an entity; nothing happens when it has none."""
    wanted = {f"{kind}_id": name}
    shelf.forget(shelf.of_ids(wanted), wanted)
