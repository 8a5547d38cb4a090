"""Memories that are saved together wait for the index, and the next search finds them all the same."""

import random
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import RecollectumError
from recollectum.recall.index import waiting
from recollectum.storage.port import Tx
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.purge.request import PurgeRequest, PurgeState
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


def save(vault: Vault, *contents: str) -> list[str]:
    """Save memories together, and return their ids."""
    return [one.memory.id for one in vault.memories.save_many(Draft(content=content) for content in contents)]


def found(vault: Vault, word: str) -> list[str]:
    return [hit.text for hit in vault.recall(word, limit=50)]


def left(vault: Vault) -> int:
    return vault.admin.index.status().waiting


def pieces(vault: Vault) -> int:
    return vault.admin.index.status().pieces


def test_the_next_search_finds_them(vault: Vault) -> None:
    save(vault, "a zebra", "a walrus")
    assert (left(vault), pieces(vault)) == (2, 0)
    assert found(vault, "walrus") == ["a walrus"]
    assert (left(vault), pieces(vault)) == (0, 2)
    assert vault.admin.index.verify().sound


def test_a_list_of_one_waits_and_a_single_memory_does_not(vault: Vault) -> None:
    save(vault, "a zebra")
    assert (left(vault), pieces(vault)) == (1, 0)
    vault.memories.save("a walrus")
    assert (left(vault), pieces(vault)) == (1, 1)
    assert sorted(found(vault, "zebra walrus")) == ["a walrus", "a zebra"]


def test_the_words_of_a_key_are_found(vault: Vault) -> None:
    vault.memories.save_many([Draft(content="teal", key="favourite_colour"), Draft(content="a bus", key="transport")])
    assert left(vault) == 2
    assert found(vault, "colour") == ["teal"]


def test_they_are_found_by_meaning_too(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning(), embedder=scripted()) as home:
        vault = home.vault("user:alice")
        save(vault, "my automobile is red", "it rains")
        result = vault.recall("car")
        assert "my automobile is red" in [hit.text for hit in result]
        assert (result.degraded, left(vault)) == (None, 0)


def test_messages_and_memories_wait_at_the_same_time(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    # One row in each transaction: each kind needs several.
    monkeypatch.setattr(waiting, "_ROWS", 1)
    chat = vault.sessions.open()
    chat.add_many([NewMessage(role="user", content=f"{word} in a talk") for word in WORDS[:3]])
    save(vault, *(f"a {word}" for word in WORDS[:3]))
    chat.add_many([NewMessage(role="user", content=f"{word} in a talk") for word in WORDS[3:]])
    assert (left(vault), pieces(vault)) == (9, 0)
    assert sorted(found(vault, "otter")) == ["a otter", "otter in a talk"]
    assert (left(vault), pieces(vault)) == (0, 9)


def test_too_many_do_not_wait(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "MOST", 4)
    for number in range(3):
        save(vault, f"zebra {number}", f"walrus {number}")
    assert (left(vault), pieces(vault)) == (4, 2)
    assert len(found(vault, "zebra")) == 3
    assert (left(vault), pieces(vault)) == (0, 6)


def test_a_memory_that_is_forgotten_before_any_search_is_not_indexed_and_found_when_it_is_restored(
    vault: Vault,
) -> None:
    gone, kept = save(vault, "a zebra", "a walrus")
    vault.memories.forget(gone)
    assert (found(vault, "zebra"), found(vault, "walrus"), pieces(vault)) == ([], ["a walrus"], 1)
    vault.memories.move(gone, "active")
    assert found(vault, "zebra") == ["a zebra"]
    vault.memories.edit(kept, "an otter", version=1)
    assert (found(vault, "walrus"), found(vault, "otter"), pieces(vault)) == ([], ["an otter"], 2)
    assert vault.admin.index.verify().sound


@pytest.mark.process
def test_a_purge_erases_what_waits(vault: Vault) -> None:
    gone, _ = save(vault, "a zebraquagga", "a walrus")
    seen = vault.privacy.purge.preview(PurgeRequest.memories(gone))
    assert (seen.counts["memories"], seen.counts["chunks"]) == (1, 1)
    receipt = vault.privacy.purge.run(seen.token)
    assert (receipt.state, receipt.hits) == (PurgeState.DONE, 0)
    assert found(vault, "zebraquagga") == []
    assert vault.admin.index.verify().sound


def test_a_vault_that_is_closed_has_none(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning()) as home:
        save(home.vault("user:alice"), "a zebra", "a walrus")
    with open_home(tmp_path, Turning()) as home:
        assert left(home.vault("user:alice")) == 0
        assert found(home.vault("user:alice"), "zebra") == ["a zebra"]


@pytest.mark.parametrize("seed", range(4))
def test_a_life_with_waiting_memories_finds_what_one_without_finds(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two vaults live the same; in one, each memory is indexed with the transaction that saves it."""
    rnd = random.Random(seed)
    with ExitStack() as stack:
        lives = [
            stack.enter_context(open_home(tmp_path / name, Turning())).vault("user:alice") for name in ("now", "later")
        ]
        saved: list[list[str]] = [[], []]
        held: list[list[str]] = [[], []]
        for step in range(60):
            act, place, word = rnd.choice("sssseeffrraqqls"), rnd.randrange(1000), rnd.choice(WORDS)
            told: list[object] = []
            for number, vault in enumerate(lives):
                with monkeypatch.context() as patch:
                    if number == 0:
                        patch.setattr(waiting, "defer", _never)
                    told.append(_act(vault, act, f"{word} {step}", place, saved[number], held[number]))
            assert told[0] == told[1], act
        ends = [({word: sorted(found(one, word)) for word in WORDS}, pieces(one), left(one)) for one in lives]
        assert ends[0] == ends[1]
        assert all(one.admin.index.verify().sound for one in lives)


def _never(_: Tx, __: waiting.WaitingKind, ___: Sequence[int]) -> bool:
    return False


def _act(vault: Vault, act: str, text: str, place: int, saved: list[str], held: list[str]) -> object:
    if act == "s" or not saved:
        saved += save(vault, text, f"{text} too", f"{text} again")
        return None
    memory_id = saved[place % len(saved)]
    try:
        match act:
            case "e":
                vault.memories.edit(memory_id, f"{text} edited", version=vault.memories.get(memory_id).version)
            case "f":
                vault.memories.forget(memory_id)
            case "a" | "r":
                vault.memories.move(memory_id, "archived" if act == "a" else "active")
            case "q" if not held:
                held.append(vault.privacy.quarantine.add(f"author:{vault.memories.get(memory_id).author}").id)
            case "q":
                vault.privacy.quarantine.release(held.pop())
            case _:
                return sorted(found(vault, text.partition(" ")[0]))
    except RecollectumError as error:
        # Refused, as of a memory that is deleted; in both alike.
        return type(error)
    return None
