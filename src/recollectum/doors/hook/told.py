"""Keeps, across processes, which memories were put into which conversation: their ids, and never a text."""

import json
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from typing import cast

from recollectum.domain.errors import RecollectumError
from recollectum.domain.records import dataclass
from recollectum.home.files import make_private_folder, write_atomic
from recollectum.home.paths import Home

#: How many conversations are kept, those with the newest events; a larger file is not read.
MOST_CONVERSATIONS = 200
_MAX_BYTES = 8 * 2**20
_MOST_IDS = 500


@dataclass(frozen=True, slots=True)
class ToldMemories:
    """What one conversation got."""

    #: Whether it got the profile.
    welcomed: bool = False
    ids: frozenset[str] = frozenset()


class ToldFile:
    """The file of one home. What cannot be read or written is forgotten: then something is said a second time."""

    def __init__(self, home: Home) -> None:
        self._path = home.root / "run" / "hook-told.json"

    def find(self, conversation: Iterable[str | None]) -> ToldMemories:
        """Return what the conversation of this person, agent and id got."""
        found = self._read().get(_name(conversation))
        if not isinstance(found, list):
            return ToldMemories()
        return ToldMemories(True, frozenset(one for one in cast("list[object]", found) if isinstance(one, str)))

    def save(self, conversation: Iterable[str | None], told: ToldMemories) -> None:
        """Save what the conversation has got by now; one that has got nothing is removed."""
        kept = self._read()
        kept.pop(name := _name(conversation), None)
        if told.welcomed:
            kept[name] = sorted(told.ids)[-_MOST_IDS:]
        newest = dict(list(kept.items())[-MOST_CONVERSATIONS:])
        with suppress(OSError, RecollectumError):
            make_private_folder(self._path.parent)
            write_atomic(self._path, json.dumps(newest).encode())

    def _read(self) -> dict[str, object]:
        try:
            if self._path.stat().st_size > _MAX_BYTES:
                return {}
            found: object = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return cast("dict[str, object]", found) if isinstance(found, dict) else {}


def _name(conversation: Iterable[str | None]) -> str:
    """Return a digest: the file says neither who talked nor with which agent."""
    return blake2b(json.dumps(list(conversation)).encode(), digest_size=16).hexdigest()
