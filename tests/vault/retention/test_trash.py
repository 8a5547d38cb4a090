"""The trash: what was deleted on a day or came from a session comes back at once, and sweeps are reported."""

from datetime import timedelta

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Denied, InvalidInput, NotFound
from recollectum.domain.memory import State
from recollectum.storage.tables.trail.sweeps import SweepState
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning

DAY = timedelta(days=1)


def contents(vault: Vault) -> set[str]:
    return {one.content for one in vault.memories.list(limit=1000)}


@pytest.mark.feature("M8")
def test_everything_deleted_on_a_day_comes_back_and_one_undo_takes_it_back(vault: Vault, clock: Turning) -> None:
    ids = [vault.memories.save(text).id for text in ("monday", "tuesday", "tuesday too", "wednesday")]
    tuesday = START.replace(hour=0) + DAY
    for memory, day in zip(ids, (0, 1, 1, 2), strict=True):
        clock.now = START + day * DAY
        vault.memories.forget(memory)
    assert [one.content for one in vault.privacy.trash.list()] == ["wednesday", "tuesday too", "tuesday", "monday"]
    done = vault.privacy.trash.restore(since=tuesday, until=tuesday + DAY)
    assert {one.content for one in done.memories} == contents(vault) == {"tuesday", "tuesday too"}
    vault.privacy.undo.last()
    assert contents(vault) == set()
    vault.privacy.undo.last()
    assert contents(vault) == {"tuesday", "tuesday too"}


@pytest.mark.feature("M8")
def test_what_came_from_a_session_comes_back(vault: Vault) -> None:
    chat = vault.sessions.open(channel="signal")
    said = chat.add("user", "I have a cat")
    from_it = vault.memories.save("has a cat", message_id=said.id).memory
    other = vault.memories.save("has a dog").memory
    for one in (from_it, other):
        vault.memories.forget(one.id)
    assert [one.id for one in vault.privacy.trash.list(session_id=chat.id)] == [from_it.id]
    vault.privacy.trash.restore(session_id=chat.id)
    assert contents(vault) == {"has a cat"}
    with pytest.raises(NotFound):
        vault.privacy.trash.restore(session_id="ses_none")
    with pytest.raises(InvalidInput, match="choose what to restore"):
        vault.privacy.trash.restore()


@pytest.mark.feature("M8")
def test_many_are_forgotten_in_one_step_and_come_back_by_one_undo(vault: Vault) -> None:
    ids = [vault.memories.save(f"number {number} of many").id for number in range(5)]
    vault.memories.move(ids[1], State.ARCHIVED)
    vault.memories.forget(ids[2])
    done = vault.privacy.trash.add([*ids[:4], ids[0], "mem_none"])
    assert [one.id for one in done.memories] == [ids[0], ids[1], ids[3]]
    assert {one.memory_id: one.why.partition("'")[2].partition("' ")[2] for one in done.left} == {
        ids[2]: "is in the trash already",
        "mem_none": "is destroyed, or was never here",
    }
    assert contents(vault) == {"number 4 of many"}
    assert done.event
    vault.privacy.undo.event(done.event)
    assert contents(vault) == {"number 0 of many", "number 3 of many", "number 4 of many"}
    assert vault.memories.get(ids[1]).state is State.ARCHIVED
    back = vault.privacy.trash.restore(memory_ids=[ids[1], ids[2]])
    assert [one.id for one in back.memories] == [ids[1], ids[2]]
    assert len(contents(vault)) == 5
    vault.privacy.undo.last()
    assert len(contents(vault)) == 3


@pytest.mark.feature("M8")
def test_a_selection_must_name_a_memory_and_not_too_many(vault: Vault) -> None:
    many = [f"mem_{number}" for number in range(1001)]
    for ids, why in (([], "name at least one"), (many, "1001 memories are named, and 1000")):
        with pytest.raises(InvalidInput, match=why):
            vault.privacy.trash.add(ids)
        with pytest.raises(InvalidInput, match=why):
            vault.privacy.trash.restore(memory_ids=ids)
    with pytest.raises(InvalidInput, match="not by both"):
        vault.privacy.trash.restore(memory_ids=["mem_1"], since=START)
    nothing = vault.privacy.trash.add(["mem_1"])
    assert (nothing.memories, nothing.event) == ((), None)


@pytest.mark.feature("M8")
def test_past_the_grace_window_and_under_a_taken_key_nothing_comes_back(vault: Vault, clock: Turning) -> None:
    late = vault.memories.save("too late").memory
    vault.memories.forget(late.id)
    clock.turn(6 * DAY)
    held = vault.memories.save("first", key="k").memory
    vault.memories.forget(held.id)
    vault.memories.save("second", key="k")
    clock.turn(2 * DAY)
    done = vault.privacy.trash.restore(since=START)
    assert done.memories == ()
    assert [(one.memory_id, "is held by memory" in one.why) for one in done.left] == [(held.id, True)]
    assert contents(vault) == {"second"}


@pytest.mark.feature("M8")
def test_only_who_may_write_restores(home: Recollectum, vault: Vault) -> None:
    vault.memories.forget(vault.memories.save("x").id)
    home.people.add("user:bob")
    home.keys.add_grant("user:bob", "user:alice", "read")
    bob = home.login(home.keys.add("user:bob")[1]).vault("user:alice")
    assert len(bob.privacy.trash.list()) == 1
    with pytest.raises(Denied):
        bob.privacy.trash.restore(since=START)


@pytest.mark.feature("P6")
def test_the_first_destruction_waits_for_a_yes_and_later_ones_do_not(vault: Vault, clock: Turning) -> None:
    vault.memories.forget(vault.memories.save("first").id)
    clock.turn(8 * DAY)
    waits = vault.privacy.trash.sweep()
    assert (waits.state, waits.waiting, waits.purged) == (SweepState.NEEDS_CONFIRMATION, 1, 0)
    assert vault.admin.totals().memories == {State.HARD_DELETE_PENDING: 1}
    assert vault.privacy.trash.sweep(agreed=True).purged == 1
    vault.memories.forget(vault.memories.save("second").id)
    clock.turn(8 * DAY)
    assert vault.privacy.trash.sweep().purged == 1
    assert [(one.state, one.waiting, one.purged) for one in vault.privacy.trash.list_sweeps()] == [
        (SweepState.DONE, 0, 1),
        (SweepState.DONE, 0, 1),
        (SweepState.NEEDS_CONFIRMATION, 1, 0),
    ]
    assert "first" not in str(vault.privacy.trash.list_sweeps())


@pytest.mark.feature("P6")
def test_who_destroyed_by_hand_was_asked_and_a_doubtful_clock_is_reported(vault: Vault, clock: Turning) -> None:
    vault.memories.forget(vault.memories.save("first").id)
    clock.turn(8 * DAY)
    vault.admin.lifecycle.run()
    vault.memories.forget(vault.memories.save("second").id)
    clock.turn(8 * DAY)
    assert vault.privacy.trash.sweep().purged == 1
    clock.turn(400 * DAY)
    assert vault.privacy.trash.sweep().state is SweepState.HELD
