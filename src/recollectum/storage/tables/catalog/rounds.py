"""Reads and writes the rounds table of the catalog: the last run of each kind of upkeep, and who runs it now.

A round in a vault is claimed under a lease by the statement that finds it. Only the server that holds the claim may
store the result.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import field
from datetime import datetime

from recollectum.domain.records import dataclass
from recollectum.storage.port import Row, Tx
from recollectum.storage.times import micros, moment

_COLUMNS = "name, vault, every_seconds, started_at, finished_at, next_at, failures, counts, trouble, seen"
# A vault may have been destroyed while a round of upkeep ran on it.
_SAVE = f"""
    INSERT INTO rounds ({_COLUMNS})
    SELECT :name, :vault, :every_seconds, :started_at, :finished_at, :next_at, :failures, :counts, :trouble, :seen
    WHERE CAST(:vault AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM vaults WHERE id = :vault)
    ON CONFLICT (name, coalesce(vault, '')) DO UPDATE SET
        every_seconds = excluded.every_seconds, started_at = excluded.started_at, finished_at = excluded.finished_at,
        next_at = excluded.next_at, failures = excluded.failures, counts = excluded.counts,
        trouble = excluded.trouble, seen = excluded.seen
"""  # noqa: S608  (constants of this file)
_ALL = f"SELECT {_COLUMNS} FROM rounds ORDER BY name, coalesce(vault, '')"  # noqa: S608  (see above)
_OF = f"SELECT {_COLUMNS} FROM rounds WHERE name = :name"  # noqa: S608  (see above)
_OF_HOME = f"SELECT {_COLUMNS} FROM rounds WHERE name = :name AND vault IS NULL"  # noqa: S608  (see above)
_FAILING = "SELECT count(*) FROM rounds WHERE name = :name AND vault IS NOT NULL AND trouble IS NOT NULL"
# A vault is due when it has no row, when its time has come, when a clock was set back, or after a write to it, unless
# the last run failed. A mark that ends in a question mark is so recent that its write may not have been seen.
# Of two servers that find the same row, the second changes nothing: it has a claim by then, or another result.
_CLAIM = f"""
    INSERT INTO rounds ({_COLUMNS}, claim, lease_until)
    SELECT :name, v.id, :every_seconds, 0, coalesce(r.finished_at, 0), 0, 0, '{{}}', NULL, '', :claim, :until
      FROM written(:marks) AS w INNER JOIN vaults AS v ON v.id = w.vault
      LEFT JOIN rounds AS r ON r.name = :name AND coalesce(r.vault, '') = v.id
     WHERE (r.lease_until IS NULL OR r.lease_until <= :now)
       AND (:everything = 1 OR r.name IS NULL OR r.next_at <= :now OR r.started_at > :now
            OR (r.failures = 0 AND (r.seen <> w.mark OR r.seen LIKE '%?')
                AND r.finished_at + r.every_seconds * 1000000 <= :now))
       AND v.id NOT IN (SELECT value FROM texts(:visited))
     ORDER BY coalesce(r.next_at, 0), v.id LIMIT :most FOR NO KEY UPDATE OF v SKIP LOCKED
    ON CONFLICT (name, coalesce(vault, '')) DO UPDATE SET claim = excluded.claim, lease_until = excluded.lease_until
     WHERE (rounds.lease_until IS NULL OR rounds.lease_until <= :now) AND rounds.finished_at = excluded.finished_at
    RETURNING {_COLUMNS}
"""  # noqa: S608  (see above)
_CLAIM_HOME = f"""
    INSERT INTO rounds ({_COLUMNS}, claim, lease_until)
    VALUES (:name, NULL, :every_seconds, 0, 0, 0, 0, '{{}}', NULL, '', :claim, :until)
    ON CONFLICT (name, coalesce(vault, '')) DO UPDATE SET claim = excluded.claim, lease_until = excluded.lease_until
     WHERE (rounds.lease_until IS NULL OR rounds.lease_until <= :now)
       AND (:everything = 1 OR rounds.next_at <= :now OR rounds.started_at > :now)
    RETURNING {_COLUMNS}
"""  # noqa: S608  (see above)
_RENEW = "UPDATE rounds SET lease_until = :until WHERE claim = :claim"
_RELEASE = "UPDATE rounds SET claim = NULL, lease_until = NULL WHERE claim = :claim"
# What the round itself wrote is no reason to run again: the mark is read at the end.
_FINISH = """
    UPDATE rounds SET every_seconds = :every_seconds, started_at = :started_at, finished_at = :finished_at,
           next_at = :next_at, failures = :failures, counts = :counts, trouble = :trouble, claim = NULL,
           lease_until = NULL,
           seen = coalesce((SELECT w.mark FROM written(:marks) AS w WHERE w.vault = :vault), '')
     WHERE name = :name AND coalesce(vault, '') = coalesce(CAST(:vault AS TEXT), '') AND claim = :claim
"""
_NEVER = moment(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRow:
    """The last run of one kind of upkeep, in the whole home or in one vault."""

    name: str
    #: The id of the vault; None for the whole home.
    vault: str | None
    every_seconds: float
    started_at: datetime
    finished_at: datetime
    next_at: datetime
    #: The number of failures in a row.
    failures: int = 0
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    trouble: str | None = None
    seen: str = ""

    @property
    def was_made(self) -> bool:
        """Whether the round ever ended; a row without that was made by a claim."""
        return self.started_at > _NEVER


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundClaim:
    """One server's claim on a round, and until when it holds unless it is renewed."""

    #: Random, so that it is nobody else's.
    token: str
    name: str
    every_seconds: float
    now: datetime
    until: datetime
    #: Whether a round that is not due is claimed too.
    everything: bool = False


def claim(
    tx: Tx, wanted: RoundClaim, marks: Mapping[str, str], visited: Collection[str], most: int
) -> dict[str, RoundRow | None]:
    """Claim the round in the vaults that are due and that nobody works on, longest waiting first.

    Return the last run in each; None in a vault that had none. An engine that counts writes needs no marks.
    """
    given = {"marks": json.dumps(dict(marks)), "visited": json.dumps(list(visited)), "most": most}
    rows = [_from_row(row) for row in tx.rows(_CLAIM, {**_claim_params(wanted), **given})]
    rows.sort(key=lambda row: (row.next_at, row.vault or ""))
    return {row.vault: row if row.was_made else None for row in rows if row.vault}


def claim_home(tx: Tx, wanted: RoundClaim) -> "tuple[RoundRow | None] | None":
    """Claim the round of the whole home; return its last run in a tuple, or None when it is not due or not free."""
    rows = tx.rows(_CLAIM_HOME, _claim_params(wanted))
    if not rows:
        return None
    last = _from_row(rows[0])
    return (last if last.was_made else None,)


def renew(tx: Tx, token: str, until: datetime) -> int:
    """Extend every lease of a claim; return how many it still holds."""
    return tx.run(_RENEW, {"claim": token, "until": micros(until)})


def release(tx: Tx, token: str) -> None:
    """Release what a claim still holds, so that another server can take it at once."""
    tx.run(_RELEASE, {"claim": token})


def finish(tx: Tx, row: RoundRow, token: str, marks: Mapping[str, str]) -> bool:
    """Store the result of a claimed round and release it; return False when the lease was lost or the vault is gone."""
    return tx.run(_FINISH, {**_params(row), "claim": token, "marks": json.dumps(dict(marks))}) == 1


def failing(tx: Tx, name: str) -> int:
    """Return in how many vaults the last run of a round failed."""
    return int(tx.rows(_FAILING, {"name": name})[0][0])


def of_home(tx: Tx, name: str) -> RoundRow | None:
    """Return the last run of a round in the whole home."""
    found = [_from_row(row) for row in tx.rows(_OF_HOME, {"name": name})]
    return found[0] if found and found[0].was_made else None


def save(tx: Tx, row: RoundRow) -> None:
    """Store the result of a round in place of the previous one; do nothing if its vault no longer exists."""
    tx.run(_SAVE, {**_params(row), "seen": row.seen})


def _claim_params(wanted: RoundClaim) -> dict[str, str | float | int]:
    return {
        "name": wanted.name,
        "every_seconds": wanted.every_seconds,
        "claim": wanted.token,
        "now": micros(wanted.now),
        "until": micros(wanted.until),
        "everything": int(wanted.everything),
    }


def _params(row: RoundRow) -> dict[str, str | float | int | None]:
    return {
        "name": row.name,
        "vault": row.vault,
        "every_seconds": row.every_seconds,
        "started_at": micros(row.started_at),
        "finished_at": micros(row.finished_at),
        "next_at": micros(row.next_at),
        "failures": row.failures,
        "counts": json.dumps(dict(row.counts)),
        "trouble": row.trouble,
    }


def everything(tx: Tx) -> list[RoundRow]:
    """Return every round of the home and of each vault, by name."""
    found = (_from_row(row) for row in tx.rows(_ALL, {}))
    return [one for one in found if one.was_made]


def by_vault(tx: Tx, name: str) -> dict[str | None, RoundRow]:
    """Return the rounds of one name, by the id of their vault; None is the whole home."""
    found = (_from_row(row) for row in tx.rows(_OF, {"name": name}))
    return {one.vault: one for one in found if one.was_made}


def _from_row(row: Row) -> RoundRow:
    return RoundRow(
        name=row[0],
        vault=row[1],
        every_seconds=row[2],
        started_at=moment(row[3]),
        finished_at=moment(row[4]),
        next_at=moment(row[5]),
        failures=row[6],
        counts=json.loads(row[7]),
        trouble=row[8],
        seen=row[9],
    )
