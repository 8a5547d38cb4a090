"""Undo: each kind of change is taken back, brought back again, and never what was destroyed."""

from datetime import timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Conflict, InvalidInput, NotFound, StepRefused
from recollectum.domain.event import EventType
from recollectum.domain.memory import Memory, State
from recollectum.vault.purge.request import PurgeRequest
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, let_expire
from tests.vault.scripted_homes import echoing, home_with

pytestmark = pytest.mark.process

DAY = timedelta(days=1)


def shown(vault: Vault) -> set[tuple[object, ...]]:
    """What a reader sees of the memories."""
    every = [*vault.memories.list(limit=1000), *vault.memories.list(state="archived", limit=1000)]
    return {_seen(one) for one in every}


def _seen(one: Memory) -> tuple[object, ...]:
    return (
        *(one.id, one.content, one.key, one.kind, one.importance, one.trust, one.author, one.state),
        *(one.valid_from, one.valid_to, one.supersedes, one.superseded_by),
    )


def last_event(vault: Vault, type: EventType) -> int:
    return vault.admin.events.list(type=type)[0].number


def test_what_was_saved_goes_to_the_trash_and_comes_back(vault: Vault) -> None:
    memory = vault.memories.save("the kettle is blue").memory
    done = vault.privacy.undo.last()
    assert [step.type for step in done.steps] == [EventType.CREATED]
    assert shown(vault) == set()
    assert [one.id for one in vault.privacy.trash.list()] == [memory.id]
    assert not list(vault.recall("kettle"))
    vault.privacy.undo.last()
    assert vault.memories.get(memory.id).content == "the kettle is blue"
    assert list(vault.recall("kettle"))


def test_an_edit_is_undone_and_stays_in_the_history(vault: Vault) -> None:
    memory = vault.memories.save("red", key="colour", importance=0.2).memory
    before = shown(vault)
    vault.memories.edit(memory.id, "green", importance=0.9)
    vault.privacy.undo.last()
    assert shown(vault) == before
    assert [one.content for one in vault.memories.history(memory.id).versions] == ["red", "green", "red"]


def test_superseding_is_undone_as_one_by_either_of_its_events(vault: Vault, clock: Turning) -> None:
    old = vault.memories.save("I live in Oslo", key="home").memory
    before = shown(vault)
    for type in (EventType.SUPERSEDED, EventType.CREATED):
        clock.turn(DAY)
        vault.memories.supersede(old.id, "I live in Rome")
        after = shown(vault)
        back = vault.privacy.undo.event(last_event(vault, type))
        assert shown(vault) == before
        assert back.event is not None
        vault.privacy.undo.event(back.event)
        assert shown(vault) == after
        vault.privacy.undo.last()
        assert shown(vault) == before


def test_what_was_archived_and_then_forgotten_goes_back_to_the_archive(vault: Vault) -> None:
    memory = vault.memories.save("an old address").memory
    vault.memories.move(memory.id, State.ARCHIVED)
    before = shown(vault)
    vault.memories.forget(memory.id)
    vault.privacy.undo.last()
    assert shown(vault) == before


def test_several_steps_of_one_memory_are_undone_and_redone_together(vault: Vault) -> None:
    memory = vault.memories.save("one").memory
    before = shown(vault)
    vault.memories.edit(memory.id, "two")
    vault.memories.edit(memory.id, "three")
    vault.memories.forget(memory.id)
    after = shown(vault)
    assert len(vault.privacy.undo.last(3).steps) == 3
    assert shown(vault) == before
    vault.privacy.undo.last()
    assert shown(vault) == after


def test_a_change_under_a_later_one_is_refused_whole(vault: Vault) -> None:
    memory = vault.memories.save("one").memory
    vault.memories.edit(memory.id, "two")
    first = last_event(vault, EventType.EDITED)
    vault.memories.edit(memory.id, "three")
    before, events = shown(vault), len(vault.admin.events.list(limit=100))
    with pytest.raises(Conflict, match="was changed after event"):
        vault.privacy.undo.event(first)
    assert (shown(vault), len(vault.admin.events.list(limit=100))) == (before, events)


def test_a_key_that_another_memory_holds_now_is_not_taken_from_it(vault: Vault) -> None:
    memory = vault.memories.save("red", key="colour").memory
    vault.memories.forget(memory.id)
    forgotten = last_event(vault, EventType.DELETED)
    vault.memories.save("blue", key="colour")
    with pytest.raises(Conflict, match="is held by memory"):
        vault.privacy.undo.event(forgotten)


def test_what_is_destroyed_stays_destroyed(vault: Vault, clock: Turning) -> None:
    gone = vault.memories.save("purged at once").memory
    kept = vault.memories.save("kept").memory
    vault.memories.edit(gone.id, "purged at once, edited")
    edited = last_event(vault, EventType.EDITED)
    vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.memories(gone.id)).token)
    with pytest.raises(StepRefused, match="destroyed for good"):
        vault.privacy.undo.event(edited)
    done = vault.privacy.undo.last(4)
    assert [step.subjects for step in done.steps] == [(kept.id,)]
    assert all("destroyed for good" in one.why for one in done.refused)
    vault.privacy.undo.last()
    assert {one[0] for one in shown(vault)} == {kept.id}
    vault.memories.forget(kept.id)
    clock.turn(8 * DAY)
    with pytest.raises(StepRefused, match="past its grace window"):
        vault.privacy.undo.last()


def test_the_journal_holds_no_words_and_goes_with_its_memory(vault: Vault) -> None:
    memory = vault.memories.save("xylophone").memory
    vault.memories.edit(memory.id, "zither")
    runtime: VaultRuntime = vars(vault)["_runtime"]

    def rows() -> str:
        return str(runtime.read(lambda tx, _: tx.rows("SELECT * FROM undo_rows", {})))

    assert memory.id in rows()
    assert "xylophone" not in rows()
    vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.memories(memory.id)).token)
    assert rows() == "[]"


def test_deadlines_that_passed_are_set_anew(home: Recollectum, clock: Turning) -> None:
    let_expire(home)
    vault = home.vault("user:alice")
    memory = vault.memories.save("ages").memory
    clock.turn(40 * DAY)
    vault.admin.totals()
    vault.memories.move(memory.id, State.ARCHIVED)
    clock.turn(40 * DAY)
    vault.admin.totals()
    clock.turn(15 * DAY)
    vault.privacy.undo.last()
    assert vault.memories.get(memory.id).state is State.ACTIVE
    kept = vault.memories.get(memory.id).archive_at
    assert kept is not None
    assert kept > clock.now


def test_a_time_to_live_that_is_over_is_not_undone_into(vault: Vault, clock: Turning) -> None:
    vault.memories.save("short", key="k", ttl=DAY)
    vault.memories.save("long", key="k")
    clock.turn(2 * DAY)
    with pytest.raises(StepRefused, match="time to live"):
        vault.privacy.undo.last()


def test_what_time_did_is_no_step_and_conversations_are_told_of(vault: Vault, clock: Turning) -> None:
    with pytest.raises(NotFound, match="no change that can be undone"):
        vault.privacy.undo.last()
    memory = vault.memories.save("fades", ttl=DAY).memory
    clock.turn(2 * DAY)
    vault.admin.lifecycle.run()
    assert [step.type for step in vault.privacy.undo.list()] == [EventType.CREATED]
    with pytest.raises(Conflict):
        vault.privacy.undo.last()
    vault.privacy.undo.event(last_event(vault, EventType.DELETED))
    assert vault.memories.get(memory.id).expires_at is None
    chat = vault.sessions.open(channel="signal")
    chat.add("user", "hello")
    vault.sessions.delete(chat.id)
    with pytest.raises(StepRefused, match="session"):
        vault.privacy.undo.event(last_event(vault, EventType.DELETED))
    with pytest.raises(NotFound, match="no event"):
        vault.privacy.undo.event(10**6)
    with pytest.raises(InvalidInput):
        vault.privacy.undo.last(0)


def test_a_consolidation_run_is_one_step_and_holds_again_when_that_is_undone(place: Path, clock: Turning) -> None:
    tea, cat = "I drink green tea every morning", "My cat is called Miso"
    with home_with(place, clock, echoing(tea, cat)) as home:
        vault = home.vault("user:alice")
        vault.memories.save("known before")
        before = shown(vault)
        clock.turn(DAY)
        chat = vault.sessions.open(channel="telegram")
        chat.add("user", f"{tea}. {cat}.")
        vault.admin.consolidation.run(chat.id)
        after = shown(vault)
        (run,) = vault.admin.consolidation.list_runs()
        assert len(after) == 3
        clock.turn(DAY)
        assert [step.run_ids for step in vault.privacy.undo.last().steps] == [(run.id,)]
        assert shown(vault) == before
        assert vault.admin.consolidation.list_runs()[0].reverted_at
        with pytest.raises(StepRefused, match="undone already"):
            vault.privacy.undo.run(run.id)
        vault.privacy.undo.last()
        assert shown(vault) == after
        assert vault.admin.consolidation.list_runs()[0].reverted_at is None
        vault.privacy.undo.run(run.id)
        assert shown(vault) == before


def test_changes_from_before_undo_was_kept_are_refused_in_words(vault: Vault) -> None:
    memory = vault.memories.save("one").memory
    created = last_event(vault, EventType.CREATED)
    vault.memories.edit(memory.id, "two")
    runtime: VaultRuntime = vars(vault)["_runtime"]
    runtime.write(lambda tx, _: tx.run("DELETE FROM undo_rows", {}))
    before = shown(vault)
    with pytest.raises(StepRefused, match="was not kept"):
        vault.privacy.undo.last()
    with pytest.raises(Conflict, match="was changed after"):
        vault.privacy.undo.event(created)
    assert shown(vault) == before


def test_an_undo_brings_no_deadline_back_that_the_retention_no_longer_sets(home: Recollectum, clock: Turning) -> None:
    let_expire(home)
    memory = home.vault("user:alice").memories.save("stays").memory
    clock.turn(DAY)
    home.vault("user:alice").memories.edit(memory.id, "stays here")
    home.people.save_tenant("default", "keep")
    home.vault("user:alice").privacy.undo.last()
    assert home.vault("user:alice").memories.get(memory.id).archive_at is None
    home.people.save_tenant("default", "expire")
    home.vault("user:alice").privacy.undo.last()
    assert home.vault("user:alice").memories.get(memory.id).archive_at == clock.now + 90 * DAY
