"""The step that merges small tables keeps the rows of each of them."""

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import apsw
import pytest

from recollectum.domain.ids import system_clock
from recollectum.storage.engine import VAULT
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.migrate import migrate, shipped
from recollectum.storage.tables.content import imports, transcripts, versions
from recollectum.storage.tables.erasure import erased_items, purge_samples
from recollectum.storage.tables.erasure.erased_items import PurgeItemKind
from recollectum.storage.tables.index import coarse
from recollectum.storage.tables.learning import forgotten_spans, learnings, proposals
from recollectum.storage.tables.trail import quarantines, seals, undo
from tests.upgrades.rows import VAULT as ROWS

_AT = 1_767_225_600_000_000
_WHEN = datetime.fromtimestamp(_AT / 1_000_000, UTC)
_PROPOSAL = """
    INSERT INTO proposals VALUES (?, 'run_1', ?, 'update', ?, 'fact', 0.5, NULL, 'said so', 'owner', 'rules', 1, ?, ?,
        ?, ?, NULL, NULL, ?)
"""
_QUOTE = json.dumps([["msg_1", 0, 6], ["msg_1", 7, 9], ["msg_2", 0, 4]])
_SPECIAL = (
    "INSERT INTO generations (id, identity, state, created_at) VALUES (4, 'model', 'current', 1)",
    "INSERT INTO vectors VALUES (4, 1, x'01'), (4, 2, x'02')",
    "INSERT INTO coarse (id, generation, size, rounds, done) VALUES (6, 4, 7, 3, 2)",
    "INSERT INTO coarse_middles VALUES (6, x'0a0b')",
    "INSERT INTO coarse_lists VALUES (4, 1, 9), (4, 2, 8)",
    "INSERT INTO transcript_roots (number, path, added_at) VALUES (5, '/gone', 1)",
    "DELETE FROM transcript_roots WHERE number = 5",
    "INSERT INTO barred VALUES ('mem_1', 'msg_1', 0, 6), ('mem_2', 'msg_1', 0, 6)",
    f"INSERT INTO learning_days VALUES ('mem_3', '2025-12-24', {_AT})",
    f"INSERT INTO quarantines VALUES ('qua_1', 'agent:coder', 'archived', 'process', {_AT}, NULL)",
    f"INSERT INTO quarantines VALUES ('qua_2', 'agent:other', 'archived', 'process', {_AT}, NULL)",
    "INSERT INTO quarantined_messages VALUES ('msg_2', 'qua_1')",
    "INSERT INTO quarantined_memories VALUES ('mem_2', 'qua_1'), ('mem_3', 'qua_1'), ('mem_3', 'qua_2')",
    f"INSERT INTO rejected VALUES ('a finding', {_AT})",
    f"""INSERT INTO purges VALUES ('pur_1', 'session', 'digest', 'process', {_AT}, 'pending', '{{"messages": 2}}')""",
    f"INSERT INTO purges VALUES ('pur_0', 'session', 'digest', 'process', {_AT}, 'done', '{{}}')",
    "INSERT INTO purge_items VALUES ('pur_1', 2, 'msg_9')",
    f"INSERT INTO purges VALUES ('pur_2', 'session', 'digest', 'process', {_AT}, 'failed', '{{}}')",
    "INSERT INTO purge_samples VALUES ('pur_2', 'd', 'b')",
    "INSERT INTO undo_steps VALUES (3, 5, 'run_1 run_2')",
    "UPDATE memories SET version = 2, content = 'Grace is allergic to all nuts' WHERE id = 'mem_1'",
)


@pytest.fixture(scope="module")
def upgraded_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault of schema 20 with rows in every table that the next step changes, brought to the present schema."""
    path = tmp_path_factory.mktemp("upgraded") / "vault.db"
    steps = shipped(VAULT)
    older = SqliteDatabase(path, SqliteOptions())
    migrate(older, steps[:20], clock=system_clock, backup=str)
    older.close()
    connection = connect(path)
    with connection:
        _fill(connection)
    connection.close()
    database = SqliteDatabase(path, SqliteOptions())
    migrate(database, steps, clock=system_clock, backup=str)
    database.close()
    return path


@pytest.fixture
def upgraded(upgraded_file: Path, tmp_path: Path) -> Iterator[SqliteDatabase]:
    """A copy of the upgraded vault, for one test."""
    shutil.copyfile(upgraded_file, tmp_path / "vault.db")
    database = SqliteDatabase(tmp_path / "vault.db", SqliteOptions())
    yield database
    database.close()


def _fill(connection: apsw.Connection) -> None:
    for table, rows in ROWS.items():
        # A later step adds the others.
        there = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)).fetchall()
        for row in rows if there else ():
            names = ", ".join(row)
            connection.execute(
                f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values())
            )
    for sql in _SPECIAL:
        connection.execute(sql)
    connection.execute(_PROPOSAL, ("prp_1", "ses_1", "waits", _QUOTE, "one", "waiting", _AT, None))
    connection.execute(_PROPOSAL, ("prp_2", None, "was approved", "[]", "two", "approved", _AT, "mem_2"))
    connection.execute("INSERT INTO proposal_targets VALUES ('prp_1', 0, 'mem_3', 4), ('prp_1', 1, 'mem_1', 2)")


def test_no_reference_is_broken_and_every_row_can_be_sealed(upgraded: SqliteDatabase) -> None:
    assert upgraded.on_connection(lambda connection: connection.execute("PRAGMA foreign_key_check").fetchall()) == []
    upgraded.write(seals.seal)
    assert upgraded.read(lambda tx: (seals.changed(tx), seals.orphaned(tx))) == ([], 0)


def test_the_coarse_layer_is_kept_and_its_number_is_not_used_again(upgraded: SqliteDatabase) -> None:
    layer = upgraded.read(lambda tx: coarse.find(tx, 4))
    assert layer == coarse.IvfProgress(generation=4, number=6, size=7, rounds=3, done=2)
    assert layer
    assert upgraded.read(lambda tx: coarse.centroids(tx, layer)) == b"\x0a\x0b"
    assert upgraded.read(lambda tx: coarse.cells(tx, 4, 0, 9)) == [(1, 9), (2, 8)]
    upgraded.write(coarse.drop_all)
    assert upgraded.read(lambda tx: (coarse.find(tx, 4), coarse.cells(tx, 4, 0, 9))) == (None, [])
    upgraded.write(lambda tx: coarse.begin(tx, 4, 11, b"new"))
    again = upgraded.read(lambda tx: coarse.find(tx, 4))
    assert again == coarse.IvfProgress(generation=4, number=7, size=11, rounds=0, done=0)
    assert again
    # Somebody who still holds the earlier layer changes nothing of the new one.
    upgraded.write(lambda tx: coarse.drop(tx, layer))
    assert upgraded.read(lambda tx: coarse.centroids(tx, again)) == b"new"


def test_two_generations_are_never_in_one_state(upgraded: SqliteDatabase) -> None:
    add = "INSERT INTO generations (identity, state, created_at) VALUES ('other', :state, 1)"
    with pytest.raises(Exception, match="two generations in one state"):
        upgraded.write(lambda tx: tx.run(add, {"state": "current"}))
    upgraded.write(lambda tx: tx.run(add, {"state": "building"}))
    with pytest.raises(Exception, match="two generations in one state"):
        upgraded.write(lambda tx: tx.run("UPDATE generations SET state = 'current' WHERE state = 'building'", {}))


def test_followed_paths_keep_their_numbers_and_never_use_one_again(upgraded: SqliteDatabase) -> None:
    (root,) = upgraded.read(transcripts.roots)
    assert (root.number, root.path, root.files) == (1, "/transcripts", 1)
    added = [
        upgraded.write(lambda tx: transcripts.add_root(tx, "/b", agent=None, channel=None, at=_WHEN)) for _ in "12"
    ]
    assert added == [True, False]
    assert [one.number for one in upgraded.read(transcripts.roots)] == [6, 1]
    upgraded.write(lambda tx: transcripts.remove_root(tx, 1))
    assert upgraded.read(lambda tx: transcripts.find(tx, "/transcripts/a.jsonl")) is None


def test_imports_versions_and_forgotten_spans_are_kept(upgraded: SqliteDatabase) -> None:
    (one,) = upgraded.read(lambda tx: imports.page(tx, cursor=None, limit=9))
    assert (one.id, one.sessions, one.messages) == ("imp_1", 1, 2)
    assert upgraded.read(lambda tx: imports.messages_of(tx, "imp_1")) == {"msg_1", "msg_2"}
    assert [one.content for one in upgraded.read(lambda tx: versions.of(tx, "mem_2"))] == ["The bicycle is in the shed"]
    assert len(upgraded.read(lambda tx: forgotten_spans.of_session(tx, "ses_1"))) == 1
    upgraded.write(lambda tx: forgotten_spans.remove(tx, "mem_1"))
    assert upgraded.read(lambda tx: tx.rows("SELECT memory_id FROM barred", {})) == [("mem_2",)]


def test_what_was_quarantined_still_is(upgraded: SqliteDatabase) -> None:
    first, second = upgraded.read(lambda tx: quarantines.page(tx, before=None, limit=9))
    assert (first.id, first.messages, first.memories) == ("qua_2", 0, 1)
    assert (second.id, second.messages, second.memories) == ("qua_1", 1, 2)
    assert upgraded.read(lambda tx: quarantines.holder(tx, "msg_2")) == "qua_1"
    # A message that another quarantine covers stays with that one, and goes when it is deleted.
    upgraded.write(lambda tx: quarantines.add_message(tx, "qua_2", "msg_2"))
    assert upgraded.read(lambda tx: quarantines.messages_of(tx, "qua_2")) == []
    upgraded.write(lambda tx: tx.run("DELETE FROM messages WHERE id = 'msg_2'", {}))
    upgraded.write(lambda tx: tx.run("DELETE FROM memories WHERE id = 'mem_3'", {}))
    assert upgraded.read(lambda tx: tx.rows("SELECT item, quarantine_id FROM quarantined", {})) == [("mem_2", "qua_1")]


def test_days_undo_rejections_and_purges_are_kept(upgraded: SqliteDatabase) -> None:
    assert upgraded.read(lambda tx: learnings.find_day(tx, "mem_3")) == (date(2025, 12, 24), _WHEN)
    assert upgraded.read(lambda tx: learnings.find_day(tx, "mem_1")) is None
    (line,) = upgraded.read(lambda tx: learnings.lines(tx, "main"))
    assert (line.memory_id, line.category, line.digest, line.day) == ("mem_3", "preference", "d", date(2026, 1, 1))
    assert upgraded.read(learnings.agents) == [None, "main"]
    assert upgraded.read(lambda tx: learnings.count_lines(tx, {"mem_1", "mem_3"})) == 1
    assert upgraded.read(lambda tx: proposals.is_rejected(tx, "a finding"))
    (purge,) = upgraded.read(erased_items.unfinished)
    assert (purge.id, purge.kind, purge.state, purge.at, purge.counts) == (
        "pur_1", "session", "pending", _WHEN, {"messages": 2},
    )  # fmt: skip
    assert upgraded.read(lambda tx: erased_items.items(tx, "pur_1")) == [(PurgeItemKind.MESSAGE, "msg_9")]
    assert [one.id for one in upgraded.read(erased_items.unproven)] == ["pur_2"]
    assert upgraded.read(lambda tx: purge_samples.of(tx, "pur_2")) == [("b", "d")]
    upgraded.write(lambda tx: erased_items.set_state(tx, "pur_1", "done"))
    assert upgraded.read(erased_items.unfinished) == []
    assert upgraded.read(lambda tx: tx.rows("SELECT memory_id, version FROM undo_rows", {})) == [("mem_1", 1)]
    upgraded.write(lambda tx: tx.run("UPDATE memories SET version = 3 WHERE id = 'mem_1'", {}))
    step = undo.Range(3, 5, ("run_1", "run_2"))
    assert [upgraded.read(lambda tx, n=number: undo.step_around(tx, n)) for number in (2, 3, 5, 6)] == [
        None, step, step, None,
    ]  # fmt: skip
    later = undo.Range(12, 12)
    upgraded.write(lambda tx: undo.add_step(tx, later))
    assert upgraded.read(lambda tx: (undo.step_around(tx, 4), undo.step_around(tx, 12))) == (step, later)
    rows = upgraded.read(lambda tx: tx.rows("SELECT memory_id, key, version FROM undo_rows ORDER BY number", {}))
    assert rows == [("mem_1", "grace", 1), ("mem_1", "grace", 2)]


def test_proposals_are_found_by_everything_they_are_about(upgraded: SqliteDatabase) -> None:
    assert upgraded.read(lambda tx: proposals.versions(tx, "prp_1")) == {"mem_3": 4, "mem_1": 2}
    found = upgraded.read(lambda tx: proposals.find(tx, "prp_1"))
    assert found
    assert found.finding.targets == ("mem_3", "mem_1")
    assert upgraded.read(lambda tx: proposals.texts_of_session(tx, "ses_1")) == ["waits", "said so"]
    assert upgraded.write(lambda tx: proposals.remove_about(tx, "mem_2")) == ["was approved", "said so"]
    assert upgraded.read(lambda tx: tx.rows("SELECT DISTINCT proposal_id FROM proposal_items", {})) == [("prp_1",)]


@pytest.mark.parametrize("gone", ["message", "session"])
def test_a_proposal_goes_with_what_it_quotes(upgraded: SqliteDatabase, gone: str) -> None:
    if gone == "message":
        assert upgraded.write(lambda tx: proposals.remove_quoting(tx, "msg_1")) == ["waits", "said so"]
    else:
        upgraded.write(lambda tx: tx.run("DELETE FROM sessions WHERE id = 'ses_1'", {}))
    assert upgraded.read(lambda tx: tx.rows("SELECT id FROM proposals", {})) == [("prp_2",)]
    assert upgraded.read(lambda tx: tx.rows("SELECT item FROM proposal_items", {})) == [("mem_2",)]
