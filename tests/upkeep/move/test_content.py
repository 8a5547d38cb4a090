"""What comes along with a vault: rows, numbers, vectors, the ranking, the trail, receipts, and what can be undone."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.ids import system_clock
from recollectum.storage.copying.database_file import table_list
from recollectum.storage.engine import VAULT
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.plugins.postgres import PostgresDatabase
from tests.recall.homes import scripted
from tests.upkeep.homes import ANN, BEN
from tests.upkeep.lives import digests, last_numbers, lived, ranked
from tests.upkeep.move.homes import moved

pytestmark = pytest.mark.process


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def _trail(home: Recollectum) -> list[object]:
    vault = home.vault(ANN)
    return [
        ranked(vault),
        vault.admin.events.list(limit=500),
        vault.privacy.purge.list_receipts(),
        vault.privacy.undo.list(),
        vault.memories.list(state="soft_deleted"),
    ]


@pytest.mark.parametrize("encryption", ["auto", "off"])
def test_a_home_that_stays_open_sees_the_same_vault_in_each_place(
    postgres: PostgresDatabase, place: Path, encryption: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This process does nothing while it waits for itself.
    monkeypatch.setattr("recollectum.upkeep.move.PATIENCE", timedelta(0))
    clock = Turning()
    (place / "home").mkdir(mode=0o700)
    (place / "home" / "settings.toml").write_text(f'encryption = "{encryption}"\n[storage]\nreserve_mib = 0\n')
    tables = table_list(place, VAULT, system_clock)
    with open_home(place, clock, encryption=encryption, embedder=scripted()) as home:
        lived(home, place, clock)
        breakfast = home.vault(ANN).memories.save("green tea in the morning", key="breakfast").memory
        home.vault(ANN).memories.edit(breakfast.id, content="coffee in the morning")
        before, ben = _trail(home), digests(home, tables)[BEN]
        for url in (postgres.url(), "", postgres.url()):
            # Asking may have read the notes again, so the rows are compared before anything is asked.
            rows, numbers = digests(home, tables), last_numbers(home)
            moved(place, url, ANN)
            assert (digests(home, tables), last_numbers(home)) == (rows, numbers)
            assert _trail(home) == before
        home.vault(ANN).privacy.undo.last()
        assert home.vault(ANN).memories.get(breakfast.id).content == "green tea in the morning"
        assert home.vault(ANN).admin.index.verify().changed == 0
        # The number of the purged chunk, the last of the vault, is not given again.
        home.vault(ANN).memories.save("written after the moves")
        assert last_numbers(home)[0] > numbers[0]
        assert home.vault(ANN).recall("written after the moves")[0].text == "written after the moves"
        assert digests(home, tables)[BEN] == ben
