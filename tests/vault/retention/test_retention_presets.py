"""What somebody saved on purpose stays: nothing expires by age unless somebody chose that it does."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum, RetentionPresetName
from recollectum.domain.errors import InvalidInput
from recollectum.domain.memory import State
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning, let_expire, open_home, walk

DAY = timedelta(days=1)
OWNER = "user:alice"


def texts(vault: Vault, query: str) -> list[str]:
    return [hit.text for hit in vault.recall(query, source="memories")]


@pytest.mark.feature("M2")
@pytest.mark.parametrize("importance", [0.0, 0.5, 1.0])
def test_ten_years_of_sweeps_take_nothing_from_the_default_tenant(
    home: Recollectum, vault: Vault, clock: Turning, importance: float
) -> None:
    vault.memories.save("My blood type is O negative", importance=importance)
    chat = vault.sessions.open(channel="signal")
    chat.add("user", "my blood pressure is fine")
    for _ in range(10):
        walk(home, clock, clock.now + 365 * DAY, OWNER)
        swept = vault.privacy.trash.sweep(agreed=True)
        assert (swept.archived, swept.deleted, swept.purged) == (0, 0, 0)
    assert texts(vault, "what is my blood type?") == ["My blood type is O negative"]
    assert [message.content for message in vault.sessions.chat(chat.id).transcript()] == ["my blood pressure is fine"]


@pytest.mark.feature("M2")
def test_a_memory_that_was_replaced_stays_in_the_history(home: Recollectum, vault: Vault, clock: Turning) -> None:
    old = vault.memories.save("lives in Oslo").memory
    vault.memories.supersede(old.id, "lives in Rome")
    walk(home, clock, START + 400 * DAY, OWNER)
    vault.privacy.trash.sweep(agreed=True)
    assert vault.memories.get(old.id).content == "lives in Oslo"


@pytest.mark.feature("M8")
@pytest.mark.parametrize("preset", ["keep", "expire"])
def test_what_was_forgotten_is_gone_after_seven_days_in_every_tenant(
    home: Recollectum, clock: Turning, preset: RetentionPresetName
) -> None:
    home.people.save_tenant("default", preset)
    vault = home.vault(OWNER)
    memory = vault.memories.save("forget me").memory
    vault.memories.forget(memory.id)
    clock.turn(6 * DAY)
    assert vault.privacy.trash.sweep(agreed=True).purged == 0
    clock.turn(DAY)
    assert vault.privacy.trash.sweep(agreed=True).purged == 1


@pytest.mark.feature("G5")
def test_sessions_that_hooks_start_stay_short_lived(vault: Vault, clock: Turning) -> None:
    vault.sessions.open(hook="nightly").add("user", "the backup ran")
    clock.turn(3 * DAY)
    vault.sessions.open(hook="other").add("user", "the backup ran again")
    assert [str(session.key).rpartition(":")[2] for session in vault.sessions.list()] == ["other"]


@pytest.mark.feature("M2")
def test_a_chosen_period_begins_when_it_is_chosen(home: Recollectum, vault: Vault, clock: Turning) -> None:
    memory = vault.memories.save("old but good").memory
    walk(home, clock, START + 300 * DAY, OWNER)
    home.people.save_tenant("default", "expire")
    chosen = home.vault(OWNER)
    assert chosen.memories.get(memory.id).archive_at == clock.now + 90 * DAY
    walk(home, clock, clock.now + 89 * DAY, OWNER)
    assert chosen.privacy.trash.sweep().archived == 0
    clock.turn(DAY)
    assert texts(chosen, "old but good") == []
    assert chosen.privacy.trash.sweep().archived == 1


@pytest.mark.feature("M2")
def test_to_keep_again_frees_what_no_sweep_has_moved_and_what_lies_in_the_archive(
    home: Recollectum, clock: Turning
) -> None:
    let_expire(home)
    vault = home.vault(OWNER)
    swept = vault.memories.save("swept").memory
    walk(home, clock, START + 90 * DAY, OWNER)
    vault.privacy.trash.sweep()
    waiting = vault.memories.save("waiting").memory
    walk(home, clock, START + 140 * DAY, OWNER)
    home.people.save_tenant("default", "keep")
    vault = home.vault(OWNER)
    walk(home, clock, START + 1000 * DAY, OWNER)
    vault.privacy.trash.sweep(agreed=True)
    assert texts(vault, "waiting") == ["waiting"]
    assert vault.memories.get(swept.id).state is State.ARCHIVED
    assert vault.memories.get(waiting.id).archive_at is None


@pytest.mark.feature("M8")
def test_what_age_archived_and_deleted_comes_back_at_once_and_what_people_moved_stays(
    home: Recollectum, clock: Turning
) -> None:
    let_expire(home)
    vault = home.vault(OWNER)
    vault.memories.save("first")
    walk(home, clock, START + 100 * DAY, OWNER)
    vault.privacy.trash.sweep()
    vault.memories.save("second")
    by_hand = vault.memories.save("by hand").memory
    vault.memories.move(by_hand.id, "archived")
    forgotten = vault.memories.save("forgotten").memory
    walk(home, clock, START + 190 * DAY, OWNER)
    vault.privacy.trash.sweep()
    vault.memories.forget(forgotten.id)
    assert sorted(one.content for one in vault.privacy.trash.list_aged()) == ["first", "second"]
    home.people.save_tenant("default", "keep")
    vault = home.vault(OWNER)
    done = vault.privacy.trash.restore_aged()
    assert sorted(one.content for one in done.memories) == ["first", "second"]
    assert {one.content for one in vault.memories.list()} == {"first", "second"}
    vault.privacy.undo.last()
    assert vault.memories.list() == []


@pytest.mark.feature("M2")
@pytest.mark.parametrize("recorded", [True, False], ids=["with its retention", "without a record of its retention"])
def test_a_vault_from_before_keeps_its_memories_after_the_upgrade(tmp_path: Path, *, recorded: bool) -> None:
    clock = Turning()
    with open_home(tmp_path, clock, settings={"lifecycle.active_days": 90}) as home:
        home.vault(OWNER).memories.save("from before")
    if not recorded:
        with closing(sqlite3.connect(next((tmp_path / "home").glob("vaults/**/*.db")))) as file:
            file.execute("DELETE FROM meta WHERE name = 'retention'")
            file.commit()
    clock.turn(40 * DAY)
    with open_home(tmp_path, clock) as home:
        vault = home.vault(OWNER)
        walk(home, clock, START + 400 * DAY, OWNER)
        vault.privacy.trash.sweep()
        assert texts(vault, "from before") == ["from before"]


@pytest.mark.feature("M2")
@pytest.mark.parametrize(
    ("settings", "tenant", "archive", "expires"),
    [
        ({}, "default", None, None),
        ({}, "acme", 90, 150),
        ({"lifecycle.active_days": 30}, "default", 30, 90),
        ({"lifecycle.active_days": 30, "lifecycle.archive_days": 5}, "acme", 30, 35),
        ({"lifecycle.active_days": 0}, "acme", None, None),
    ],
)
def test_the_settings_go_before_the_preset_of_the_tenant(
    tmp_path: Path, settings: dict[str, int], tenant: str, archive: int | None, expires: int | None
) -> None:
    with open_home(tmp_path, Turning(), settings=settings) as home:
        home.people.save_tenant(tenant, {})
        home.people.add(OWNER, tenant=tenant)
        memory = home.vault(OWNER).memories.save("one").memory
    days = [None if at is None else (at - START).days for at in (memory.archive_at, memory.retention_expires_at)]
    assert days == [archive, expires]


def test_an_unknown_preset_is_refused_with_the_names_there_are(home: Recollectum) -> None:
    with pytest.raises(InvalidInput, match="retention preset 'never' is unknown; use one of keep, expire"):
        home.people.save_tenant("default", "never")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_a_preset_leaves_the_grace_period_of_the_tenant(home: Recollectum) -> None:
    home.people.save_tenant("acme", {"active": 5, "grace": 30})
    chosen = home.people.save_tenant("acme", "keep")
    assert chosen.retention_days == {"active": 0, "archive": 0, "grace": 30}
    assert chosen in home.people.list_tenants()


@pytest.mark.feature("M5")
def test_totals_count_what_recall_serves_before_any_sweep(home: Recollectum, clock: Turning) -> None:
    let_expire(home)
    vault = home.vault(OWNER)
    vault.memories.save("archived by hand, then deleted by age")
    vault.memories.move(vault.memories.list()[0].id, "archived")
    vault.memories.save("ages")
    vault.memories.save("has a deadline", ttl=DAY)
    vault.memories.forget(vault.memories.save("forgotten").id)
    for days, expected in (
        (0, {"active": 2, "archived": 1, "soft_deleted": 1}),
        (2, {"active": 1, "archived": 1, "soft_deleted": 2}),
        (10, {"active": 1, "archived": 1, "soft_deleted": 1, "hard_delete_pending": 1}),
        (70, {"active": 1, "soft_deleted": 2, "hard_delete_pending": 1}),
        (100, {"archived": 1, "soft_deleted": 2, "hard_delete_pending": 1}),
        (160, {"soft_deleted": 3, "hard_delete_pending": 1}),
    ):
        walk(home, clock, START + days * DAY, OWNER)
        assert vault.admin.totals().memories == expected, days
        served = len(vault.memories.list(state="active"))
        assert served == expected.get("active", 0), days
