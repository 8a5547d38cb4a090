"""What the matrix and the laws once found to be broken, each kept as a test of its own."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner, OwnerKind
from recollectum.domain.errors import Denied, NotFound, RecollectumError, StepRefused
from recollectum.domain.message import ToolCall
from recollectum.domain.trust import Trust
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning, let_expire, open_home, walk

pytestmark = pytest.mark.slow

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
DECADE = timedelta(days=3650)
ALICE = "user:alice"


@pytest.fixture
def clock() -> Turning:
    return Turning()


@pytest.fixture
def home(place: Path, clock: Turning) -> Iterator[Recollectum]:
    with open_home(place, clock) as opened:
        yield opened


@pytest.fixture
def vault(home: Recollectum) -> Vault:
    return home.vault(ALICE)


def test_a_late_sweep_does_not_bring_back_what_readers_saw_deleted(home: Recollectum, clock: Turning) -> None:
    let_expire(home)
    vault = home.vault(ALICE)
    memory = vault.memories.save("one").memory
    walk(home, clock, START + 155 * DAY, ALICE)
    with pytest.raises(NotFound):
        vault.memories.get(memory.id)
    vault.admin.lifecycle.run()
    with pytest.raises(NotFound):
        vault.memories.get(memory.id)


def _archived(vault: Vault, memory_id: str) -> None:
    assert not vault.recall("one"), memory_id


def _gone(vault: Vault, memory_id: str) -> None:
    with pytest.raises(NotFound):
        vault.memories.get(memory_id)


def _lost(vault: Vault, memory_id: str) -> None:
    with pytest.raises(StepRefused):
        vault.memories.move(memory_id, "active")


@pytest.mark.parametrize(
    ("days", "ttl", "seen"),
    [(91, None, _archived), (101, 100 * DAY, _gone), (8, None, _lost)],
    ids=["archived", "expired after its archive date", "past its grace window"],
)
def test_a_clock_that_goes_back_over_a_restart_resurrects_nothing(
    place: Path, days: int, ttl: timedelta | None, seen: Callable[[Vault, str], None]
) -> None:
    clock = Turning()
    with open_home(place, clock) as home:
        let_expire(home)
        vault = home.vault(ALICE)
        memory = vault.memories.save("one", ttl=ttl).memory
        if seen is _lost:
            vault.memories.forget(memory.id)
        walk(home, clock, START + days * DAY, ALICE)
        seen(vault, memory.id)
    clock.now = START + DAY
    with open_home(place, clock) as home:
        seen(home.vault(ALICE), memory.id)


def test_no_process_can_be_told_another_time(place: Path, clock: Turning) -> None:
    late = Turning()
    with open_home(place, clock) as one, open_home(place, late) as other:
        one.vault(ALICE).memories.save("one", ttl=HOUR)
        other.vault(ALICE).admin.totals()
        clock.turn(3 * HOUR)
        one.vault(ALICE).memories.save("two")
        assert not one.vault(ALICE).recall("one")
        late.turn(timedelta(minutes=5))
        assert not other.vault(ALICE).recall("one")


def test_an_accepted_time_is_not_taken_back_by_another_process(place: Path, clock: Turning) -> None:
    with open_home(place, clock) as one, open_home(place, clock) as other:
        one.vault(ALICE).memories.save("one")
        other.vault(ALICE).admin.totals()
        clock.turn(DECADE)
        one.vault(ALICE).admin.lifecycle.accept_clock()
        other.vault(ALICE).memories.save("two")
    with open_home(place, clock) as home:
        assert home.vault(ALICE).admin.lifecycle.run().held_since is None


def test_a_leap_of_the_clock_takes_no_deadline_away(vault: Vault, clock: Turning) -> None:
    memory = vault.memories.save("one", ttl=30 * DAY).memory
    clock.turn(DECADE)
    vault.memories.move(memory.id, "active")
    clock.turn(-DECADE)
    assert vault.memories.get(memory.id).expires_at == START + 30 * DAY


def test_preview_says_what_a_sweep_does_while_the_clock_is_in_doubt(vault: Vault, clock: Turning) -> None:
    vault.memories.save("one", ttl=30 * DAY)
    clock.turn(DECADE)
    assert not vault.admin.lifecycle.run().any()
    assert not vault.admin.lifecycle.preview()


def test_an_empty_key_is_not_the_operator(place: Path, clock: Turning, home: Recollectum) -> None:
    with pytest.raises(Denied):
        open_home(place, clock, api_key="").close()


def test_one_who_may_only_read_makes_no_vault(home: Recollectum) -> None:
    home.people.add(ALICE)
    home.people.add("user:carol")
    home.keys.add_grant("user:carol", ALICE, "read")
    reader = home.login(home.keys.add("user:carol", permissions=("read",))[1])
    for owner in (ALICE, f"{ALICE}/agent:new", "user:carol"):
        with pytest.raises((NotFound, Denied)):
            reader.vault(owner)
    assert home.list_owners() == []


@pytest.mark.parametrize("end", ["revoke", "withdraw"])
def test_revoking_and_withdrawing_work_at_once(home: Recollectum, end: str) -> None:
    home.vault(ALICE).memories.save("one")
    home.people.add("user:carol")
    grant = home.keys.add_grant("user:carol", ALICE, "read")
    key, secret = home.keys.add("user:carol")
    carol = home.login(secret)
    vault = carol.vault(ALICE)
    if end == "revoke":
        home.keys.revoke(key.id)
    else:
        home.keys.revoke_grant(grant.id)
    with pytest.raises((NotFound, Denied)):
        carol.vault(ALICE).recall("one")
    with pytest.raises((NotFound, Denied)):
        vault.recall("one")
    seen: list[object] = []
    with suppress(Denied):
        seen = [*carol.list_owners(), *filter(None, [carol.vault_place(ALICE)])]
    assert seen == []


@pytest.mark.parametrize("operation", ["edit", "forget", "describe", "record_call"])
def test_a_key_that_may_only_write_reads_nothing(home: Recollectum, vault: Vault, operation: str) -> None:
    memory = vault.memories.save("canary").memory
    chat = vault.sessions.open()
    chat.describe(summary="canary")
    message = chat.add("user", "canary")
    writer = home.login(home.keys.add(ALICE, permissions=("write",))[1]).vault(ALICE)
    calls: dict[str, Callable[[], object]] = {
        "edit": lambda: writer.memories.edit(memory.id),
        "forget": lambda: writer.memories.forget(memory.id),
        "describe": lambda: writer.sessions.open().describe(),
        "record_call": lambda: writer.sessions.open().record_call(message.id, ToolCall(id="1", name="x")),
    }
    with pytest.raises(Denied):
        calls[operation]()


@pytest.mark.parametrize(
    "owner",
    [lambda: "user:" + "\ufb2c" * 128, lambda: Owner(OwnerKind.USER, "no such/name")],
    ids=["long", "made"],
)
def test_a_person_who_was_added_can_be_read_again(home: Recollectum, owner: Callable[[], str | Owner]) -> None:
    with suppress(RecollectumError):
        home.people.add(owner())
    assert len(home.people.list()) <= 1


@pytest.mark.parametrize(("latin", "greek"), [("ZOE", "ΖΟΕ"), ("HAN", "ΗΑΝ"), ("TOMMY", "ΤΟΜΜΥ"), ("coa", "ϲοα")])
def test_greek_letters_are_not_taken_for_latin_ones(home: Recollectum, latin: str, greek: str) -> None:
    home.people.add(f"user:{latin}")
    with pytest.raises(RecollectumError):
        home.people.add(f"user:{greek}")


@pytest.mark.parametrize("how", ["save", "supersede"])
def test_a_key_is_never_held_twice(vault: Vault, how: str) -> None:
    first = vault.memories.save("one", key="k").memory
    vault.memories.forget(first.id)
    second = vault.memories.save("two", key="k").memory
    vault.memories.move(second.id, "archived")
    vault.memories.move(first.id, "active")
    if how == "save":
        vault.memories.save("two")
    else:
        vault.memories.supersede(second.id, "three")
    assert vault.memories.find("k") is not None


@pytest.mark.parametrize("key", [None, "k"])
def test_what_superseded_something_is_known_when_it_is_said_again(vault: Vault, key: str | None) -> None:
    new = vault.memories.supersede(vault.memories.save("one", key=key).id, "two")
    again = vault.memories.save("two", key=key).memory
    assert (again.id, again.version) == (new.id, 1)
    assert len(vault.memories.list()) == 1


def test_an_expired_holder_of_a_key_hinders_no_restore(vault: Vault, clock: Turning) -> None:
    first = vault.memories.save("one", key="k").memory
    vault.memories.forget(first.id)
    vault.memories.save("two", key="k", ttl=HOUR)
    clock.turn(2 * HOUR)
    assert vault.memories.move(first.id, "active").content == "one"


def test_one_long_text_does_not_hide_the_others(vault: Vault) -> None:
    vault.memories.save(("zebra lion " * 120 + "\n\n") * 40)
    for number in range(10):
        vault.memories.save(f"a zebra, number {number}, in a sentence that is a good deal longer than it has to be")
    assert len(vault.recall("zebra lion", limit=5)) == 5


def test_what_a_tool_says_under_a_known_key_is_not_the_owners_word(vault: Vault) -> None:
    vault.memories.save("one", key="k")
    message = vault.sessions.open().add("tool", "two")
    assert vault.memories.save("two", key="k", message_id=message.id).memory.trust is Trust.TOOL


def test_what_another_says_under_a_known_key_is_not_the_owners_word(home: Recollectum, vault: Vault) -> None:
    vault.memories.save("one", key="k")
    home.people.add("user:carol")
    home.keys.add_grant("user:carol", ALICE, "write")
    assert home.as_person("user:carol").vault(ALICE).memories.save("two", key="k").memory.trust is Trust.UNKNOWN


def test_a_context_holds_nothing_that_is_no_longer_true(vault: Vault, clock: Turning) -> None:
    vault.memories.save("canary", valid_to=START + HOUR)
    clock.turn(2 * HOUR)
    assert not vault.recall("canary")
    assert "canary" not in vault.context().text


_ODD: dict[str, Callable[[Vault], object]] = {
    "memories.get": lambda vault: vault.memories.get("\ud800"),
    "memories.find": lambda vault: vault.memories.find("\ud800"),
    "memories.list": lambda vault: vault.memories.list(cursor="\ud800"),
    "memories.as_of": lambda vault: vault.memories.as_of(START.replace(tzinfo=None)),
    "memories.save": lambda vault: vault.memories.save("new", message_id="\ud800"),
    "sessions.get": lambda vault: vault.sessions.get("\ud800"),
    "sessions.chat": lambda vault: vault.sessions.chat("\ud800"),
    "sessions.list": lambda vault: vault.sessions.list(key_prefix="\ud800"),
    "events.history": lambda vault: vault.admin.events.history("\ud800"),
    "events.list": lambda vault: vault.admin.events.list(cursor=str(10**30)),
    "chat.transcript": lambda vault: vault.sessions.open().transcript(cursor=str(10**30)),
    "chat.messages": lambda vault: vault.sessions.open().messages(cursor=str(10**30)),
    "recall": lambda vault: vault.recall("one", session_id="\ud800"),
}


@pytest.mark.parametrize("name", _ODD)
def test_odd_values_are_refused_in_words(vault: Vault, name: str) -> None:
    with suppress(RecollectumError):
        _ODD[name](vault)
