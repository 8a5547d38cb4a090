"""What a process remembers of a vault between two writes is what the vault holds, whoever else writes."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollectum.domain.event import EventType
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.trail import events, meta
from tests.plugins.postgres import PostgresDatabase
from tests.storage.postgres.cutting_proxy import CuttingProxy, proxied
from tests.storage.postgres.engines import ANN, engine_of, vault_of

_NOW = datetime(2026, 11, 18, tzinfo=UTC)


@pytest.fixture
def programs(postgres: PostgresDatabase, tmp_path: Path) -> Iterator[tuple[Database, Database, CuttingProxy]]:
    """One vault, open in two programs; the first one's statements are counted."""
    with ExitStack() as stack:
        proxy, url = stack.enter_context(proxied(postgres))
        first = stack.enter_context(vault_of(engine_of(tmp_path / "one", url)))
        other = engine_of(tmp_path / "two", postgres.url()).open_vault(f"vlt_{ANN.name}", ANN, None)
        stack.callback(other.close)
        yield first, other, proxy


def _find(tx: Tx) -> str | None:
    return meta.find_kept(tx, "clock")


def _tell(tx: Tx, name: str = "mem_1") -> None:
    events.add(tx, EventType.CREATED, "memory", name, at=_NOW, actor="user:ann")


def _numbers(vault: Database) -> list[int]:
    return vault.read(lambda tx: [one.number for one in reversed(events.page(tx, before=None, type=None, limit=100))])


def test_a_small_table_is_read_once_while_nobody_writes_to_it(
    programs: tuple[Database, Database, CuttingProxy],
) -> None:
    vault, _, proxy = programs
    vault.write(lambda tx: meta.save(tx, "clock", "1"))
    # A statement is described when it is sent first, and prepared when it is sent again.
    for _ in range(3):
        assert vault.write(lambda tx: (_tell(tx), _find(tx))[1]) == "1"
    trips = proxy.trips
    assert vault.write(_find) == vault.read(_find) == vault.write(lambda tx: (_tell(tx), _find(tx))[1]) == "1"
    # The event and the COMMIT after it.
    assert proxy.trips - trips == 1


def test_what_another_program_or_this_transaction_wrote_is_read(
    programs: tuple[Database, Database, CuttingProxy],
) -> None:
    vault, other, _ = programs
    for number in range(4):
        other.write(lambda tx, number=number: meta.save(tx, "clock", f"other {number}"))
        assert (vault.read if number % 2 else vault.write)(_find) == f"other {number}"
        assert vault.write(_find) == f"other {number}"

        def change(tx: Tx, number: int = number) -> tuple[str | None, str | None]:
            before = _find(tx)
            meta.save(tx, "clock", f"own {number}")
            return before, _find(tx)

        assert vault.write(change) == (f"other {number}", f"own {number}")
        assert vault.read(_find) == other.read(_find) == f"own {number}"


def test_a_write_that_failed_leaves_nothing_in_memory(programs: tuple[Database, Database, CuttingProxy]) -> None:
    vault, _, _ = programs
    vault.write(lambda tx: (meta.save(tx, "clock", "1"), _tell(tx)))

    def fail(tx: Tx) -> None:
        meta.save(tx, "clock", "2")
        _tell(tx)
        assert _find(tx) == "2"
        raise LookupError

    with pytest.raises(LookupError):
        vault.write(fail)
    assert vault.write(_find) == "1"
    vault.write(_tell)
    assert _numbers(vault) == [1, 2]


def test_programs_that_write_in_turn_number_their_rows_without_a_gap(
    programs: tuple[Database, Database, CuttingProxy],
) -> None:
    vault, other, _ = programs
    rows = [{"at": 1, "type": "created", "subject": "memory", "actor": "a", "state": None, "payload": None}] * 3
    given = [{**row, "subject_id": f"mem_{n}"} for n, row in enumerate(rows)]
    add = "INSERT INTO events (at, type, subject, subject_id, actor, state, payload) VALUES (:at, :type, :subject, " + (
        ":subject_id, :actor, :state, :payload)"
    )
    for turn in range(3):
        (vault, other)[turn % 2].write(lambda tx: (_tell(tx), tx.add_rows(add, given), _tell(tx)))
        # A row that the server numbers, between those that a program numbers.
        vault.write(lambda tx: tx.run(add.replace("INTO events", 'INTO "events"'), given[0]))
        vault.write(_tell)
    assert _numbers(vault) == list(range(1, 22))
    vault.write(lambda tx: tx.run("DELETE FROM events WHERE number > 20", {}))
    vault.write(_tell)
    assert _numbers(vault)[-1] == 22


def test_no_statement_is_compiled_before_it_runs(programs: tuple[Database, Database, CuttingProxy]) -> None:
    vault, _, _ = programs
    asked = "SELECT current_setting('jit') AS jit, :any AS any"
    for run in (vault.read, vault.write):
        assert run(lambda tx: tx.rows(asked, {"any": "x"}))[0][0] == "off"
