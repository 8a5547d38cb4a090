"""Checkpoints: a conversation goes on from a place once more, and not a word of the original changes."""

import pytest

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.message import Message, Role
from recollectum.domain.session import ORIGIN, Session, SessionKey, copied_to
from recollectum.domain.trust import Trust
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.sessions.chat import Chat
from recollectum.vault.vault import Vault
from tests.matrix.homes import START


@pytest.fixture
def chat(vault: Vault) -> Chat:
    chat = vault.sessions.open(channel="talk")
    chat.add_many([NewMessage(role="user", content=f"word {n}", native_id=f"n{n}") for n in range(1, 6)])
    return chat


@pytest.mark.feature("C18")
def test_a_conversation_goes_on_from_a_checkpoint(vault: Vault, chat: Chat) -> None:
    saved = vault.sessions.checkpoints.save(chat.id, "before")
    assert (saved.session_id, saved.position) == (chat.id, 5)
    chat.add("user", "the wrong way")
    before = chat.transcript()
    went_on = vault.sessions.checkpoints.resume("before")
    assert [one.text for one in went_on.transcript()] == [f"word {n}" for n in range(1, 6)]
    went_on.add("user", "the right way")
    assert vault.sessions.open(channel="talk").id == went_on.id != chat.id
    assert chat.transcript() == before
    assert chat.info().ended_at is not None
    # Once more, from the same place.
    assert len(vault.sessions.checkpoints.resume("before").transcript()) == 5


@pytest.mark.feature("C18")
def test_a_fork_says_where_it_comes_from(vault: Vault, chat: Chat) -> None:
    source = chat.transcript()
    memory = vault.memories.save("word two matters", message_id=source[1].id).memory
    fork = vault.sessions.checkpoints.fork(chat.id, 3)
    info = fork.info()
    assert (str(info.key), info.message_count, copied_to(info)) == (str(chat.key), 3, 3)
    assert info.extra["forked_from"] == {"session_id": chat.id, "position": 3, "messages": 3}
    copies = fork.transcript()
    assert [one.extra[ORIGIN] for one in copies] == [one.id for one in source[:3]]
    assert not {one.id for one in copies} & {one.id for one in source}
    assert [one.created_at for one in copies] == [one.created_at for one in source[:3]]
    # What cites the original still finds it.
    assert vault.memories.get(memory.id).message_id == source[1].id
    again = vault.sessions.checkpoints.fork(fork.id, 2)
    assert [one.extra[ORIGIN] for one in again.transcript()] == [one.id for one in source[:2]]
    assert copied_to(chat.info()) == 0


def test_a_fork_takes_a_summary_over_if_it_reaches_no_further(vault: Vault) -> None:
    chat = vault.sessions.open(channel="long")
    chat.add_many([NewMessage(role="user", content=f"I moved to Lyon in {n}. " * 30) for n in range(100)])
    made = vault.sessions.summaries.update(chat.id)
    assert made is not None
    assert vault.sessions.summaries.find(vault.sessions.checkpoints.fork(chat.id, 95).id) == made
    assert vault.sessions.summaries.find(vault.sessions.checkpoints.fork(chat.id, 20).id) is None


def test_a_fork_of_what_was_imported_does_not_speak_for_the_owner(vault: Vault) -> None:
    said = Message(
        id="msg_old",
        session_id="ses_old",
        position=1,
        role=Role.USER,
        content="obey me",
        created_at=START,
        trust=Trust.OWNER,
    )
    vault.sessions.adopt(Session(id="ses_old", key=SessionKey(), created_at=START, updated_at=START), [said])
    fork = vault.sessions.checkpoints.fork("ses_old", 1)
    assert fork.transcript()[0].trust is Trust.IMPORTED
    assert vault.sessions.open_key(SessionKey()).id == fork.id


def test_what_stands_in_a_fork_is_not_recalled_from_the_original(vault: Vault, chat: Chat) -> None:
    fork = vault.sessions.checkpoints.fork(chat.id, 5)
    assert "# Recalled" not in vault.context("word", session_id=fork.id).text


@pytest.mark.feature("C18")
def test_checkpoints_are_listed_moved_and_deleted(vault: Vault, chat: Chat) -> None:
    vault.sessions.checkpoints.save(chat.id, "one")
    other = vault.sessions.open(channel="other")
    vault.sessions.checkpoints.save(other.id, "two")
    assert {one.name for one in vault.sessions.checkpoints.list()} == {"one", "two"}
    assert [one.name for one in vault.sessions.checkpoints.list(other.id)] == ["two"]
    chat.add("user", "more")
    assert vault.sessions.checkpoints.save(chat.id, "one").position == 6
    vault.sessions.checkpoints.remove("two")
    assert [(one.name, one.position) for one in vault.sessions.checkpoints.list()] == [("one", 6)]
    vault.sessions.delete(chat.id)
    assert vault.sessions.checkpoints.list() == []


def test_what_is_not_there_is_said(vault: Vault, chat: Chat) -> None:
    for call in (vault.sessions.checkpoints.resume, vault.sessions.checkpoints.remove):
        with pytest.raises(NotFound, match="no checkpoint 'gone'"):
            call("gone")
    for position in (-1, 6):
        with pytest.raises(InvalidInput, match=rf"position {position} is not in session .*; use 0 to 5"):
            vault.sessions.checkpoints.fork(chat.id, position)
    with pytest.raises(InvalidInput, match="checkpoint name"):
        vault.sessions.checkpoints.save(chat.id, "two words")
    with pytest.raises(NotFound):
        vault.sessions.checkpoints.save("ses_none", "here")
