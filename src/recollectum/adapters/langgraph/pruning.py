"""Decides which records of a thread stay when checkpoints are destroyed."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from recollectum.adapters.langgraph.thread_log import ThreadRecord

if TYPE_CHECKING:
    from langgraph.checkpoint.base import Checkpoint
    from langgraph.checkpoint.serde.base import SerializerProtocol

#: The namespace and the id of a checkpoint.
Place = tuple[str, str]
Found = dict[Place, list[ThreadRecord]]
#: The metadata that names channels whose value is made of the writes since an earlier checkpoint.
_DELTAS = "counters_since_delta_snapshot"


def by_place(records: Iterable[ThreadRecord]) -> Found:
    """Return the records of each checkpoint by its place; writes whose checkpoint is not there are left out."""
    found: Found = {}
    for record in records:
        found.setdefault(record.place, []).append(record)
    return {place: several for place, several in found.items() if any(one.is_checkpoint for one in several)}


def written(records: Sequence[ThreadRecord]) -> ThreadRecord:
    """Return the checkpoint among its records, as it was written last."""
    return next(one for one in reversed(records) if one.is_checkpoint)


class Lineage:
    """Reads from checkpoints which earlier ones their delta channels are made of."""

    def __init__(self, serde: "SerializerProtocol") -> None:
        self._serde = serde

    def latest(self, records: Sequence[ThreadRecord]) -> list[ThreadRecord]:
        """Return the records of the latest checkpoint of each namespace, and writes that wait for their checkpoint."""
        found = by_place(records)
        latest: dict[str, Place] = {}
        for place in sorted(found):
            latest[place[0]] = place
        kept = {place for one in latest.values() for place in self._of(one, found)}
        return [one for one in records if one.place in kept or one.place not in found]

    def of_runs(self, found: Found, runs: set[str]) -> set[Place]:
        """Return the checkpoints of runs; raise when one that stays is made of them."""
        gone = {place for place, records in found.items() if self._metadata(records).get("run_id") in runs}
        if any(self._of(place, found) & gone for place in found.keys() - gone):
            raise ValueError(
                "a thread has delta channels that need checkpoints of these runs; delete the thread, or later runs too"
            )
        return gone

    def _of(self, place: Place, found: Found) -> set[Place]:
        """Return a checkpoint and those before it that its delta channels are made of."""
        needed = set(cast("dict[str, object]", self._metadata(found[place]).get(_DELTAS) or {}))
        kept: set[Place] = set()
        at: Place | None = place
        while at in found and (needed or not kept):
            kept.add(at)
            record = written(found[at])
            needed -= set(cast("Checkpoint", self._serde.loads_typed(record.blobs[0]))["channel_values"])
            parent = record.head["parent"]
            at = (place[0], str(parent)) if parent else None
        return kept

    def _metadata(self, records: Sequence[ThreadRecord]) -> dict[str, Any]:
        return cast("dict[str, Any]", self._serde.loads_typed(written(records).blobs[1]))
