"""The diff since a time: learned, changed, restored and forgotten, and nothing shown that was deleted."""

from datetime import timedelta

import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.domain.memory import State
from recollectum.vault.purge.request import PurgeRequest
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning

pytestmark = pytest.mark.process

HOUR = timedelta(hours=1)


def test_a_diff_tells_each_fate_once(vault: Vault, clock: Turning) -> None:
    save = vault.memories.save
    same, edited, old, archived, deleted, purged, back = (
        save(text).id for text in ("same", "tea", "in Oslo", "dusty", "secret", "poison", "returning")
    )
    vault.memories.move(back, State.ARCHIVED)
    since = clock.now
    clock.turn(HOUR)
    vault.memories.edit(edited, "coffee")
    new = vault.memories.supersede(old, "in Rome").id
    vault.memories.move(archived, State.ARCHIVED)
    vault.memories.forget(deleted)
    vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.memories(purged)).token)
    vault.memories.move(back, "active")
    learned = save("fresh").id
    vault.memories.forget(save("in between").id)
    found = vault.privacy.undo.diff(since)
    assert [one.id for one in found.learned] == [learned]
    assert {(one.before.content, one.after.content) for one in found.changed} == {
        ("tea", "coffee"),
        ("in Oslo", "in Rome"),
    }
    assert new in {one.after.id for one in found.changed}
    assert [one.id for one in found.restored] == [back]
    assert {(one.memory_id, one.state) for one in found.forgotten} == {
        (archived, State.ARCHIVED),
        (deleted, State.SOFT_DELETED),
        (purged, State.PURGED),
    }
    assert "secret" not in str(found)
    assert same not in str(found)


def test_nothing_differs_from_now_and_undoing_empties_the_diff(vault: Vault, clock: Turning) -> None:
    memory = vault.memories.save("tea").memory
    since = clock.now
    clock.turn(HOUR)
    assert not any(_lists(vault, clock))
    vault.memories.edit(memory.id, "coffee")
    assert len(vault.privacy.undo.diff(since).changed) == 1
    vault.privacy.undo.last()
    assert not vault.privacy.undo.diff(since).changed
    with pytest.raises(InvalidInput, match="time zone"):
        vault.privacy.undo.diff(since.replace(tzinfo=None))


def _lists(vault: Vault, clock: Turning) -> list[object]:
    found = vault.privacy.undo.diff(clock.now)
    return [found.learned, found.changed, found.restored, found.forgotten]
