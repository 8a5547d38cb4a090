"""Summaries: made when a conversation is long, piece by piece, and gone with what they cover."""

import pytest

from recollectum.domain.context import PartKind
from recollectum.domain.errors import NotFound
from recollectum.domain.message import ToolCall
from recollectum.domain.session import Summary
from recollectum.storage.tables.content import summaries
from recollectum.testing import ScriptedModel
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.sessions.chat import Chat
from recollectum.vault.vault import Vault

#: About 200 tokens.
LONG = "I moved to Lyon in March because of the new job, and Grace came along. " * 11


@pytest.fixture
def chat(vault: Vault) -> Chat:
    return vault.sessions.open(channel="talk")


def say(chat: Chat, messages: int) -> None:
    chat.add_many([NewMessage(role="user" if n % 2 else "assistant", content=f"{LONG}{n}.") for n in range(messages)])


@pytest.mark.feature("P5")
def test_a_short_conversation_has_none(vault: Vault, chat: Chat) -> None:
    say(chat, 30)
    assert vault.sessions.summaries.update(chat.id) is None
    assert vault.sessions.summaries.find(chat.id) is None


@pytest.mark.feature("P5")
def test_past_the_threshold_all_but_the_last_ten_are_folded_in(vault: Vault, chat: Chat) -> None:
    say(chat, 60)
    made = vault.sessions.summaries.update(chat.id)
    assert made is not None
    assert (made.up_to, made.by) == (50, "rules")
    assert "Lyon" in made.text
    assert vault.sessions.summaries.update(chat.id) == made == vault.sessions.summaries.find(chat.id)


@pytest.mark.feature("P5")
def test_the_next_one_reads_only_what_is_new(vault: Vault, chat: Chat) -> None:
    say(chat, 60)
    model = ScriptedModel(lambda _: "They moved to Lyon.")
    first = vault.sessions.summaries.update(chat.id, model=model)
    assert first == Summary(text="They moved to Lyon.", up_to=50, by=str(model.identity))
    chat.add("user", "The new thing is a lighthouse. " + LONG)
    say(chat, 60)
    asked = len(model.prompts)
    second = vault.sessions.summaries.update(chat.id, model=model)
    assert second is not None
    assert second.up_to == 111
    later = "\n".join(turn.text for prompt in model.prompts[asked:] for turn in prompt.turns)
    assert "They moved to Lyon." in later
    assert "lighthouse" in later
    assert f"{LONG}0.".strip()[-12:] not in later.split("lighthouse")[0]


def test_a_call_that_stays_keeps_its_result(vault: Vault, chat: Chat) -> None:
    say(chat, 50)
    chat.add("assistant", "", tool_calls=[ToolCall(id="call_1", name="look")])
    chat.add("tool", "found", extra={"tool_call_id": "call_1"})
    say(chat, 9)
    made = vault.sessions.summaries.update(chat.id)
    assert made is not None
    # The tenth from the end is the result; its call stays with it.
    assert made.up_to == 50


@pytest.mark.feature("P5")
def test_it_is_told_only_when_history_is_cut(vault: Vault, chat: Chat) -> None:
    say(chat, 60)
    vault.sessions.summaries.update(chat.id)
    cut = vault.context(session_id=chat.id)
    assert PartKind.SUMMARY in {part.kind for part in cut.ledger.parts}
    whole = vault.context(session_id=chat.id, tokens=100_000, messages=100)
    assert PartKind.SUMMARY not in {part.kind for part in whole.ledger.parts}
    assert len(whole.messages) == 60


def test_of_two_at_once_one_wins_and_nothing_is_lost(vault: Vault, chat: Chat) -> None:
    say(chat, 60)
    answers: list[Summary | None] = []

    def slow(_: object) -> str:
        # While this one thinks, another is done.
        if not answers:
            answers.append(vault.sessions.summaries.update(chat.id))
        return "The slow one's words."

    late = vault.sessions.summaries.update(chat.id, model=ScriptedModel(slow))
    assert late == answers[0] == vault.sessions.summaries.find(chat.id)
    assert late is not None
    assert late.by == "rules"


def test_what_is_removed_meanwhile_does_not_come_back(vault: Vault, chat: Chat) -> None:
    say(chat, 60)

    def deleting(_: object) -> str:
        if any(one.id == chat.id for one in vault.sessions.list()):
            vault.sessions.delete(chat.id)
        return "What was deleted."

    with pytest.raises(NotFound):
        vault.sessions.summaries.update(chat.id, model=ScriptedModel(deleting))
    runtime: VaultRuntime = vars(vault)["_runtime"]
    assert runtime.read(lambda tx, _: tx.rows("SELECT count(*) FROM summaries", {})) == [(0,)]


def test_it_goes_with_its_session_and_with_any_message_it_covers(vault: Vault, chat: Chat) -> None:
    runtime: VaultRuntime = vars(vault)["_runtime"]

    def left() -> int:
        return runtime.read(lambda tx, _: tx.rows("SELECT count(*) FROM summaries", {})[0][0])

    def remove(position: int) -> None:
        sql = "DELETE FROM messages WHERE session_id = :id AND position = :position"
        runtime.write(lambda tx, _: tx.run(sql, {"id": chat.id, "position": position}))

    say(chat, 60)
    vault.sessions.summaries.update(chat.id)
    remove(55)
    assert left() == 1
    remove(3)
    assert left() == 0
    vault.sessions.summaries.update(chat.id)
    assert left() == 1
    vault.sessions.delete(chat.id)
    assert left() == 0


def test_a_summary_is_replaced_only_by_who_saw_it(vault: Vault, chat: Chat) -> None:
    runtime: VaultRuntime = vars(vault)["_runtime"]
    made = Summary(text="a", up_to=5, by="rules")

    def save(up_to: int, before: int) -> bool:
        one = Summary(text="b", up_to=up_to, by="rules")
        return runtime.write(lambda tx, reading: summaries.save(tx, chat.id, one, reading.now, before=before))

    assert runtime.write(lambda tx, reading: summaries.save(tx, chat.id, made, reading.now, before=0))
    assert not save(7, before=0)
    assert not save(7, before=6)
    assert save(7, before=5)
    runtime.write(lambda tx, _: summaries.drop(tx, chat.id))
    # What it would carry on is gone: what it says may be what was taken out.
    assert not save(9, before=7)
