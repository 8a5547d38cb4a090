"""Counts what a check of a vault looks for: orphaned rows, lost rows, and memories of little value."""

from datetime import datetime

from recollectum.domain.records import dataclass
from recollectum.storage.port import Tx
from recollectum.storage.tables.trail import meta

#: The name in meta: the number of the ledger of erasures that a vault has processed.
LEDGER_POSITION = "erasures"
#: The name in meta: when the vault was last repaired.
_REPAIRED = "repaired"

#: Orphaned rows. Each query is one count.
_STRAYS = {
    "versions of missing memories": """
        SELECT count(*) FROM memory_versions WHERE memory_id NOT IN (SELECT id FROM memories)
    """,
    "citations of missing memories": """
        SELECT count(*) FROM citations WHERE memory_id NOT IN (SELECT id FROM memories)
    """,
    "messages after the end of their session": """
        SELECT count(*) FROM messages JOIN sessions ON sessions.id = session_id WHERE position > message_count
    """,
    "memories replaced by a missing memory": """
        SELECT count(*) FROM memories AS old WHERE superseded_by IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM memories WHERE id = old.superseded_by)
    """,
}
#: Lost rows, which a repair cannot restore.
_GAPS = {
    "memories that lack one of their earlier versions": """
        SELECT count(*) FROM memories WHERE version - 1 > (
            SELECT count(*) FROM memory_versions WHERE memory_id = memories.id)
    """,
    "messages that are missing from their session": """
        SELECT coalesce(sum(missing), 0)
          FROM (SELECT message_count - (SELECT count(*) FROM messages WHERE session_id = sessions.id) AS missing
                  FROM sessions) AS counted
         WHERE missing > 0
    """,
}
_WORTH = """
    WITH live AS (SELECT * FROM memories WHERE state IN ('active', 'archived') AND superseded_by IS NULL)
    SELECT (SELECT count(*) FROM live),
           (SELECT coalesce(sum(alike - 1), 0) FROM (SELECT count(*) AS alike FROM live
                GROUP BY fingerprint, kind, key, valid_from, valid_to) AS counted),
           (SELECT count(*) FROM live WHERE importance < 0.2),
           (SELECT count(*) FROM jobs WHERE state = 'failed')
"""
_MARKED_TEXTS = "SELECT content, fingerprint FROM memories"


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """Counts of memories that may not be worth keeping; how often a memory is recalled is not recorded."""

    live: int
    duplicates: int
    #: With an importance below 0.2.
    slight: int
    failed_jobs: int


def strays(tx: Tx) -> dict[str, int]:
    """Count the orphaned rows of a vault, by kind."""
    return _counted(tx, _STRAYS)


def gaps(tx: Tx) -> dict[str, int]:
    """Count the rows that a vault has lost, by kind."""
    return _counted(tx, _GAPS)


def note_repair(tx: Tx, at: datetime) -> None:
    """Record that the vault was made from what could be read of a damaged one."""
    meta.save(tx, _REPAIRED, at.isoformat())


def was_repaired(tx: Tx) -> bool:
    """Return whether rows may be missing since a repair."""
    return meta.find(tx, _REPAIRED) is not None


def was_purged(tx: Tx) -> bool:
    """Return whether rows may be missing because they were erased on request."""
    return meta.find(tx, LEDGER_POSITION) is not None


def worth(tx: Tx) -> Worth:
    """Count the memories that repeat another, and those of low importance."""
    live, twice, slight, failed = tx.rows(_WORTH, {})[0]
    return Worth(live=live, duplicates=twice, slight=slight, failed_jobs=failed)


def marked_texts(tx: Tx) -> list[tuple[str, str]]:
    """Return the text of every memory, with its stored fingerprint."""
    return [(text, mark) for text, mark in tx.rows(_MARKED_TEXTS, {})]


def _counted(tx: Tx, rules: dict[str, str]) -> dict[str, int]:
    counts = {rule: tx.rows(sql, {})[0][0] for rule, sql in rules.items()}
    return {rule: count for rule, count in counts.items() if count}
