"""Faithful export: what an agent wrote that our nouns cannot say is kept beside them, and written back as it was."""

from collections.abc import Callable, Mapping
from typing import cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json

#: What a field of the agent's means to us: two spellings of one meaning are equal.
Meanings = Mapping[str, Callable[[Json], object]]


def kept(agent: str, theirs: Mapping[str, Json], ours: Mapping[str, Json]) -> dict[str, Json]:
    """For `extra`: each field that would not come out of our nouns just as it was."""
    unsaid = {name: value for name, value in theirs.items() if name not in ours or ours[name] != value}
    return {agent: unsaid} if unsaid else {}


def restored(agent: str, ours: Mapping[str, Json], extra: Mapping[str, Json], meanings: Meanings) -> dict[str, Json]:
    """Our fields in the agent's own spelling, where it still means the same, and with the fields only it knows."""
    theirs = extra.get(agent)
    if not isinstance(theirs, Mapping):
        return dict(ours)
    unchanged = {
        name: value
        for name, value in cast("Mapping[str, Json]", theirs).items()
        if name not in meanings or _same(meanings[name], value, ours.get(name))
    }
    return {**ours, **unchanged}


def _same(meaning: Callable[[Json], object], theirs: Json, ours: Json) -> bool:
    try:
        return meaning(theirs) == meaning(ours)
    except InvalidInput:
        # Extras may come from anyone; one that cannot be understood does not replace what can.
        return False
