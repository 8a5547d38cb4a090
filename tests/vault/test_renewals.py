"""Where memories expire, use renews them: what recall serves begins its active time anew, in batches."""

from datetime import timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.policy.lifecycle import Retention
from recollectum.vault.deferred.renewals import Renewals
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, let_expire, open_home
from tests.storage.statements import traced

DAY = timedelta(days=1)


@pytest.fixture
def expiring(home: Recollectum) -> Vault:
    let_expire(home)
    return home.vault("user:alice")


@pytest.mark.feature("M2")
def test_what_is_recalled_every_few_weeks_stays_and_what_is_not_is_archived(expiring: Vault, clock: Turning) -> None:
    used = expiring.memories.save("my blood type is O negative").memory
    unused = expiring.memories.save("a parcel arrives on Tuesday").memory
    for _ in range(20):
        clock.turn(20 * DAY)
        assert [hit.text for hit in expiring.recall("blood type", limit=1)] == ["my blood type is O negative"]
        expiring.privacy.trash.sweep()
    assert expiring.memories.get(used.id).archive_at == clock.now + 90 * DAY
    assert unused.id not in {one.id for one in expiring.memories.list()}


def test_a_hit_that_was_found_and_not_served_is_not_renewed(expiring: Vault, clock: Turning) -> None:
    first = expiring.memories.save("tea tea tea").memory
    second = expiring.memories.save("tea and a long walk through the town").memory
    clock.turn(DAY)
    assert [hit.source.memory_id for hit in expiring.recall("tea", limit=1)] == [first.id]
    expiring.privacy.trash.sweep()
    assert expiring.memories.get(first.id).archive_at == clock.now + 90 * DAY
    assert expiring.memories.get(second.id).archive_at == clock.now + 89 * DAY


def test_what_a_context_shows_is_renewed(expiring: Vault, clock: Turning) -> None:
    memory = expiring.memories.save("my blood type is O negative", importance=0.1).memory
    for number in range(80):
        expiring.memories.save(f"the parcel number {number} came by post and lies in the hall", importance=1)
    clock.turn(DAY)
    assert "O negative" in expiring.context("what is my blood type?").text
    expiring.privacy.trash.sweep()
    assert expiring.memories.get(memory.id).archive_at == clock.now + 90 * DAY


def test_a_use_is_written_when_the_vault_is_closed(place: Path, home: Recollectum, clock: Turning) -> None:
    let_expire(home)
    memory = home.vault("user:alice").memories.save("my blood type is O negative").memory
    clock.turn(DAY)
    home.vault("user:alice").recall("blood type")
    assert home.vault("user:alice").memories.get(memory.id).archive_at == clock.now + 89 * DAY
    home.close()
    with open_home(place, clock) as again:
        assert again.vault("user:alice").memories.get(memory.id).archive_at == clock.now + 90 * DAY


def test_a_batch_is_written_after_a_minute() -> None:
    clock = Turning()
    uses = Renewals(clock)
    uses.add(["mem_1"], Retention(active=None))
    assert not uses.is_due
    uses.add(["mem_1"], Retention())
    assert not uses.is_due
    clock.turn(timedelta(minutes=1))
    assert uses.is_due


def test_recall_itself_sends_no_statement_for_a_use(home: Recollectum, clock: Turning) -> None:
    let_expire(home)
    with traced() as log:
        vault = home.vault("user:alice")
        vault.memories.save("my blood type is O negative")
        vault.recall("blood type")
        clock.turn(timedelta(seconds=30))
        sent = log.of(lambda: vault.recall("blood type"))
    assert not [sql for sql in sent if "UPDATE" in sql]
