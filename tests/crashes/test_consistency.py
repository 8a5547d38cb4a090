"""The examination that follows every crash sees each kind of half-made change; without that it would prove nothing."""

import random
from pathlib import Path

import apsw
import pytest

from recollectum.storage.sqlite.database import SqliteOptions
from tests.crashes.consistency import disagreements
from tests.crashes.ledger import Intent, Ledger, Seen, look, lost, unexplained
from tests.crashes.scribe import Scribe
from tests.crashes.standing import standing

_SABOTAGE = {
    "event of making": "DELETE FROM events WHERE number = (SELECT min(number) FROM events WHERE type = 'created')",
    "event of a change": "DELETE FROM events WHERE number = (SELECT max(number) FROM events WHERE type = 'edited')",
    "state": "UPDATE memories SET state = 'archived' WHERE number = (SELECT max(number) FROM memories)",
    "version": "DELETE FROM memory_versions WHERE version = 1",
    "row": "DELETE FROM memories WHERE number = (SELECT max(number) FROM memories)",
    "successor": "DELETE FROM memories WHERE supersedes IS NOT NULL",
    "message": "DELETE FROM messages WHERE position = 1",
    "opening": "DELETE FROM events WHERE type = 'opened'",
    "piece": "DELETE FROM chunks WHERE number = (SELECT max(number) FROM chunks)",
    "terms": "DELETE FROM search WHERE rowid = (SELECT max(number) FROM chunks)",
    "other terms": "DELETE FROM search_data WHERE id = (SELECT max(id) FROM search_data)",
}


@pytest.mark.parametrize("sql", _SABOTAGE.values(), ids=_SABOTAGE)
def test_a_half_made_change_is_seen(tmp_path: Path, sql: str) -> None:
    with standing(tmp_path / "vault.db", SqliteOptions()) as at:
        scribe = Scribe(at.vault, "ann", random.Random(7))
        for _ in range(60):
            scribe.step()
        at.vault.sessions.open(channel="test", agent="main").add("user", "one message at least")
        assert disagreements(at.database) == []
        at.database.on_connection(lambda connection: _sabotage(connection, sql))
        assert disagreements(at.database)


def _sabotage(connection: apsw.Connection, sql: str) -> None:
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    connection.execute(sql).fetchall()
    assert connection.changes()


def test_a_lost_write_and_one_from_nowhere_are_seen(tmp_path: Path) -> None:
    with standing(tmp_path / "vault.db", SqliteOptions()) as at:
        scribe = Scribe(at.vault, "ann", random.Random(7))
        for _ in range(60):
            scribe.step()
        ledger = scribe.ledger
        seen = at.database.read(look)
    assert lost(ledger, seen) == []
    assert unexplained([ledger], seen) == []
    for one in (*ledger.memories, *ledger.messages):
        without = Seen(
            {memory: known for memory, known in seen.memories.items() if memory != one},
            {message: said for message, said in seen.messages.items() if message != one},
        )
        assert len(lost(ledger, without)) == 1
    assert len(unexplained([Ledger()], seen)) == len(seen.memories) + len(seen.messages)


def test_an_unanswered_call_may_have_ended_either_way_but_not_in_between() -> None:
    ledger = Ledger(memories={"m": ("active", ("one",))}, begun=Intent("edit", "m", "two"))
    for known, losses in ((("active", ("one",)), 0), (("active", ("one", "two")), 0), (("active", ("two",)), 1)):
        assert len(lost(ledger, Seen({"m": known}, {}))) == losses
    dropping = Ledger(messages={"a": ("s", "one"), "b": ("s", "two")}, begun=Intent("drop", "s"))
    for left, halves in (({"a", "b"}, 0), (set[str](), 0), ({"a"}, 1)):
        seen = Seen({}, {one: said for one, said in dropping.messages.items() if one in left})
        assert lost(dropping, seen) == []
        assert len(unexplained([dropping], seen)) == halves
