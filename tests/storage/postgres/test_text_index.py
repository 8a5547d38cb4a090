"""The text index on PostgreSQL: its rows of tokens, and what a process keeps of them in memory."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum.storage.port import Database, Tx
from recollectum.storage.postgres.engine import PostgresEngine
from recollectum.storage.postgres.full_text import token_cache
from recollectum.text.terms.analyser import Phrase
from tests.plugins.postgres import PostgresDatabase
from tests.storage.postgres.cutting_proxy import proxied
from tests.storage.postgres.engines import ANN, BOB, administer, engine_of, vault_of
from tests.storage.sqlite.text_indexes import scored


@pytest.fixture
def engine(postgres: PostgresDatabase, tmp_path: Path) -> PostgresEngine:
    engine = engine_of(tmp_path, postgres.url())
    engine.create_catalog(None).close()
    return engine


@pytest.fixture
def vault(engine: PostgresEngine) -> Iterator[Database]:
    with vault_of(engine) as database:
        yield database


def _found(vault: Database, *words: str) -> list[int]:
    return vault.read(lambda tx: sorted(scored(tx.text.matches([Phrase(word) for word in words]))))


def _add(vault: Database, **chunks: str) -> None:
    vault.write(lambda tx: tx.text.add((int(name[1:]), text) for name, text in chunks.items()))


def test_chunks_are_found_after_each_write(vault: Database) -> None:
    assert _found(vault, "oak") == []
    _add(vault, n1="oak and elm", n2="running oaks")
    assert _found(vault, "oak") == [1, 2]
    _add(vault, n7="an oak again")
    vault.write(lambda tx: tx.text.remove([1, 99]))
    assert _found(vault, "oak") == [2, 7]
    assert vault.read(lambda tx: tx.text.count()) == 2


def test_a_chunk_that_is_indexed_again_has_only_its_new_terms(vault: Database) -> None:
    _add(vault, n1="oak", n2="oak")

    def replace(tx: Tx) -> None:
        tx.text.remove([1])
        tx.text.add([(1, "elm")])

    vault.write(replace)
    assert (_found(vault, "oak"), _found(vault, "elm")) == ([2], [1])


def test_a_writer_sees_its_own_changes_and_nobody_sees_those_that_are_undone(vault: Database) -> None:
    _add(vault, n1="oak")
    assert _found(vault, "oak") == [1]
    seen: list[list[int]] = []

    def change(tx: Tx) -> None:
        for number in (2, 3):
            tx.text.add([(number, "oak")])
            seen.append(sorted(scored(tx.text.matches([Phrase("oak")]))))
        tx.text.remove([1])
        seen.append(sorted(scored(tx.text.matches([Phrase("oak")]))))
        raise KeyError("undo")

    with pytest.raises(KeyError):
        vault.write(change)
    assert seen == [[1, 2], [1, 2, 3], [2, 3]]
    assert _found(vault, "oak") == [1]
    _add(vault, n4="oak")
    assert _found(vault, "oak") == [1, 4]


def test_another_process_learns_of_every_change(engine: PostgresEngine, vault: Database) -> None:
    # A second opening has its own memory, as another process has.
    other = engine.open_vault("vlt_ann", ANN, None)
    try:
        _add(vault, n1="oak", n2="oak")
        assert _found(other, "oak") == [1, 2]
        vault.write(lambda tx: tx.text.remove([2]))
        assert _found(other, "oak") == [1]
        _add(other, n3="oak")
        assert _found(vault, "oak") == _found(other, "oak") == [1, 3]
    finally:
        other.close()


def test_a_reader_of_an_older_snapshot_finds_what_it_had(vault: Database) -> None:
    _add(vault, n1="oak")

    def read(tx: Tx) -> list[int]:
        # Others go on writing and asking in the meantime.
        for number in range(2, 6):
            vault.write(lambda other, number=number: other.text.add([(number, "oak")]))
            assert _found(vault, "oak") == list(range(1, number + 1))
        vault.write(lambda other: other.text.remove([1]))
        assert _found(vault, "oak") == [2, 3, 4, 5]
        return sorted(scored(tx.text.matches([Phrase("oak")])))

    assert vault.read(read) == [1]
    assert _found(vault, "oak") == [2, 3, 4, 5]


def test_one_vault_finds_nothing_of_another(engine: PostgresEngine, vault: Database) -> None:
    _add(vault, n1="oak")
    with vault_of(engine, BOB) as other:
        assert _found(other, "oak") == []
        _add(other, n1="elm", n2="oak")
        assert (_found(other, "oak"), _found(vault, "oak")) == ([2], [1])


@pytest.mark.parametrize("page", [1, 3, 10, 11])
def test_pages_of_any_size_give_the_same_index(vault: Database, monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    vault.write(lambda tx: tx.text.add((number, "oak " * number) for number in range(1, 11)))
    expected = vault.read(lambda tx: scored(tx.text.matches([Phrase("oak")])))
    monkeypatch.setattr(token_cache, "_PAGE", page)
    vault.erase_remains()
    assert vault.read(lambda tx: scored(tx.text.matches([Phrase("oak")]))) == expected
    vault.write(lambda tx: tx.text.remove(range(2, 11)))
    assert _found(vault, "oak") == [1]


def test_the_rows_hold_no_words_and_a_removed_one_no_tokens(postgres: PostgresDatabase, vault: Database) -> None:
    _add(vault, n1="zanzibar zanzibar", n2="oak")
    vault.write(lambda tx: tx.text.remove([2]))
    rows = administer(postgres, "SELECT number, terms FROM recollectum.search ORDER BY number")
    assert rows[1] == (2, None)
    assert b"zanzibar" not in bytes(rows[0][1])


def test_the_tokens_in_memory_are_counted_and_forgotten(vault: Database) -> None:
    _add(vault, n1="oak")
    assert vault.held_bytes == 0
    assert _found(vault, "oak") == [1]
    small = vault.held_bytes
    vault.write(lambda tx: tx.text.add((number, f"oak {number}") for number in range(2, 1_002)))
    assert _found(vault, "1001") == [1001]
    assert vault.held_bytes > small + 1_000 * 20
    vault.erase_remains()
    assert vault.held_bytes == 0
    assert _found(vault, "1001") == [1001]


def test_chunks_that_come_one_by_one_take_few_round_trips(postgres: PostgresDatabase, tmp_path: Path) -> None:
    with proxied(postgres) as (proxy, url), vault_of(engine_of(tmp_path, url)) as vault:

        def add(tx: Tx) -> None:
            for number in range(1, 201):
                tx.text.add([(number, "oak")])

        vault.write(add)
        proxy.trips = 0
        vault.write(add)
        assert proxy.trips <= 10
        assert _found(vault, "oak") == list(range(1, 201))
