"""Purging in two steps: what is asked for goes with all that came from it, and nothing else changes."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Conflict, Denied, InvalidInput, NotFound
from recollectum.domain.proposal import Span
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import citations
from recollectum.storage.tables.trail import events
from recollectum.vault.purge.request import PurgeKind, PurgeRequest, PurgeState
from recollectum.vault.sessions.chat import Chat
from recollectum.vault.vault import Vault
from tests.crashes.programs import run
from tests.plugins.engines import database_of
from tests.plugins.postgres import words_in_rows

pytestmark = pytest.mark.process

_SECRET = "wqzkvbtrnx"
_KEPT = "mnbvcxzqwr"


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 6, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def home(tmp_path: Path, clock: Clock) -> Iterator[Recollectum]:
    settings = {"encryption": "off", "storage.busy_timeout_seconds": 0.3}
    with Recollectum(tmp_path / "home", settings=settings, clock=clock) as opened:
        yield opened


@pytest.fixture
def vault(home: Recollectum) -> Vault:
    return home.vault("user:ann")


def _talk(vault: Vault, channel: str, word: str, turns: int = 5) -> Chat:
    chat = vault.sessions.open(channel=channel, agent=channel)
    for number in range(turns):
        chat.add("user", f"turn {number} says {word}{number} to {channel}")
    return chat


def _hits(home: Recollectum, *words: str) -> set[str]:
    database = database_of(home.home.root)
    in_rows = words_in_rows(database, *words) if database else set[str]()
    found = run("tests.faults.grepping_program", str(home.home.root), *words)
    return in_rows | {line.partition(" ")[0] for line in found}


def _cite(home: Recollectum, memory: str, *messages: str) -> None:
    """As a run does that found a memory in messages."""
    _in_rows(home, lambda tx: citations.add(tx, memory, [Span(one, 0, 4) for one in messages], None))


def _in_rows(home: Recollectum, work: Callable[[Tx], None]) -> None:
    known = home._runtime.find_vault(Owner.parse("user:ann"))  # pyright: ignore[reportPrivateUsage]
    assert known
    known.handle.write(work)


def _said(vault: Vault) -> list[object]:
    """Everything a person can read, without times of the purge."""
    chats = [vault.sessions.chat(one.id) for one in vault.sessions.list()]
    return [
        *([chat.info(), *chat.messages(limit=1000)] for chat in chats),
        vault.memories.list(limit=1000),
        [vault.memories.history(one.id) for one in vault.memories.list(limit=1000)],
    ]


@pytest.mark.feature("P9")
def test_a_session_goes_with_every_byte_and_the_rest_stays_as_it_was(home: Recollectum, vault: Vault) -> None:
    kept = _talk(vault, "work", _KEPT)
    vault.memories.save("tea before coffee")
    before = _said(vault)
    chat = _talk(vault, "home", _SECRET)
    chat.describe(title=f"about {_SECRET}", summary=f"{_SECRET} again")
    seen = vault.privacy.purge.preview(PurgeRequest.sessions(chat.id))
    assert (seen.counts["sessions"], seen.counts["messages"], seen.counts["chunks"]) == (1, 5, 5)
    assert _hits(home, _SECRET) == {_SECRET}
    receipt = vault.privacy.purge.run(seen.token)
    assert (receipt.state, receipt.hits, receipt.kind) == (PurgeState.DONE, 0, PurgeKind.SESSION)
    assert receipt.samples > 0
    assert receipt.files_scanned > 3
    assert _hits(home, _SECRET, _SECRET[-6:], _KEPT) == {_KEPT}
    assert _said(vault) == before
    assert vault.admin.index.verify().sound
    assert [one.id for one in vault.sessions.list()] == [kept.id]


@pytest.mark.feature("P9")
def test_what_came_from_it_goes_too(home: Recollectum, vault: Vault) -> None:
    chat = _talk(vault, "home", _SECRET)
    other = _talk(vault, "work", _KEPT)
    said, kept = chat.messages(limit=9), other.messages(limit=9)
    derived = vault.memories.save(f"they said {_SECRET}", agent="main").memory
    both = vault.memories.save("they said a thing twice").memory
    vault.memories.edit(both.id, "they said it twice")
    _cite(home, derived.id, said[0].id)
    _cite(home, both.id, said[1].id, kept[0].id)
    fork = vault.sessions.checkpoints.fork(chat.id, 3)
    fork.add("user", "something of its own")
    vault.sessions.summaries.update(chat.id)
    seen = vault.privacy.purge.preview(PurgeRequest.sessions(chat.id))
    assert (seen.memories_derived, seen.memories_kept) == (1, 1)
    receipt = vault.privacy.purge.run(seen.token)
    assert receipt.state is PurgeState.DONE, receipt
    assert _hits(home, _SECRET) == set()
    with pytest.raises(NotFound):
        vault.memories.get(derived.id)
    assert vault.memories.get(both.id).content == "they said it twice"
    assert [one.version for one in vault.memories.history(both.id).versions] == [2]
    assert [one.text for one in fork.messages(limit=9)] == ["something of its own"]
    assert vault.admin.index.verify().sound


@pytest.mark.feature("P9")
def test_a_memory_goes_with_its_versions_and_its_line_in_the_file(home: Recollectum, vault: Vault) -> None:
    learned = vault.learnings.save(f"always say {_SECRET}", "pattern")
    vault.learnings.save(f"never say {_KEPT}", "pattern")
    vault.learnings.sync()
    path = vault.learnings.file()
    assert _SECRET in path.read_text()
    receipt = vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.memories(learned.id)).token)
    assert receipt.state is PurgeState.DONE, receipt
    assert _SECRET not in path.read_text()
    assert _KEPT in path.read_text()
    assert _hits(home, _SECRET, _KEPT) == {_KEPT}
    vault.learnings.sync()
    assert [one.text for one in vault.learnings.list()] == [f"never say {_KEPT}"]


@pytest.mark.feature("P9")
def test_what_is_older_goes_and_what_is_newer_stays(home: Recollectum, vault: Vault, clock: Clock) -> None:
    old = _talk(vault, "home", _SECRET)
    mixed = _talk(vault, "work", f"{_SECRET}x")
    vault.memories.save(f"once {_SECRET}")
    clock.now += timedelta(days=40)
    mixed.add("user", f"today {_KEPT}")
    kept = vault.memories.save(f"now {_KEPT}").memory
    receipt = vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.older_than(30)).token)
    assert receipt.state is PurgeState.DONE, receipt
    assert _hits(home, _SECRET, _KEPT) == {_KEPT}
    assert [one.id for one in vault.sessions.list()] == [mixed.id]
    assert [one.text for one in mixed.messages(limit=9)] == [f"today {_KEPT}"]
    assert mixed.add("user", "and on").position == 7
    assert [one.id for one in vault.memories.list()] == [kept.id]
    with pytest.raises(NotFound):
        vault.sessions.get(old.id)


def test_a_clock_that_leaps_does_not_make_everything_old(vault: Vault, clock: Clock) -> None:
    _talk(vault, "home", _KEPT)
    clock.now += timedelta(days=3650)
    assert vault.admin.clock().held
    assert vault.privacy.purge.preview(PurgeRequest.older_than(30)).counts == {}


@pytest.mark.feature("P9")
def test_a_source_goes_and_is_followed_no_more(home: Recollectum, vault: Vault, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "one.md").write_text(f"# A note\n\nIt says {_SECRET} and more.\n")
    vault.admin.notes.add_folder(str(folder))
    vault.admin.notes.sync()
    assert _hits(home, _SECRET) == {_SECRET}
    receipt = vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.of_source(str(folder.resolve()))).token)
    assert (receipt.state, receipt.counts["notes"]) == (PurgeState.DONE, 1)
    assert (vault.admin.notes.list_folders(), _hits(home, _SECRET)) == ([], set())
    assert (folder / "one.md").exists()
    with pytest.raises(NotFound, match="is not followed"):
        vault.privacy.purge.preview(PurgeRequest.of_source(str(folder)))


@pytest.mark.feature("M9")
def test_a_person_asks_for_everything_of_theirs_to_go_at_once(home: Recollectum, vault: Vault) -> None:
    _talk(vault, "home", _SECRET)
    vault.learnings.save(f"always say {_SECRET}", "pattern")
    vault.learnings.sync()
    home.people.add_identity("user:ann", "telegram:421421421")
    home.people.add("user:bob")
    _talk(home.vault("user:bob"), "home", _KEPT)
    home.keys.add_grant("user:bob", "user:ann", "read")
    mine = home.login(home.keys.add("user:ann")[1]).vault("user:ann")
    receipt = mine.privacy.purge.run(mine.privacy.purge.preview(PurgeRequest.user()).token)
    assert (receipt.state, receipt.hits) == (PurgeState.DONE, 0), receipt
    assert receipt.by.startswith("key:")
    assert "user:ann" not in repr(receipt)
    assert _hits(home, _SECRET, "user:ann", "421421421", _KEPT) == {_KEPT}
    assert [str(one.owner) for one in home.people.list()] == ["user:bob"]
    assert [str(one) for one in home.list_owners()] == ["user:bob"]
    # The name may be used again, by somebody who knows nothing.
    assert home.vault("user:ann").admin.totals().messages == 0


@pytest.mark.feature("P9")
def test_a_token_is_good_for_what_was_seen_and_no_more(home: Recollectum, vault: Vault, clock: Clock) -> None:
    chat = _talk(vault, "home", _SECRET)
    token = vault.privacy.purge.preview(PurgeRequest.sessions(chat.id)).token
    chat.add("user", "one more")
    with pytest.raises(Conflict, match="has changed since the preview"):
        vault.privacy.purge.run(token)
    token = vault.privacy.purge.preview(PurgeRequest.sessions(chat.id)).token
    with pytest.raises(InvalidInput):
        vault.privacy.purge.run(f"{token[:-1]}{'0' if token[-1] != '0' else '1'}")
    with pytest.raises(InvalidInput):
        vault.privacy.purge.run("made up")
    mine = home.login(home.keys.add("user:ann")[1]).vault("user:ann")
    with pytest.raises(Denied, match="did not make that preview"):
        mine.privacy.purge.run(token)
    with pytest.raises(InvalidInput):
        home.vault("user:bob").privacy.purge.run(token)
    clock.now += timedelta(minutes=11)
    with pytest.raises(Conflict, match="too old"):
        vault.privacy.purge.run(token)
    assert vault.admin.totals().messages == 6


@pytest.mark.feature("P9")
def test_who_was_let_in_to_write_may_not_purge(home: Recollectum, vault: Vault) -> None:
    chat = _talk(vault, "home", _SECRET)
    home.people.add("user:bob")
    for right in ("read", "write"):
        home.keys.add_grant("user:bob", "user:ann", right)
    guest = home.login(home.keys.add("user:bob")[1]).vault("user:ann")
    for call in (lambda: guest.privacy.purge.preview(PurgeRequest.sessions(chat.id)), guest.privacy.purge.finish):
        with pytest.raises(Denied, match="only its owner may"):
            call()
    assert vault.admin.totals().messages == 5


def test_events_stay_and_say_nothing(home: Recollectum, vault: Vault) -> None:
    memory = vault.memories.save(f"once {_SECRET}").memory
    vault.memories.edit(memory.id, "something else")
    vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.memories(memory.id)).token)
    found = vault.admin.events.history(memory.id)
    assert [one.type for one in found] == ["created", "edited", "purged"]
    assert all(not one.payload for one in found)


def test_what_was_erased_is_not_taken_in_again(vault: Vault) -> None:
    chat = _talk(vault, "home", _SECRET)
    session, said = chat.info(), chat.messages(limit=9)
    vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.sessions(chat.id)).token)
    with pytest.raises(Exception, match="erased for good, and is not taken in again"):
        vault.sessions.adopt(session, said)
    assert vault.admin.totals().messages == 0


@pytest.mark.feature("P9")
def test_a_receipt_cannot_be_changed(home: Recollectum, vault: Vault) -> None:
    chat = _talk(vault, "home", _SECRET)
    made = vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.sessions(chat.id)).token)
    (kept,) = home.receipts.list()
    assert kept == made == home.receipts.get(made.id) == vault.privacy.purge.list_receipts()[0]
    assert home.receipts.verify(made)
    assert made.public_key == home.receipts.key()
    for change in (
        {"hits": 1},
        {"state": PurgeState.FAILED},
        {"by": "somebody"},
        {"at": "2020-01-01T00:00:00+00:00"},
        {"counts": {**made.counts, "messages": 6}},
        {"files_scanned": 999},
        {"owner": "0" * 32},
        {"request": "0" * 64},
        {"public_key": "0" * 64},
        {"signature": "00" * 64},
        {"hit_files": ("a",)},
        {"reason": "none"},
    ):
        assert not home.receipts.verify(replace(made, **change)), change


def test_a_file_that_still_has_it_is_named(home: Recollectum, vault: Vault) -> None:
    chat = _talk(vault, "home", _SECRET)
    (home.home.root / "stray.txt").write_text("I kept it: " + chat.messages(limit=1)[0].text)
    chat.messages()
    receipt = vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.sessions(chat.id)).token)
    assert (receipt.state, receipt.hit_files) == (PurgeState.FAILED, ("stray.txt",))
    assert receipt.hits > 0


def test_events_name_no_content_of_what_lost_its_words(home: Recollectum, vault: Vault) -> None:
    chat, other = _talk(vault, "home", _SECRET), _talk(vault, "work", _KEPT)
    memory = vault.memories.save("they said a thing twice").memory
    _cite(home, memory.id, chat.messages(limit=1)[0].id, other.messages(limit=1)[0].id)
    vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.sessions(chat.id)).token)
    assert vault.admin.events.history(memory.id)[-1].payload == {"version": 1, "lost_words": True}

    def look(tx: Tx) -> None:
        assert [one.message_id for one in citations.of(tx, memory.id)] == [other.messages(limit=1)[0].id]
        assert events.of(tx, memory.id)

    _in_rows(home, look)
