"""A damaged index of a plain vault hides rows in silence: the doctor notices, and calls nothing lost that was not."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Damaged
from recollectum.storage.sqlite.connection import connect
from recollectum.upkeep.backup.repair import repair
from recollectum.upkeep.doctor.vault_checks import VaultReport, read_vault
from recollectum.vault.purge.request import PurgeRequest
from tests.crashes.homes import file_of
from tests.matrix.homes import Turning, open_home, quick_folder

pytestmark = pytest.mark.process

ANN = "user:ann"
_MESSAGES = 100


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def _made(place: Path) -> tuple[Path, str]:
    """A plain vault with one conversation."""
    with open_home(place, Turning()) as home:
        chat = home.vault(ANN).sessions.open(channel="test", agent="main")
        for number in range(_MESSAGES):
            chat.add("user", f"message {number} in the conversation")
        path = file_of(home, ANN)
        assert path
        return path, chat.id


def _leaves(path: Path) -> tuple[int, list[int]]:
    """The size of a page, and the last pages of the indexes of messages."""
    connection = connect(path)
    sql = """
        SELECT pageno FROM dbstat WHERE pagetype = 'leaf'
           AND name IN (SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'messages') ORDER BY pageno
    """
    found = cast("list[tuple[int]]", connection.execute(sql).fetchall())
    size = cast(int, connection.pragma("page_size"))
    connection.close()
    return size, [number for (number,) in found]


def _look(home: Recollectum, *, data: bool = False) -> VaultReport:
    (entry,) = home.admin.entries()
    return read_vault(home.admin, entry, data=data)


def _read(place: Path, session: str) -> int | None:
    """The number of messages that are served; None where the damage is noticed."""
    with open_home(place, Turning()) as home:
        try:
            return len(home.vault(ANN).sessions.chat(session).messages(limit=1000))
        except Damaged:
            return None


def test_a_bit_that_flips_in_an_index_is_no_earlier_loss(place: Path) -> None:
    path, session = _made(place)
    whole = path.read_bytes()
    size, leaves = _leaves(path)
    hidden = 0
    for leaf in leaves:
        for bit in range(7):
            raw = bytearray(whole)
            # The low byte of the number of cells in the page.
            raw[(leaf - 1) * size + 4] ^= 1 << bit
            path.write_bytes(raw)
            served = _read(place, session)
            hidden += served is not None and served < _MESSAGES
            with open_home(place, Turning()) as home:
                report = _look(home)
            assert not report.sound
            assert report.gaps == ()
    assert hidden


def test_what_a_repair_could_not_save_is_called_lost_and_what_was_erased_is_not(place: Path) -> None:
    path, _ = _made(place)
    _lose_ten(path)
    with open_home(place, Turning()) as home:
        assert "10 messages that are missing from their session" in _look(home).faults
        repair(home.admin, *home.list_owners())
        assert _look(home).gaps == ("10 messages that are missing from their session",)
        assert _look(home).sound
    with open_home(place / "other", clock := Turning()) as home:
        chat = home.vault(ANN).sessions.open(channel="test", agent="main")
        chat.add("user", "said long ago")
        clock.turn(timedelta(days=20))
        chat.add("user", "said now")
        purge = home.vault(ANN).privacy.purge
        purge.run(purge.preview(PurgeRequest.older_than(5)).token)
        assert (_look(home).faults, _look(home).gaps) == ((), ())


def _lose_ten(path: Path) -> None:
    connection = connect(path)
    connection.execute("DELETE FROM messages WHERE position > 90")
    connection.execute("DELETE FROM seals WHERE source = 'messages' AND number NOT IN (SELECT number FROM messages)")
    connection.close()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE messages SET role = 'usfr'",
        "UPDATE messages SET parts = '{'",
        "UPDATE messages SET created_at = 9223372036854775807",
        "UPDATE messages SET tokens = '[7]'",
    ],
)
def test_a_row_that_cannot_be_decoded_is_damage_and_no_error_of_python(place: Path, sql: str) -> None:
    path, session = _made(place)
    connection = connect(path)
    connection.execute(sql)
    connection.close()
    with open_home(place, Turning()) as home, pytest.raises(Damaged, match="a row in it is not what was written"):
        home.vault(ANN).sessions.chat(session).messages()
