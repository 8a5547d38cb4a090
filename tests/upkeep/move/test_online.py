"""A vault moves while other programs write to it; they notice nothing, and a kill at any step loses nothing."""

import os
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from recollectum.domain.errors import Busy, Conflict
from recollectum.domain.memory import State
from recollectum.storage.copying.row_changes import RowDigests
from recollectum.storage.places import vault_move
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories
from tests.matrix.homes import quick_folder
from tests.plugins.postgres import PostgresDatabase
from tests.upkeep.homes import ANN, BEN
from tests.upkeep.move.homes import (
    check_written,
    killed_after,
    killed_at,
    made,
    moved,
    opened,
    says,
    writing,
)

pytestmark = pytest.mark.process

#: Where a move is killed: while it copies, before and after the mark, before and after the catalog is told.
POINTS = (
    ("call", "replace_rows"),
    ("return", "VaultMove._replace"),
    ("call", "VaultMove._end"),
    ("return", "VaultMove._end"),
    ("call", "VaultPlaces.record"),
    ("return", "VaultPlaces.record"),
)
#: How many vaults go there and back under writes and kills.
VAULTS = int(os.environ.get("RECOLLECTUM_MOVED_VAULTS", "3"))


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def test_a_vault_moves_there_and_back_under_writes(postgres: PostgresDatabase, place: Path) -> None:
    before = made(place, "")
    with writing(place, ANN) as writers:
        for url in (postgres.url(), "", postgres.url()):
            result = moved(place, url, ANN)
            assert (result.vaults, result.copied, result.catalog) == (1, 1, False)
            writers.more(6)
    check_written(place, [ANN], writers.acknowledged)
    quiet = says(place)
    assert quiet[BEN] == before[BEN]
    moved(place, "", ANN)
    assert says(place) == quiet
    assert not (place / "home" / "split.mark").exists()
    assert "url" not in (place / "home" / "settings.toml").read_text()


@pytest.mark.parametrize("writes", [True, False])
def test_rows_are_compared_again_under_the_lock_only_if_somebody_wrote(
    postgres: PostgresDatabase, place: Path, monkeypatch: pytest.MonkeyPatch, *, writes: bool
) -> None:
    made(place, "", [ANN], 8)
    compared: list[int] = []
    with opened(place) as home, monkeypatch.context() as patch:
        vault = home.vault(ANN)
        copy, compare = vault_move.replace_rows, vault_move.bring_up_to_date

        def replace(*given: Any) -> RowDigests:  # noqa: ANN401 - passed on
            digests = copy(*given)
            if writes:
                vault.memories.save("written while the rows were copied")
            return digests

        def bring_up_to_date(*given: Any) -> int:  # noqa: ANN401 - passed on
            compared.append(compare(*given))
            return compared[-1]

        patch.setattr(vault_move, "replace_rows", replace)
        patch.setattr(vault_move, "bring_up_to_date", bring_up_to_date)
        moved(place, postgres.url(), ANN)
        found = [one.content for one in vault.memories.list(limit=100)]
    assert found.count("written while the rows were copied") == writes
    assert bool(compared) == writes
    assert all(compared)


@pytest.mark.slow
@pytest.mark.parametrize("catalog", ["files", "database"])
def test_a_move_that_is_killed_under_writes_loses_nothing(
    postgres: PostgresDatabase, place: Path, catalog: str
) -> None:
    there, back = (postgres.url(), "") if catalog == "files" else ("", postgres.url())
    made(place, back, [ANN], 8)
    with writing(place, ANN, count=1) as writers:
        for point in POINTS if catalog == "files" else POINTS[3:]:
            for url in (there, back):
                killed_at(place, url, point, ANN)
                # The vault is used where it is by now, whether or not the move was decided.
                writers.more(2)
                with suppress(Conflict):
                    moved(place, url, ANN)
                writers.more(2)
    check_written(place, [ANN], writers.acknowledged)
    # What was left in the other place is cleared away.
    assert len(list((place / "home" / "vaults").glob("*.db"))) == (catalog == "files")


@pytest.mark.parametrize("catalog", ["files", "database"])
def test_a_move_that_was_decided_is_taken_back_by_another(
    postgres: PostgresDatabase, place: Path, catalog: str
) -> None:
    there, back = (postgres.url(), "") if catalog == "files" else ("", postgres.url())
    before = made(place, back, [ANN])
    killed_at(place, there, ("call", "VaultPlaces.record"), ANN)
    assert moved(place, back, ANN).copied == 1
    assert says(place, [ANN]) == before
    killed_at(place, there, ("call", "VaultMove._end"), ANN)
    # The vault never left; what was copied of it is cleared away.
    assert moved(place, back, ANN).copied == 0
    assert says(place, [ANN]) == before
    with pytest.raises(Conflict, match="already"):
        moved(place, back, ANN)


def test_a_program_that_does_nothing_keeps_the_old_file_in_its_place(postgres: PostgresDatabase, place: Path) -> None:
    made(place, "", [ANN])
    with opened(place) as home:
        vault = home.vault(ANN)
        count = len(vault.memories.list(limit=100))
        assert moved(place, postgres.url(), ANN).kept == ()
        with pytest.raises(Busy, match="it closes the file when it next uses it"):
            moved(place, "", ANN)
        vault.memories.save("written after the move")
        moved(place, "", ANN)
        assert len(vault.memories.list(limit=100)) == count + 1
    assert not (place / "home" / "split.mark").exists()


def test_a_read_inside_a_read_follows_the_vault(postgres: PostgresDatabase, place: Path) -> None:
    made(place, "", [ANN])
    with opened(place) as home:
        (entry,) = home.admin.entries()
        key = home.admin.key_of(entry)
        vault = home.admin.engine.open_vault(entry.id, entry.owner, key)

        def outer(tx: Tx) -> tuple[int, int]:
            moved(place, postgres.url(), ANN)
            return memories.counts(tx)[State.ACTIVE], vault.read(memories.counts)[State.ACTIVE]

        before, after = vault.read(outer)
        assert before == after
        vault.close()


@pytest.mark.slow
def test_many_vaults_move_there_and_back_under_writes_and_kills(postgres: PostgresDatabase, place: Path) -> None:
    owners = [f"user:person-{number}" for number in range(VAULTS)]
    made(place, "", owners, 8)
    chance = random.Random(VAULTS)
    kills = 0
    with writing(place, *owners) as writers:
        for url in (postgres.url(), ""):
            while not killed_after(place, url, chance.uniform(0.5, 1 + 0.1 * VAULTS)):
                kills += 1
                writers.more(2)
    check_written(place, owners, writers.acknowledged)
    quiet = says(place, owners)
    for url in (postgres.url(), ""):
        assert moved(place, url).catalog
        assert says(place, owners) == quiet
    print(f"{VAULTS} vaults, {len(writers.acknowledged)} writes, {kills} kills")
