"""A full disk loses nothing, says so in a sentence, and still lets a person delete."""

import json
import os
import random
from pathlib import Path

import pytest

from recollectum.domain.errors import DiskFull
from recollectum.storage.sqlite.database import SqliteOptions
from tests.crashes.consistency import disagreements
from tests.crashes.ledger import look, lost, unexplained
from tests.crashes.scribe import Scribe
from tests.crashes.standing import standing
from tests.faults.filling import LAYER, filling_layer
from tests.faults.sentences import assert_sentence
from tests.home.small_disk import run_on_small_disk

pytestmark = [pytest.mark.process, pytest.mark.slow]

_KEY = bytes(range(32))
_ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("seed", range(12))
def test_a_write_that_finds_no_room_changes_nothing_and_can_be_tried_again(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    layer = filling_layer()
    layer.room, layer.refused = None, 0
    with standing(tmp_path / "vault.db", SqliteOptions(key=_KEY, vfs=LAYER)) as at:
        # SQLite forgives a checkpoint that finds no room after a commit; a layer in Python cannot be forgiven.
        at.database.on_connection(lambda connection: connection.pragma("wal_autocheckpoint", 0))
        scribe = Scribe(at.vault, "ann", chance)
        for _ in range(20):
            scribe.step()
        for _ in range(5):
            layer.room = chance.randrange(60_000)
            with pytest.raises(DiskFull) as caught:
                _write_on(scribe)
            assert_sentence(caught.value, tmp_path / "vault.db")
            layer.room = None
            # The call failed, so nothing of it may be there: not even what an unanswered call may leave.
            scribe.ledger.begun = None
            seen = at.database.read(look)
            assert lost(scribe.ledger, seen) == []
            assert unexplained([scribe.ledger], seen) == []
            assert disagreements(at.database) == []
            for _ in range(3):
                scribe.step()
    assert layer.refused >= 5
    with standing(tmp_path / "vault.db", SqliteOptions(key=_KEY)) as at:
        assert lost(scribe.ledger, at.database.read(look)) == []
        assert disagreements(at.database) == []


def _write_on(scribe: Scribe) -> None:
    while True:
        scribe.step()


def _on_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str) -> dict[str, object]:
    monkeypatch.setenv("PYTHONPATH", str(_ROOT), prepend=os.pathsep)
    code = f"from tests.faults.full_disk_program import main; main({task!r})"
    return json.loads(run_on_small_disk(tmp_path, code, mib=32))


def test_on_a_disk_that_is_full_again_and_again_a_refused_write_is_not_there_and_an_answered_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = _on_full_disk(tmp_path, monkeypatch, "narrow")
    assert told == {"refusals": ["DiskFull"], "lost": [], "unexplained": [], "disagreements": []}


@pytest.mark.parametrize("task", ["forget", "sweep", "delete_session"])
def test_a_full_disk_still_lets_a_person_delete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str) -> None:
    told = _on_full_disk(tmp_path, monkeypatch, task)
    assert told["refused"] == "DiskFull"
    assert told["sentence"] == ""
    assert told["deleted"] is True
    assert told["sound"] is True
    assert told["kept"] is True


@pytest.mark.parametrize("task", ["forget", "sweep", "delete_session"])
def test_also_one_who_comes_when_it_is_full_already(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str) -> None:
    told = _on_full_disk(tmp_path, monkeypatch, f"late {task}")
    assert told["deleted"] is True
    assert told["sound"] is True
    assert told["kept"] is True


@pytest.mark.parametrize("what", ["memories", "session", "user"])
@pytest.mark.parametrize("moment", ["open", "late"])
@pytest.mark.parametrize("encryption", ["auto", "off"])
def test_purge_works_as_the_first_action_with_no_byte_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encryption: str, moment: str, what: str
) -> None:
    told = _on_full_disk(tmp_path, monkeypatch, f"purge {encryption} {moment} {what}")
    assert told == {"free": 0, "state": "done", "left": ["this stays"]}
