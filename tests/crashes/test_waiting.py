"""Messages that wait for the index are found by another process after the one that added them was killed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crashes.programs import hear, kill, start
from tests.matrix.homes import Turning, open_home, quick_folder

pytestmark = pytest.mark.process


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


@pytest.mark.parametrize("encryption", ["off", "auto"])
def test_what_was_acknowledged_is_found_after_a_kill(place: Path, encryption: str) -> None:
    child = start("tests.crashes.adding_program", str(place), encryption, "zebra", "walrus", "otter")
    assert hear(child) == "added"
    kill(child)
    with open_home(place, Turning(), encryption=encryption) as home:
        vault = home.vault("user:alice")
        assert vault.admin.index.status().waiting == 3
        for word in ("zebra", "walrus", "otter"):
            assert [hit.text for hit in vault.recall(word)] == [f"{word} is what I said"]
        assert vault.admin.index.status().waiting == 0
        assert vault.admin.index.verify().sound


def test_another_process_finds_them_while_the_one_that_added_them_goes_on(place: Path) -> None:
    child = start("tests.crashes.adding_program", str(place), "off", "zebra", "walrus")
    assert hear(child) == "added"
    with open_home(place, Turning()) as home:
        assert [hit.text for hit in home.vault("user:alice").recall("walrus")] == ["walrus is what I said"]
    kill(child)
