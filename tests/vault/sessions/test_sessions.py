"""Conversations that resume exactly, once each, both sides, and hooks that go by themselves."""

from datetime import timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.message import Role, TokenCount, ToolCall, ToolStatus
from recollectum.domain.session import SessionKey, SessionKind
from recollectum.domain.trust import Trust
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning, open_home

HOUR = timedelta(hours=1)


@pytest.mark.feature("A1")
@pytest.mark.feature("G18")
@pytest.mark.feature("A3")
@pytest.mark.parametrize("encryption", ["off", "auto"])
def test_a_conversation_resumes_exactly_after_a_restart(place: Path, clock: Turning, encryption: str) -> None:
    with open_home(place, clock, encryption=encryption) as home:
        chat = home.vault("user:alice").sessions.open(channel="telegram", agent="main")
        chat.add("user", "I am vegetarian", native_id="42", speaker="Alice", at=START - HOUR)
        chat.add(
            "assistant",
            [{"type": "text", "text": "Noted."}, {"type": "image", "url": "x"}],
            tool_calls=[ToolCall(id="1", name="save", args={"n": [1, 2.5, None]}, at=START)],
            thoughts=[{"text": "hm"}],
            tokens=TokenCount(input=3, output=4, total=7),
            model="some-model",
            extra={"a": {"b": True}},
        )
        chat.describe(title="Food", summary="No meat.")
        before = (chat.info(), chat.messages())
    with open_home(place, clock, encryption=encryption) as home:
        again = home.vault("user:alice").sessions.open(channel="telegram", agent="main")
        assert again.id == chat.id
        assert (again.info(), again.messages()) == before
        assert [message.role for message in again.messages()] == [Role.USER, Role.ASSISTANT]
        third = again.add("user", "And no fish.")
        assert third.position == 3
        assert again.info().message_count == 3
        assert again.info().token_estimate == sum(message.token_estimate for message in again.messages())


@pytest.mark.feature("P1")
@pytest.mark.feature("C5")
def test_messages_keep_their_order_and_their_estimates(vault: Vault) -> None:
    chat = vault.sessions.open()
    said = chat.add_many([NewMessage(role="user", content=f"word {n}") for n in range(120)])
    assert [message.position for message in said] == list(range(1, 121))
    assert all(message.token_estimate > 0 for message in said)
    assert [message.position for message in chat.messages(limit=3)] == [118, 119, 120]
    assert [message.position for message in chat.messages(cursor="118", limit=2)] == [116, 117]
    assert [message.position for message in chat.transcript(cursor="117")] == [118, 119, 120]


@pytest.mark.feature("A1")
def test_the_same_message_again_changes_nothing(vault: Vault) -> None:
    chat = vault.sessions.open()
    first = chat.add("user", "hello", native_id="n1")
    assert chat.add("user", "hello, differently", native_id="n1") == first
    twice = chat.add_many([NewMessage(role="user", content="x", native_id="n2")] * 2)
    assert twice[0] == twice[1]
    assert chat.info().message_count == 2
    other = vault.sessions.open(channel="other").add("user", "hello", native_id="n1")
    assert other.id != first.id


@pytest.mark.feature("A3")
def test_a_batch_is_recorded_whole_or_not_at_all(vault: Vault) -> None:
    chat = vault.sessions.open()
    wrong = NewMessage(role="nobody", content="not")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidInput):
        chat.add_many([NewMessage(role="user", content="fine"), wrong])
    assert chat.messages() == []
    assert chat.info().message_count == 0


@pytest.mark.feature("C5")
def test_a_tool_call_goes_from_pending_to_its_end(vault: Vault) -> None:
    chat = vault.sessions.open()
    calls = [ToolCall(id=str(n), name="look", args={"for": "x"}) for n in range(3)]
    message = chat.add("assistant", "", tool_calls=calls)
    done = ToolCall(id="1", name="look", args={"for": "x"}, result={"found": 3}, status=ToolStatus.COMPLETE)
    chat.record_call(message.id, done)
    chat.record_call(message.id, ToolCall(id="9", name="late", status=ToolStatus.DENIED))
    kept = chat.messages()[0].tool_calls
    assert [call.id for call in kept] == ["0", "1", "2", "9"]
    assert kept[1] == done
    assert kept[0].status is ToolStatus.PENDING
    with pytest.raises(NotFound):
        chat.record_call("msg_none", done)
    with pytest.raises(NotFound):
        vault.sessions.open(channel="other").record_call(message.id, done)


@pytest.mark.feature("A1")
def test_a_window_begins_with_a_user_and_parts_no_call_from_its_result(vault: Vault) -> None:
    chat = vault.sessions.open()
    for turn in range(4):
        for role in ("user", "assistant", "tool", "assistant"):
            chat.add(role, f"{role} {turn}")
    assert [message.text for message in chat.window(1)] == ["user 3", "assistant 3", "tool 3", "assistant 3"]
    assert [message.position for message in chat.window(2)] == list(range(9, 17))
    assert len(chat.window(100)) == 16
    with pytest.raises(InvalidInput):
        chat.window(0)


@pytest.mark.feature("G3")
def test_each_place_has_its_own_session(vault: Vault) -> None:
    places = [
        vault.sessions.open(),
        vault.sessions.open(channel="telegram"),
        vault.sessions.open(channel="telegram", agent="coder"),
        vault.sessions.open(channel="telegram", group="7"),
        vault.sessions.open(channel="telegram", group="7", topic="t:1"),
        vault.sessions.open(channel="telegram", topic="t"),
        vault.sessions.open(hook="deploy"),
    ]
    assert len({chat.id for chat in places}) == len(places)
    assert str(places[4].key) == "agent:main:telegram:group:7:topic:t%3A1"
    assert vault.sessions.open_key(str(places[4].key)).id == places[4].id
    assert [chat.id for chat in places] == [vault.sessions.open_key(chat.key).id for chat in places]
    assert {session.id for session in vault.sessions.list(key_prefix="agent:main:telegram:group:")} == {
        places[3].id,
        places[4].id,
    }


@pytest.mark.feature("G3")
def test_direct_chats_collapse_when_the_setting_says_so(place: Path, clock: Turning) -> None:
    with open_home(place, clock, settings={"sessions.direct": "main"}) as home:
        sessions = home.vault("user:alice").sessions
        first = sessions.open(channel="telegram")
        assert str(first.key) == "agent:main:main"
        assert sessions.open(channel="whatsapp").id == first.id
        assert sessions.open(channel="telegram", group="7").id != first.id


@pytest.mark.feature("G2")
def test_agents_apart_share_nothing(place: Path, clock: Turning) -> None:
    with open_home(place, clock, settings={"isolation": "agent"}) as home:
        home.people.add("user:alice")
        home.people.add_identity("user:alice", "telegram:42")
        chats = {agent: home.chat("telegram:42", agent=agent) for agent in ("main", "coder")}
        chats["main"].add("user", "canary")
        assert chats["main"].id != chats["coder"].id
        assert not home.vault("user:alice", agent="coder").recall("canary")
        assert home.vault("user:alice", agent="main").recall("canary")
        assert home.vault("user:alice").recall("canary"), "an agent that is not named is main"
        assert [str(owner) for owner in home.list_owners()] == ["user:alice/agent:coder", "user:alice/agent:main"]
        assert len(list(home.home.vaults.glob("*.db"))) == 2


def test_agents_together_share_one_vault(home: Recollectum) -> None:
    home.vault("user:alice", agent="one").memories.save("shared")
    assert home.vault("user:alice", agent="two").recall("shared")
    assert [str(owner) for owner in home.list_owners()] == ["user:alice"]


@pytest.mark.feature("G5")
def test_hooks_are_pruned_by_age_on_every_write(vault: Vault, clock: Turning) -> None:
    vault.sessions.open(hook="old").add("user", "canary")
    kept = vault.sessions.open(channel="telegram")
    clock.turn(47 * HOUR)
    vault.sessions.open(hook="middle").add("user", "x")
    clock.turn(2 * HOUR)
    vault.sessions.open(hook="new").add("user", "y")
    keys = {str(session.key) for session in vault.sessions.list()}
    assert keys == {str(kept.key), "hook:middle", "hook:new"}
    assert not vault.recall("canary")
    assert vault.admin.index.verify().sound
    assert [event.subject for event in vault.admin.events.list(type="pruned")] == ["session"]


@pytest.mark.feature("G5")
def test_hooks_are_pruned_by_count_and_the_one_written_to_stays(place: Path, clock: Turning) -> None:
    with open_home(place, clock, settings={"sessions.hook_max_count": 3}) as home:
        sessions = home.vault("user:alice").sessions
        for number in range(6):
            clock.turn(timedelta(seconds=1))
            sessions.open(hook=str(number)).add("user", "x")
        assert [str(session.key) for session in sessions.list()] == ["hook:5", "hook:4", "hook:3"]


def test_a_limit_of_nothing_prunes_no_hook(place: Path, clock: Turning) -> None:
    limits = {"sessions.hook_max_count": 0, "sessions.hook_max_age_hours": 0}
    with open_home(place, clock, settings=limits) as home:
        sessions = home.vault("user:alice").sessions
        for number in range(3):
            clock.turn(700 * HOUR)
            sessions.open(hook=str(number)).add("user", "x")
        assert len(sessions.list()) == 3


def test_a_session_that_ended_is_kept_and_not_resumed(vault: Vault) -> None:
    chat = vault.sessions.open()
    chat.add("user", "hello")
    ended = chat.end()
    assert ended.ended_at == START
    assert chat.end() == ended
    fresh = vault.sessions.open()
    assert fresh.id != chat.id
    assert len(vault.sessions.chat(chat.id).messages()) == 1


def test_pages_of_sessions_neither_skip_nor_repeat_while_sessions_change(vault: Vault) -> None:
    there = [vault.sessions.open(channel=f"c{number}").id for number in range(9)]
    seen: list[str] = []
    cursor = None
    for turn in range(9):
        page = vault.sessions.list(cursor=cursor, limit=2)
        seen += [one.id for one in page]
        if page.next is None:
            break
        cursor = page.next
        # One begins, the oldest and one that was shown go on, and the one that the cursor names is destroyed.
        vault.sessions.open(channel=f"new{turn}").add("user", "hello")
        vault.sessions.chat(there[0]).add("user", "still here")
        vault.sessions.chat(seen[0]).describe(title="renewed")
        if turn:
            vault.sessions.delete(seen[-1])
    assert seen == there[::-1]


def test_a_deleted_session_leaves_nothing_to_find(vault: Vault) -> None:
    chat = vault.sessions.open()
    chat.add("user", "canary")
    assert vault.sessions.delete(chat.id) is True
    assert not vault.recall("canary")
    for call in (lambda: vault.sessions.chat(chat.id), lambda: vault.sessions.delete(chat.id), chat.info):
        with pytest.raises(NotFound):
            call()
    with pytest.raises(NotFound):
        chat.add("user", "into the void")
    assert vault.admin.totals().messages == 0


@pytest.mark.feature("A3")
def test_who_spoke_and_how_far_they_are_believed_is_kept(vault: Vault) -> None:
    chat = vault.sessions.open(channel="whatsapp", group="7")
    chat.add("user", "tea please", speaker="Bob")
    chat.add("assistant", "tea it is")
    chat.add("tool", "tea: 80 degrees")
    found = {hit.author: hit.trust for hit in vault.recall("tea")}
    assert found == {"Bob": Trust.OWNER, "assistant": Trust.ASSISTANT, "tool": Trust.TOOL}


def test_a_key_without_a_place_is_refused(vault: Vault) -> None:
    for wrong in ("", "nonsense", "agent:a:b"):
        with pytest.raises(InvalidInput):
            vault.sessions.open_key(wrong)
    with pytest.raises(InvalidInput):
        vault.sessions.open(channel="tele\ngram")
    assert vault.sessions.open_key(SessionKey(SessionKind.CRON, name="nightly")).info().message_count == 0
