"""Reads and writes the generations table: the embedder that recall uses now and the one being built."""

from datetime import datetime
from enum import StrEnum

from recollectum.domain.records import dataclass
from recollectum.storage.port import Row, Tx
from recollectum.storage.times import micros, moment, moment_or_none


class GenerationState(StrEnum):
    """The role of a generation."""

    BUILDING = "building"
    CURRENT = "current"
    PREVIOUS = "previous"


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """The vectors of one embedder in a vault."""

    id: int
    #: `EmbedderIdentity.text_key()` of the embedder that made its vectors.
    identity: str
    state: GenerationState
    #: Every chunk up to this number has a vector.
    done: int
    removed: int
    created_at: datetime
    swapped_at: datetime | None


_COLUMNS = "id, identity, state, done, removed, created_at, swapped_at"
_ADD = f"""
    INSERT INTO generations (identity, state, created_at) VALUES (:identity, :state, :at) RETURNING {_COLUMNS}
"""  # noqa: S608  (constants of this file)
_FIND = f"SELECT {_COLUMNS} FROM generations WHERE state = :state"  # noqa: S608
_ALL = f"SELECT {_COLUMNS} FROM generations ORDER BY id"  # noqa: S608
_ADVANCE = "UPDATE generations SET done = :done WHERE id = :id AND done < :done"
_REMOVED = "UPDATE generations SET removed = removed + :count WHERE id = :id"
_MOVE = "UPDATE generations SET state = :state, swapped_at = :at WHERE id = :id"
_DROP = "DELETE FROM generations WHERE id = :id"


def add(tx: Tx, identity: str, state: GenerationState, at: datetime) -> Generation:
    """Begin a generation."""
    return _from_row(tx.rows(_ADD, {"identity": identity, "state": state.value, "at": micros(at)})[0])


def find(tx: Tx, state: GenerationState) -> Generation | None:
    """Return the generation in a state, or None; there is at most one in each state."""
    rows = tx.rows(_FIND, {"state": state.value})
    return _from_row(rows[0]) if rows else None


def everything(tx: Tx) -> list[Generation]:
    """Return all generations, oldest first."""
    return [_from_row(row) for row in tx.rows(_ALL, {})]


def advance(tx: Tx, generation: int, done: int) -> bool:
    """Record the last embedded chunk of a generation; return False when it was recorded before."""
    return tx.run(_ADVANCE, {"id": generation, "done": done}) == 1


def count_removed(tx: Tx, generation: int, count: int) -> None:
    """Record that vectors were deleted."""
    tx.run(_REMOVED, {"id": generation, "count": count})


def move(tx: Tx, generation: int, state: GenerationState, at: datetime) -> None:
    """Set the state of a generation."""
    tx.run(_MOVE, {"id": generation, "state": state.value, "at": micros(at)})


def drop(tx: Tx, generation: int) -> None:
    """Delete a generation and its vectors."""
    tx.run(_DROP, {"id": generation})


def _from_row(row: Row) -> Generation:
    return Generation(
        id=row[0],
        identity=row[1],
        state=GenerationState(row[2]),
        done=row[3],
        removed=row[4],
        created_at=moment(row[5]),
        swapped_at=moment_or_none(row[6]),
    )
