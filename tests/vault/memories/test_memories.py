"""Saving, knowing again, changing, superseding, looking back, and the trail of it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Conflict, InvalidInput, NotFound, StepRefused
from recollectum.domain.event import EventType
from recollectum.domain.memory import Kind, SaveOutcome, State
from recollectum.domain.trust import Trust
from recollectum.vault.intake.draft import Draft
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning, walk

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


def _trail(vault: Vault, memory_id: str) -> list[str]:
    return [event.type.value for event in vault.admin.events.history(memory_id)]


@pytest.mark.feature("A9")
def test_a_text_is_kept_as_it_stands(vault: Vault) -> None:
    text = "  Grace said:\n\t“I don't like  tea” — 日本語 👩‍🚀 \r\n"
    memory = vault.memories.save(text, kind="preference", importance=0.9, agent="main").memory
    assert vault.memories.get(memory.id) == memory
    assert (memory.content, memory.kind, memory.importance, memory.agent) == (text, Kind.PREFERENCE, 0.9, "main")
    assert (memory.state, memory.version, memory.trust, memory.author) == (State.ACTIVE, 1, Trust.OWNER, "process")


@pytest.mark.feature("P1")
@pytest.mark.feature("P8")
def test_a_key_names_one_memory_and_remembers_what_it_said(vault: Vault, clock: Turning) -> None:
    first = vault.memories.save("Grace is my girlfriend", key="girlfriend").memory
    clock.turn(HOUR)
    second = vault.memories.save("Ada is my girlfriend", key="girlfriend").memory
    assert (second.id, second.version) == (first.id, 2)
    found = vault.memories.find("girlfriend")
    assert found == second
    versions = vault.memories.history(first.id).versions
    assert [version.content for version in versions] == ["Grace is my girlfriend", "Ada is my girlfriend"]
    assert [version.replaced_at for version in versions] == [START + HOUR, None]
    assert vault.memories.find("nobody") is None


def test_a_save_says_what_it_came_to(home: Recollectum) -> None:
    vault = home.vault("user:alice")
    outcomes = [vault.memories.save(text, key="diet").outcome for text in ("vegan", "Vegan.", "vegetarian")]
    assert outcomes == [SaveOutcome.CREATED, SaveOutcome.RENEWED, SaveOutcome.CHANGED]
    many = vault.memories.save_many([Draft(content="a new thing"), Draft(content="vegetarian", key="diet")])
    assert [one.outcome for one in many] == [SaveOutcome.CREATED, SaveOutcome.RENEWED]
    _, secret = home.keys.add("user:alice", permissions=("write",))
    blind = home.login(secret).vault("user:alice").memories
    assert blind.save("vegetarian", key="diet").outcome is SaveOutcome.SAVED


@pytest.mark.feature("P8")
@pytest.mark.parametrize("key", ["", "Girl", "1st", "a-b", "a b", "é", "system_x", "internal_x", "a" * 65, "a\n"])
def test_a_key_outside_the_grammar_is_refused(vault: Vault, key: str) -> None:
    with pytest.raises(InvalidInput):
        vault.memories.save("text", key=key)
    assert not vault.memories.list()


@pytest.mark.parametrize("key", ["a", "a" * 64, "a_1", "systemic", "x_system_"])
def test_a_key_inside_the_grammar_is_taken(vault: Vault, key: str) -> None:
    assert vault.memories.save("text", key=key).memory.key == key


@pytest.mark.parametrize(
    "draft",
    [
        Draft(content="  \n"),
        Draft(content="x" * 1_000_001),
        Draft(content="x", importance=1.1),
        Draft(content="x", importance=float("nan")),
        Draft(content="x", ttl=timedelta(0)),
        Draft(content="x", ttl=timedelta.max),
        Draft(content="x", kind="rumour"),  # pyright: ignore[reportArgumentType]
        Draft(content="x", valid_from=START.replace(tzinfo=None)),
        Draft(content="x", valid_from=START, valid_to=START),
        Draft(content="x", key="No"),
    ],
)
def test_a_draft_that_cannot_be_used_is_refused_with_all_that_came_with_it(vault: Vault, draft: Draft) -> None:
    with pytest.raises(InvalidInput):
        vault.memories.save_many([Draft(content="fine"), draft])
    assert not vault.memories.list()
    assert not vault.admin.events.list()


@pytest.mark.feature("M7")
@pytest.mark.parametrize("again", ["I like tea", "i LIKE tea!", "I really like the tea.", "I  like\ntea"])
def test_a_thing_said_again_is_renewed_and_not_doubled(home: Recollectum, clock: Turning, again: str) -> None:
    home.people.save_tenant("default", {"active": 90})
    vault = home.vault("user:alice")
    first = vault.memories.save("I like tea", importance=0.4, ttl=2 * DAY).memory
    clock.turn(DAY)
    renewed = vault.memories.save(again, importance=0.3, ttl=5 * DAY).memory
    assert renewed.id == first.id
    assert (renewed.content, renewed.importance) == ("I like tea", 0.4)
    assert renewed.expires_at == START + 6 * DAY
    assert renewed.archive_at == START + 91 * DAY
    assert _trail(vault, first.id) == ["created", "deduplicated"]
    assert len(vault.memories.list()) == 1


@pytest.mark.parametrize(
    "other", ["I do not like tea", "I like 2 teas", "tea I like", "I like green tea", "I like C++"]
)
def test_a_thing_that_says_something_else_is_kept_too(vault: Vault, other: str) -> None:
    vault.memories.save("I like tea")
    vault.memories.save(other)
    assert len(vault.memories.list()) == 2


def test_another_kind_or_another_time_is_another_memory(vault: Vault) -> None:
    vault.memories.save("tea at four")
    vault.memories.save("tea at four", kind="task")
    vault.memories.save("tea at four", valid_from=START)
    assert len(vault.memories.list()) == 3


def test_a_thing_in_the_archive_that_is_said_again_is_active_again(vault: Vault) -> None:
    memory = vault.memories.save("one").memory
    vault.memories.move(memory.id, "archived")
    assert vault.memories.save("one").id == memory.id
    assert vault.recall("one")


def test_a_deleted_thing_that_is_said_again_is_a_new_one(vault: Vault) -> None:
    memory = vault.memories.save("one").memory
    vault.memories.forget(memory.id)
    assert vault.memories.save("one").id != memory.id


@pytest.mark.feature("M7")
def test_an_edit_keeps_the_version_before_it(vault: Vault, clock: Turning) -> None:
    memory = vault.memories.save("first", key="k").memory
    clock.turn(HOUR)
    edited = vault.memories.edit(memory.id, "second", importance=0.8, kind="task", version=1)
    assert (edited.content, edited.importance, edited.kind, edited.version) == ("second", 0.8, Kind.TASK, 2)
    assert not vault.recall("first")
    assert vault.recall("second")
    with pytest.raises(Conflict):
        vault.memories.edit(memory.id, "third", version=1)
    assert vault.memories.get(memory.id) == edited
    assert _trail(vault, memory.id) == ["created", "edited"]


def test_what_is_archived_is_read_only(vault: Vault) -> None:
    memory = vault.memories.save("one").memory
    vault.memories.move(memory.id, "archived")
    with pytest.raises(StepRefused):
        vault.memories.edit(memory.id, "two")
    assert vault.memories.get(memory.id).content == "one"


@pytest.mark.feature("M6")
def test_what_is_archived_is_read_by_id_and_never_recalled(vault: Vault) -> None:
    memory = vault.memories.save("one", key="k").memory
    vault.memories.move(memory.id, "archived")
    assert vault.memories.get(memory.id).state is State.ARCHIVED
    assert vault.memories.history(memory.id).versions
    assert [memory.id] == [one.id for one in vault.memories.list(state="archived")]
    assert not vault.recall("one")
    assert not vault.memories.list()
    assert vault.memories.find("k") is None


def test_what_is_superseded_ends_and_stays_in_history(vault: Vault, clock: Turning) -> None:
    old = vault.memories.save("She lives in Oslo", key="home").memory
    clock.turn(DAY)
    new = vault.memories.supersede(old.id, "She lives in Rome")
    ended = vault.memories.get(old.id)
    assert (ended.state, ended.superseded_by, ended.valid_to) == (State.ARCHIVED, new.id, START + DAY)
    assert (new.key, new.supersedes, new.valid_from) == ("home", old.id, START + DAY)
    assert vault.memories.find("home") == new
    assert not vault.recall("Oslo")
    assert vault.recall("Rome")
    assert _trail(vault, old.id) == ["created", "superseded"]
    with pytest.raises(Conflict):
        vault.memories.supersede(old.id, "She lives in Bonn")
    with pytest.raises(StepRefused):
        vault.memories.move(old.id, "active")


def test_the_past_reads_as_it_was(vault: Vault, clock: Turning) -> None:
    changed = vault.memories.save("first words", key="k").memory
    replaced = vault.memories.save("old truth").memory
    gone = vault.memories.save("regretted").memory
    clock.turn(DAY)
    vault.memories.edit(changed.id, "second words")
    vault.memories.supersede(replaced.id, "new truth")
    vault.memories.forget(gone.id)
    then = {memory.content for memory in vault.memories.as_of(START)}
    assert then == {"first words", "old truth"}
    assert {memory.content for memory in vault.memories.as_of(clock.now)} == {"second words", "new truth"}
    assert not vault.memories.as_of(START - HOUR)


@pytest.mark.feature("M4")
@pytest.mark.feature("M5")
def test_a_deadline_is_kept_to_the_second_and_without_a_sweep(vault: Vault, clock: Turning) -> None:
    memory = vault.memories.save("one", key="k", ttl=HOUR).memory
    assert memory.expires_at == START + HOUR
    clock.turn(HOUR - timedelta(seconds=1))
    assert vault.recall("one")
    clock.turn(timedelta(seconds=1))
    assert not vault.recall("one")
    assert not vault.memories.list()
    assert vault.memories.find("k") is None
    assert "one" not in vault.context().text
    for read in (vault.memories.get, vault.memories.history):
        with pytest.raises(NotFound):
            read(memory.id)


@pytest.mark.feature("M2")
@pytest.mark.feature("M3")
def test_life_in_a_made_tenant_is_ninety_days_sixty_days_and_a_week(home: Recollectum, clock: Turning) -> None:
    home.people.save_tenant("acme", {})
    home.people.add("user:alice", tenant="acme")
    vault = home.vault("user:alice")
    memory = vault.memories.save("one").memory
    assert (memory.archive_at, memory.retention_expires_at) == (START + 90 * DAY, START + 150 * DAY)
    seen: list[tuple[int, str]] = []
    for day in (89, 90, 149, 150, 156, 157):
        walk(home, clock, START + day * DAY, "user:alice")
        vault.admin.lifecycle.run()
        seen.append((day, next((state for state, count in vault.admin.totals().memories.items() if count), "gone")))
    assert seen == [
        (89, "active"),
        (90, "archived"),
        (149, "archived"),
        (150, "soft_deleted"),
        (156, "soft_deleted"),
        (157, "gone"),
    ]
    assert _trail(vault, memory.id) == ["created", "archived", "deleted", "delete_due", "purged"]


@pytest.mark.feature("M2")
def test_a_tenant_has_its_own_periods(home: Recollectum, clock: Turning) -> None:
    home.people.save_tenant("strict", {"active": 2, "archive": 0, "grace": 1})
    home.people.add("user:dora", tenant="strict")
    memory = home.vault("user:dora").memories.save("one").memory
    assert (memory.archive_at, memory.retention_expires_at) == (None, START + 2 * DAY)
    clock.turn(2 * DAY)
    assert not home.vault("user:dora").recall("one")
    assert home.vault("user:dora").admin.lifecycle.run().deleted == 1
    clock.turn(DAY)
    assert home.vault("user:dora").admin.lifecycle.run().purged == 1
    home.vault("user:alice").memories.save("two")
    assert home.vault("user:alice").memories.list()[0].archive_at is None


@pytest.mark.feature("M8")
def test_a_person_restores_what_they_deleted(home: Recollectum, vault: Vault, clock: Turning) -> None:
    memory = vault.memories.save("one", key="k").memory
    vault.memories.forget(memory.id)
    assert [one.id for one in vault.memories.list(state="soft_deleted")] == [memory.id]
    clock.turn(6 * DAY)
    restored = home.as_person("user:alice").vault("user:alice").memories.move(memory.id, "active")
    assert (restored.state, restored.deleted_at, restored.hard_delete_at) == (State.ACTIVE, None, None)
    assert vault.memories.find("k") == restored
    assert _trail(vault, memory.id) == ["created", "deleted", "restored"]
    assert vault.admin.events.history(memory.id)[-1].actor == "person:user:alice"


def test_a_key_that_was_given_away_is_not_taken_back(vault: Vault) -> None:
    old = vault.memories.save("one", key="k").memory
    vault.memories.forget(old.id)
    vault.memories.save("two", key="k")
    with pytest.raises(Conflict):
        vault.memories.move(old.id, "active")


@pytest.mark.feature("M1")
def test_what_is_forgotten_is_destroyed_with_every_version(vault: Vault, clock: Turning) -> None:
    memory = vault.memories.save("first canary").memory
    vault.memories.edit(memory.id, "second canary")
    vault.memories.forget(memory.id)
    clock.turn(8 * DAY)
    report = vault.admin.lifecycle.run()
    assert (report.marked, report.purged, report.erased) == (1, 1, True)
    assert vault.admin.totals().memories == {}
    assert vault.admin.index.verify().sound
    assert _trail(vault, memory.id)[-1] == "purged"
    with pytest.raises(NotFound):
        vault.memories.forget(memory.id)


def test_totals_list_the_states_in_one_order(vault: Vault) -> None:
    # What names a contact is counted apart, and first.
    vault.memories.forget(vault.memories.save("write to grace@example.org").memory.id)
    vault.memories.save("tea in the garden")
    assert list(vault.admin.totals().memories) == [State.ACTIVE, State.SOFT_DELETED]


@pytest.mark.parametrize("state", ["purged", "hard_delete_pending", "nonsense"])
def test_no_hand_moves_a_memory_to_its_end(vault: Vault, state: str) -> None:
    memory = vault.memories.save("one").memory
    with pytest.raises(StepRefused):
        vault.memories.move(memory.id, state)  # pyright: ignore[reportArgumentType]
    with pytest.raises(StepRefused):
        vault.memories.list(state=state)  # pyright: ignore[reportArgumentType]


def test_what_comes_from_a_message_is_believed_no_more_than_the_message(vault: Vault) -> None:
    chat = vault.sessions.open()
    said = {role: chat.add(role, f"said by {role}") for role in ("user", "assistant", "tool", "info")}
    trusts = [vault.memories.save(f"from {role}", message_id=said[role].id).memory.trust for role in said]
    assert trusts == [Trust.OWNER, Trust.ASSISTANT, Trust.TOOL, Trust.UNKNOWN]
    assert vault.recall("tool", source="memories")[0].source.message_id == said["tool"].id
    with pytest.raises(NotFound):
        vault.memories.save("from nowhere", message_id="msg_nowhere")


def test_pages_follow_each_other_without_gap_or_repetition(vault: Vault) -> None:
    saved = [
        one.memory
        for one in vault.memories.save_many(
            [Draft(content=f"thing {n}", kind="task" if n % 3 else "fact") for n in range(25)]
        )
    ]
    pages: list[str] = []
    before = None
    while page := vault.memories.list(cursor=before, limit=7):
        pages += [memory.id for memory in page]
        before = page[-1].id
    assert pages == [memory.id for memory in reversed(saved)]
    assert len(vault.memories.list(kind="fact", limit=1000)) == 9
    with pytest.raises(InvalidInput):
        vault.memories.list(limit=0)


@pytest.mark.feature("M7")
def test_every_step_has_its_event_and_no_event_repeats_what_was_said(vault: Vault) -> None:
    memory = vault.memories.save("canary", key="k_name").memory
    vault.memories.forget(memory.id)
    created = vault.admin.events.list(type="created")
    assert [(event.type, event.subject, event.subject_id) for event in created] == [
        (EventType.CREATED, "memory", memory.id)
    ]
    deleted = vault.admin.events.list(type="deleted")[0]
    assert (deleted.state, deleted.payload["from"], deleted.actor) == (State.SOFT_DELETED, "active", "process")
    assert "canary" not in repr(vault.admin.events.list())
    with pytest.raises(InvalidInput):
        vault.admin.events.list(type="rumour")  # pyright: ignore[reportArgumentType]


@pytest.mark.feature("P2")
def test_many_write_and_read_at_once_and_nothing_is_lost(vault: Vault) -> None:
    chat = vault.sessions.open()

    def work(number: int) -> int:
        for turn in range(10):
            vault.memories.save(f"thing {number} {turn}")
            chat.add("user", f"said {number} {turn}")
            vault.memories.save(f"latest of {number} {turn}", key="shared")
        return len(vault.recall("thing", limit=1000))

    with ThreadPoolExecutor(6) as threads:
        seen = list(threads.map(work, range(6)))
    assert max(seen) <= 60
    assert len(vault.recall("thing", limit=1000)) == 60
    assert [message.position for message in chat.messages(limit=1000)] == list(range(1, 61))
    shared = vault.memories.find("shared")
    assert shared is not None
    assert shared.version == 60
    assert len(vault.memories.history(shared.id).versions) == 60
    assert vault.admin.index.verify().sound
