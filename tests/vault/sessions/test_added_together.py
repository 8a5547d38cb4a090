"""Many messages added at once become what they become one by one: ids, positions, counts and hits."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum.domain.errors import Conflict
from recollectum.domain.ids import IdMaker, system_clock
from recollectum.domain.message import Message, ToolCall
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.sessions.chat import Chat
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning, open_home

SAID = [
    NewMessage(role="user", content="a boat in the harbour", speaker="Ann"),
    NewMessage(role="assistant", content="which boat?", native_id="7"),
    NewMessage(role="user", content="said twice by the agent", native_id="8"),
    NewMessage(role="user", content="said twice, in other words", native_id="8"),
    NewMessage(role="tool", content="", tool_calls=(ToolCall(id="1", name="look", args={}, at=START),)),
    NewMessage(role="user", content="known before", native_id="1"),
    NewMessage(role="user", content=" ".join(f"word{number}" for number in range(2_000))),
    NewMessage(role="user", content="the last one", at=START - timedelta(days=2)),
]


def _no_chance(_: int) -> int:
    return 0


def _lived(folder: Path, add: Callable[[Chat], Sequence[Message]]) -> tuple[object, ...]:
    clock = Turning()
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        # Ids count up from their time, so that both homes make the same.
        patch.setattr(IdMaker.__init__, "__defaults__", (system_clock, _no_chance))
        home = stack.enter_context(open_home(folder, clock))
        vault = home.vault("user:alice")
        chat = vault.sessions.open()
        chat.add("user", "known before this", native_id="1")
        clock.turn(timedelta(hours=1))
        added = add(chat)
        found = [vault.recall(question, limit=20) for question in ("boat harbour", "twice", "word7", "last one")]
        hits = [[(hit.text, hit.score) for hit in one] for one in found]
        return added, chat.info(), list(chat.transcript()), hits, vault.admin.index.verify()


def test_many_at_once_are_as_one_after_the_other(tmp_path: Path) -> None:
    together = _lived(tmp_path / "together", lambda chat: chat.add_many(SAID))
    apart = _lived(tmp_path / "apart", lambda chat: [chat.add_many([one])[0] for one in SAID])
    assert together == apart


def _moved(vault: Vault, other: Vault, count: int) -> tuple[object, ...]:
    chat = vault.sessions.open()
    said = chat.add_many([NewMessage(role="user", content=f"boat {n}", native_id=str(n)) for n in range(count)])
    first = other.sessions.adopt(chat.info(), said[: count // 2])
    second = other.sessions.adopt(chat.info(), said)
    third = other.sessions.adopt(chat.info(), said)
    moved = [message.text for message in other.sessions.chat(chat.id).transcript()]
    return first.added, second.added, second.known, third.added, moved


def test_a_conversation_that_is_imported_again_gains_what_is_new(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning()) as home:
        found = _moved(home.vault("user:alice"), home.vault("user:bob"), 12)
    assert found == (6, 6, 6, 0, [f"boat {number}" for number in range(12)])


def test_an_import_whose_message_is_in_another_session_is_refused_as_a_whole(vault: Vault) -> None:
    chat = vault.sessions.open()
    said = chat.add_many([NewMessage(role="user", content=f"boat {number}") for number in range(3)])
    session = replace(chat.info(), id="ses_01K00000000000000000000000")
    copies = [replace(one, session_id=session.id) for one in said]
    new = replace(copies[0], id="msg_01K00000000000000000000000", position=4)
    with pytest.raises(Conflict, match=said[0].id):
        vault.sessions.adopt(session, [new, *copies])
    assert [one.id for one in vault.sessions.list()] == [chat.id]
