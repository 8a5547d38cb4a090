"""A copy is brought up to date by the rows that differ, whatever the triggers of its tables do."""

import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import StorageError
from recollectum.recall.index.chunk_terms import chunk_terms
from recollectum.storage.copying.database_file import DatabaseFile, open_file
from recollectum.storage.copying.row_changes import bring_up_to_date, read_digests, replace_rows
from recollectum.storage.copying.row_copier import digest_rows, row_digests
from recollectum.storage.engine import VAULT
from recollectum.storage.port import Row, Tx
from recollectum.vault.purge.request import PurgeRequest
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home
from tests.upkeep.homes import ANN, fill


def _change(vault: Vault) -> None:
    """Everything that a copy has to follow: new, edited, renamed, forgotten and purged, with what triggers add."""
    first, second, third = vault.memories.list(limit=3)
    vault.memories.edit(first.id, content="edited while the vault was copied")
    vault.memories.save("tea is drunk from a cup", key="tea")
    vault.memories.forget(second.id)
    vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.memories(third.id)).token)
    vault.sessions.open(channel="test", agent="main").add("user", "said while the vault was copied")
    vault.memories.save("saved while the vault was copied")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A vault, and an older copy of it."""
    with open_home(tmp_path, Turning()) as home:
        fill(home.vault(ANN), 20)
    (vault,) = (tmp_path / "home" / "vaults").glob("*.db")
    copy = Path(shutil.copy(vault, tmp_path / "copy.db"))
    with open_home(tmp_path, Turning()) as home:
        _change(home.vault(ANN))
    return vault, copy


@contextmanager
def _opened(files: tuple[Path, Path]) -> Generator[tuple[DatabaseFile, DatabaseFile]]:
    with open_file(files[0], VAULT, None) as source, open_file(files[1], VAULT, None) as target:
        yield source, target


def _update(source: DatabaseFile, target: DatabaseFile) -> int:
    known = target.database.read(lambda tx: read_digests(tx, target.tables))

    def run(old: Tx) -> int:
        return target.database.write(lambda new: bring_up_to_date(old, new, target.tables, known, chunk_terms))

    return source.database.read(run)


@pytest.mark.process
def test_a_copy_gets_what_was_changed_and_nothing_else(files: tuple[Path, Path]) -> None:
    with _opened(files) as (source, target):
        count = _update(source, target)
        wanted = source.database.read(lambda tx: digest_rows(tx, source.tables))
        assert target.database.read(lambda tx: digest_rows(tx, target.tables)) == wanted
        assert 0 < count < sum(one.rows for one in wanted.values()) / 2
        assert _update(source, target) == 0


@pytest.mark.process
def test_a_copy_that_was_brought_up_to_date_is_searched_as_the_vault_is(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    with _opened(files) as (source, target):
        _update(source, target)

    def answers(home: Recollectum) -> list[object]:
        vault = home.vault(ANN)
        assert vault.admin.index.verify().changed == 0
        questions = ("tea", "while the vault was copied", "number 7 of the things to keep", "message")
        return [[(hit.text, hit.score) for hit in vault.recall(one)] for one in questions]

    with open_home(tmp_path, Turning()) as home:
        wanted = answers(home)
    shutil.copy(files[1], files[0])
    with open_home(tmp_path, Turning()) as home:
        assert answers(home) == wanted


@pytest.mark.process
def test_rows_that_exchanged_a_state_are_copied_as_a_whole(files: tuple[Path, Path]) -> None:
    def add(tx: Tx, first: str, second: str) -> None:
        tx.run("DELETE FROM generations", {})
        for number, state in enumerate((first, second), start=1):
            given = {"id": number, "state": state}
            tx.run("INSERT INTO generations (id, identity, state, created_at) VALUES (:id, 'x', :state, 0)", given)

    with _opened(files) as (source, target):
        source.database.write(lambda tx: add(tx, "building", "current"))
        target.database.write(lambda tx: add(tx, "current", "building"))
        with pytest.raises(StorageError):
            _update(source, target)

        def replace(old: Tx) -> None:
            target.database.write(lambda new: replace_rows(old, new, target.tables, chunk_terms))

        source.database.read(replace)
        wanted = source.database.read(lambda tx: digest_rows(tx, source.tables))
        assert target.database.read(lambda tx: digest_rows(tx, target.tables)) == wanted


def test_rows_have_one_digest_if_their_values_are_the_same() -> None:
    rows: list[Row] = [(1, "a"), ("1", "a"), (b"1", "a"), (1.0, "a"), (None, "a"), (2**40, "a"), ("1a",), ("", "1a")]
    assert len({*row_digests(rows)}) == len(rows)
    # A text that Python shares, and an equal one that it does not.
    shared, other = sys.intern("the_same"), "".join(["the", "_same"])
    assert row_digests([(shared, shared)]) == row_digests([(other, str(other.encode(), "ascii"))])
