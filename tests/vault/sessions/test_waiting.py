"""Messages that are added together wait for the index, and the next search finds them all the same."""

import random
import threading
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.recall.index import waiting
from recollectum.storage.port import Tx
from recollectum.storage.tables.index import chunks
from recollectum.upkeep.doctor.examination import examine
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.purge.request import PurgeRequest, PurgeState
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.sessions.chat import Chat
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home
from tests.recall.homes import scripted

WORDS = ("zebra", "walrus", "otter", "lynx", "heron", "viper")


@pytest.fixture
def home(tmp_path: Path) -> Generator[Recollectum]:
    with open_home(tmp_path, Turning()) as opened:
        yield opened


@pytest.fixture
def vault(home: Recollectum) -> Vault:
    return home.vault("user:alice")


def sentence(word: str, place: int) -> str:
    """A text with the word that is like no other one, which recall would leave out."""
    return f"{word} {' '.join(f'{word}{place}x{number}' for number in range(place % 7 + 2))}"


def say(chat: Chat, *words: str) -> None:
    begun = chat.info().message_count
    said = [NewMessage(role="user", content=sentence(word, at)) for at, word in enumerate(words, start=begun + 1)]
    chat.add_many(said)


def found(vault: Vault, word: str) -> list[str]:
    return [hit.text for hit in vault.recall(word, limit=50)]


def left(vault: Vault) -> int:
    return vault.admin.index.status().waiting


def runtime_of(vault: Vault) -> VaultRuntime:
    return vault.sessions._runtime  # pyright: ignore[reportPrivateUsage]


def pieces(vault: Vault) -> int:
    return runtime_of(vault).read(lambda tx, _: chunks.count(tx))


def test_the_next_search_finds_them(vault: Vault) -> None:
    say(vault.sessions.open(), "zebra", "walrus")
    assert left(vault) == 2
    assert found(vault, "walrus") == [sentence("walrus", 2)]
    assert left(vault) == 0
    assert pieces(vault) == 2
    assert vault.recall("zebra").degraded is None
    assert vault.admin.index.verify().sound


def test_the_next_context_shows_them(vault: Vault) -> None:
    say(vault.sessions.open(topic="a"), "zebra", "walrus")
    assert sentence("walrus", 2) in vault.context("walrus").text
    assert left(vault) == 0


def test_the_search_of_another_home_finds_them(tmp_path: Path, vault: Vault) -> None:
    say(vault.sessions.open(), "zebra", "walrus")
    with open_home(tmp_path, Turning()) as other:
        assert found(other.vault("user:alice"), "walrus") == [sentence("walrus", 2)]
    assert left(vault) == 0
    assert found(vault, "zebra") == [sentence("zebra", 1)]
    assert pieces(vault) == 2


def test_they_are_found_by_meaning_too(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning(), embedder=scripted()) as home:
        vault = home.vault("user:alice")
        vault.memories.save("nothing of that kind")
        vault.admin.index.update()
        said = [NewMessage(role="user", content=one) for one in ("my automobile is red", "it rains")]
        vault.sessions.open().add_many(said)
        result = vault.recall("car")
        assert "my automobile is red" in [hit.text for hit in result]
        assert (result.degraded, left(vault)) == (None, 0)


def test_one_message_does_not_wait(vault: Vault) -> None:
    chat = vault.sessions.open()
    chat.add("user", "I saw a zebra")
    say(chat, "walrus")
    assert (left(vault), pieces(vault)) == (0, 2)


def test_what_was_indexed_meanwhile_is_not_indexed_twice(vault: Vault) -> None:
    chat = vault.sessions.open()
    say(chat, "zebra", "walrus")
    chat.add("user", "I saw a heron")
    say(chat, "otter", "lynx")
    assert (left(vault), pieces(vault)) == (4, 1)
    assert found(vault, "heron") == ["I saw a heron"]
    assert pieces(vault) == 5


def test_too_many_do_not_wait(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "MOST", 4)
    monkeypatch.setattr(waiting, "_ROWS", 1)
    chat = vault.sessions.open()
    for _ in range(3):
        say(chat, "zebra", "walrus")
    assert (left(vault), pieces(vault)) == (4, 2)
    assert len(found(vault, "zebra")) == 3
    assert (left(vault), pieces(vault)) == (0, 6)


def test_a_vault_that_is_closed_has_none(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning()) as home:
        say(home.vault("user:alice").sessions.open(), "zebra", "walrus")
    with open_home(tmp_path, Turning()) as home:
        assert left(home.vault("user:alice")) == 0
        assert found(home.vault("user:alice"), "zebra") == [sentence("zebra", 1)]


def test_the_index_counts_them_as_waiting_and_not_as_missing(home: Recollectum, vault: Vault) -> None:
    say(vault.sessions.open(), "zebra", "walrus")
    health = examine(home.admin, lambda owner: home.vault(owner, create=False).admin.clock(), home.settings, fix=False)
    assert not [one for one in health if "missing from the index" in one.words]
    assert left(vault) == 2
    assert vault.admin.index.verify().sound
    assert left(vault) == 0
    say(vault.sessions.open(), "otter", "lynx")
    assert (vault.admin.index.catch_up(), left(vault)) == (0, 0)
    say(vault.sessions.open(), "heron", "viper")
    assert (vault.admin.index.rebuild(), left(vault)) == (6, 0)


def test_a_quarantined_message_is_not_indexed(vault: Vault) -> None:
    chat, other = vault.sessions.open(topic="a"), vault.sessions.open(topic="b")
    say(chat, "zebra", "walrus")
    say(other, "otter", "zebra")
    held = vault.privacy.quarantine.add(f"session:{chat.id}")
    assert (len(found(vault, "zebra")), left(vault), pieces(vault)) == (1, 0, 2)
    say(chat, "lynx", "heron")
    assert (found(vault, "lynx"), left(vault)) == ([], 0)
    vault.privacy.quarantine.release(held.id)
    assert (len(found(vault, "zebra")), found(vault, "lynx"), pieces(vault)) == (2, [sentence("lynx", 3)], 6)
    assert vault.admin.index.verify().sound


def test_one_released_before_any_search_is_indexed_once(vault: Vault) -> None:
    chat = vault.sessions.open()
    say(chat, "zebra", "walrus")
    held = vault.privacy.quarantine.add(f"session:{chat.id}")
    vault.privacy.quarantine.release(held.id)
    assert (found(vault, "zebra"), pieces(vault), left(vault)) == ([sentence("zebra", 1)], 2, 0)


def test_numbers_that_are_used_again_after_a_session_was_destroyed_wait_too(vault: Vault) -> None:
    kept, gone = vault.sessions.open(topic="a"), vault.sessions.open(topic="b")
    say(kept, "heron", "viper")
    assert found(vault, "heron")
    say(gone, "zebra", "walrus")
    vault.sessions.delete(gone.id)
    say(kept, "otter", "lynx")
    assert (found(vault, "zebra"), found(vault, "otter"), left(vault)) == ([], [sentence("otter", 3)], 0)
    # Also below the numbers that wait.
    say(gone := vault.sessions.open(topic="c"), "zebra", "walrus")
    say(kept, "zebra", "walrus")
    vault.sessions.delete(gone.id)
    say(kept, "lynx", "viper")
    assert (found(vault, "zebra"), len(found(vault, "viper"))) == ([sentence("zebra", 5)], 2)
    assert vault.admin.index.verify().sound


@pytest.mark.process
def test_a_purge_erases_what_waits(vault: Vault) -> None:
    chat = vault.sessions.open()
    say(chat, "zebraquagga", "walrus")
    seen = vault.privacy.purge.preview(PurgeRequest.sessions(chat.id))
    assert (seen.counts["messages"], seen.counts["chunks"]) == (2, 2)
    receipt = vault.privacy.purge.run(seen.token)
    assert (receipt.state, receipt.hits) == (PurgeState.DONE, 0)
    assert found(vault, "zebraquagga") == []
    assert vault.admin.index.verify().sound


def refuse_writes(vault: Vault) -> None:
    """Have the database of a vault take no more writes in this process."""
    runtime_of(vault).database.write(lambda tx: tx.rows("PRAGMA query_only = on", {}))


def test_a_search_that_cannot_write_says_how_many_it_did_not_search(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning()) as home:
        vault = home.vault("user:alice")
        vault.memories.save("a zebra of long ago")
        say(vault.sessions.open(), "zebra", "walrus")
        refuse_writes(vault)
        result = vault.recall("zebra")
        assert [hit.text for hit in result] == ["a zebra of long ago"]
        assert (result.degraded or "").startswith("2 texts are not indexed yet and were not searched: ")
        left_out = [one.why for one in vault.context("zebra").ledger.left_out]
        assert [why for why in left_out if "2 texts are not indexed yet" in why]
        # It is checked as it is, and they are not missing in it.
        assert vault.admin.index.verify().sound
        # The counts are shown without them.
        assert "chunks" not in vault.privacy.purge.preview(PurgeRequest.sessions(vault.sessions.open().id)).counts
    with open_home(tmp_path, Turning()) as home:
        result = home.vault("user:alice").recall("zebra")
        assert (len(result), result.degraded) == (2, None)


def test_who_may_only_read_finds_them(tmp_path: Path, home: Recollectum) -> None:
    home.people.add("user:alice")
    say(home.vault("user:alice").sessions.open(), "zebra", "walrus")
    secret = home.keys.add("user:alice", permissions=("read",))[1]
    rules = tmp_path / "config/recollectum/policies/none.toml"
    rules.parent.mkdir(parents=True)
    rules.write_text('[[rule]]\ntool = ["memory.write", "session.write", "index.write"]\ndecision = "deny"\n')
    with open_home(tmp_path, Turning(), api_key=secret) as reader:
        assert found(reader.vault("user:alice"), "walrus") == [sentence("walrus", 2)]


def test_several_that_search_at_once_index_each_once(tmp_path: Path, vault: Vault) -> None:
    chat = vault.sessions.open()
    for _ in range(40):
        say(chat, *WORDS)
    start, seen = threading.Barrier(3), list[int]()
    with ExitStack() as stack:
        others = [stack.enter_context(open_home(tmp_path, Turning())).vault("user:alice") for _ in range(2)]

        def search(one: Vault) -> None:
            start.wait()
            seen.append(len(found(one, "lynx")))

        threads = [threading.Thread(target=search, args=(one,)) for one in (vault, *others)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == [40, 40, 40]
    assert (pieces(vault), left(vault)) == (240, 0)
    assert vault.admin.index.verify().sound


@pytest.mark.parametrize("seed", range(3))
def test_a_life_with_waiting_messages_finds_what_one_without_finds(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two vaults live the same; in one, each message is indexed with the transaction that adds it."""
    rnd = random.Random(seed)
    with ExitStack() as stack:
        lives = [
            stack.enter_context(open_home(tmp_path / name, Turning())).vault("user:alice") for name in ("now", "later")
        ]
        held: list[list[str]] = [[], []]
        for _ in range(60):
            act, topic = rnd.choice("aaammmdqrss"), rnd.choice("xyz")
            words = [rnd.choice(WORDS) for _ in range(rnd.randint(1, 4))]
            told: list[object] = []
            for place, vault in enumerate(lives):
                with monkeypatch.context() as patch:
                    if place == 0:
                        patch.setattr(waiting, "defer", _never)
                    told.append(_act(vault, act, topic, words, held[place]))
            assert told[0] == told[1], act
        ends = [({word: sorted(found(one, word)) for word in WORDS}, pieces(one), left(one)) for one in lives]
        assert ends[0] == ends[1]
        assert all(one.admin.index.verify().sound for one in lives)


def _never(_: Tx, __: waiting.WaitingKind, ___: Sequence[int]) -> bool:
    return False


def _act(vault: Vault, act: str, topic: str, words: list[str], held: list[str]) -> object:
    chat = vault.sessions.open(topic=topic)
    match act:
        case "a":
            say(chat, *words)
        case "m":
            chat.add("user", sentence(words[0], chat.info().message_count + 1))
        case "d":
            vault.sessions.delete(chat.id)
        case "q" if not held:
            held.append(vault.privacy.quarantine.add(f"session:{chat.id}").id)
        case "r" if held:
            vault.privacy.quarantine.release(held.pop())
        case _:
            return sorted(found(vault, words[0]))
    return None


@pytest.mark.parametrize("kind", ["messages", "memories"])
def test_the_range_grows_in_steps_up_to_a_limit(vault: Vault, kind: waiting.WaitingKind) -> None:
    def standing(tx: Tx) -> waiting.WaitingRange:
        found = waiting.find(tx)
        assert found
        return found.messages if kind == "messages" else found.memories

    def grow(tx: Tx, _: object) -> None:
        assert waiting.defer(tx, kind, [5, 6])
        assert standing(tx) == (5, 1029)
        assert waiting.defer(tx, kind, [900, 3])
        assert standing(tx) == (3, 1029)
        assert waiting.defer(tx, kind, [1030])
        assert standing(tx) == (3, 2053)
        assert waiting.defer(tx, kind, [2 + waiting.MOST])
        assert not waiting.defer(tx, kind, [3 + waiting.MOST])
        waiting.note_done(tx)
        assert waiting.find(tx) is None

    runtime_of(vault).write(grow)
