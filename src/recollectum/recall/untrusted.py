"""How much of untrusted origin one recall may show: what tools, strangers and foreign files wrote is held back.

A text is untrusted when a tool wrote it, or when nobody knows who did: trust `tool` and `unknown`. What a person
brought in of their own conversations, trust `imported`, is as good as the messages it is made of: the turns of
the person and of the assistant are not untrusted, what tools answered in between is.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace

from recollectum.domain.hit import Hit, Neighbour, Recalled
from recollectum.domain.trust import Trust
from recollectum.storage.port import Tx

Ways = tuple[Trust, ...]
#: How many in one recall, by the setting's name; None is all.
MOST = {"one": 1, "none": 0, "all": None}

_OWN = frozenset({Trust.OWNER, Trust.ASSISTANT})
_NEVER = frozenset({Trust.TOOL, Trust.UNKNOWN})
_MAY_BE_OWN = (Trust.OWNER, Trust.ASSISTANT, Trust.IMPORTED)
_SAID = "SELECT id, trust FROM messages WHERE id IN (SELECT value FROM json_each(:ids))"
# What a memory was said in, and every message that it cites.
_BEHIND = """
    SELECT memories.id, messages.trust FROM memories JOIN messages ON messages.id = memories.message_id
     WHERE memories.id IN (SELECT value FROM json_each(:ids))
    UNION
    SELECT citations.memory_id, messages.trust FROM citations JOIN messages ON messages.id = citations.message_id
     WHERE citations.memory_id IN (SELECT value FROM json_each(:ids))
"""


def hold_back(tx: Tx, look: Callable[[Ways | None], Recalled], size: int, most: int | None) -> Recalled:
    """The best hits with at most so many of untrusted origin among them; what follows takes the places."""
    found = look(None)
    if most is None:
        return found
    kept = _capped(tx, found, size, most)
    if not kept.held_back or len(found) < size:
        return kept
    # Others stand behind a full list, however much of it was untrusted.
    rest = _capped(tx, look(_MAY_BE_OWN), size, 0)
    shown = {str(hit.source) for hit in kept}
    others = [hit for hit in rest if str(hit.source) not in shown]
    filled = [*kept, *others][:size]
    return Recalled(filled, found.rung, found.degraded, held_back=kept.held_back + rest.held_back)


def _capped(tx: Tx, found: Recalled, size: int, most: int) -> Recalled:
    doubtful = _untrusted(tx, found)
    kept: list[Hit] = []
    shown = held = 0
    for place, hit in enumerate(found):
        if len(kept) == size:
            break
        if place in doubtful and shown == most:
            held += 1
            continue
        shown += place in doubtful
        kept.append(hit)
    return Recalled(_without_untrusted_neighbours(kept), found.rung, found.degraded, held_back=held)


def _untrusted(tx: Tx, found: Iterable[Hit]) -> set[int]:
    """The places of the hits of untrusted origin."""
    doubtful: set[int] = set()
    brought: dict[int, Hit] = {}
    for place, hit in enumerate(found):
        if hit.trust in _NEVER:
            doubtful.add(place)
        elif hit.trust is Trust.IMPORTED:
            brought[place] = hit
    if brought:
        memories = [hit.source.memory_id for hit in brought.values() if hit.source.memory_id]
        said = [hit.source.message_id for hit in brought.values() if not hit.source.memory_id]
        behind = _trusts(tx, _BEHIND, memories) | _trusts(tx, _SAID, [one for one in said if one])
        for place, hit in brought.items():
            trusts = behind.get(hit.source.memory_id or hit.source.message_id or "")
            if not trusts or not trusts <= _OWN:
                doubtful.add(place)
    return doubtful


def _without_untrusted_neighbours(hits: list[Hit]) -> list[Hit]:
    """What a tool answered just before or after a hit comes along no more than a hit of its own would."""
    return [
        replace(hit, before=_trusted(hit.before), after=_trusted(hit.after))
        if any(one and one.trust in _NEVER for one in (hit.before, hit.after))
        else hit
        for hit in hits
    ]


def _trusted(neighbour: Neighbour | None) -> Neighbour | None:
    return None if neighbour and neighbour.trust in _NEVER else neighbour


def _trusts(tx: Tx, sql: str, ids: list[str]) -> dict[str, set[Trust]]:
    found: dict[str, set[Trust]] = {}
    for id_, trust in tx.rows(sql, {"ids": json.dumps(ids)}) if ids else ():
        found.setdefault(id_, set()).add(Trust(trust))
    return found
