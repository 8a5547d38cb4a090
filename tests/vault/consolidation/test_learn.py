"""`vault.learn`: a conversation is kept and becomes memories or proposals in one call."""

from pathlib import Path

import pytest

from recollectum.domain.errors import Denied, InvalidInput, NotFound
from recollectum.vault.intake.new_message import NewMessage
from tests.matrix.homes import Turning, open_home
from tests.vault.scripted_homes import echoing, home_with

TEA = "I drink green tea every morning"
CAT = "My cat is called Ada"


def test_a_model_turns_messages_into_memories_once(place: Path, clock: Turning) -> None:
    messages = [{"role": "user", "content": f"Hello! {TEA}.", "id": "m1"}, {"role": "assistant", "content": "Noted."}]
    with home_with(place, clock, echoing(TEA, CAT)) as home:
        vault = home.vault("user:alice")
        learned = vault.learn(messages, channel="telegram", agent="main")
        assert [one.content for one in learned.memories] == [TEA]
        assert (learned.proposals, learned.trouble) == ((), None)
        again = vault.learn(messages[:1], channel="telegram", agent="main")
        assert (again.session_id, again.memories) == (learned.session_id, ())
        assert len(vault.sessions.chat(learned.session_id).messages()) == 2
        more = vault.learn([NewMessage(role="user", content=CAT, native_id="m3")], session_id=learned.session_id)
        assert [one.content for one in more.memories] == [CAT]


def test_without_a_model_rules_propose_and_the_conversation_is_kept(place: Path, clock: Turning) -> None:
    with open_home(place, clock) as home:
        vault = home.vault("user:alice")
        learned = vault.learn([{"role": "user", "content": "Remember that my sister is called Grace.", "id": "m1"}])
        assert len(vault.sessions.chat(learned.session_id).messages()) == 1
        assert learned.memories or learned.proposals
        assert vault.learn([{"role": "user", "content": "Remember that my sister is called Grace.", "id": "m1"}]) == (
            type(learned)(session_id=learned.session_id)
        )


@pytest.mark.parametrize("message", [{"content": "x"}, {"role": "user"}, {"role": "user", "content": 7}])
def test_a_message_without_role_or_content_is_refused(place: Path, clock: Turning, message: dict[str, object]) -> None:
    with open_home(place, clock) as home:
        vault = home.vault("user:alice")
        with pytest.raises(InvalidInput, match="a message needs a role and a content"):
            vault.learn([message])
        assert vault.sessions.list() == []


def test_a_session_that_is_not_there_and_a_caller_who_may_not_write_are_refused(place: Path, clock: Turning) -> None:
    with open_home(place, clock) as home:
        vault = home.vault("user:alice")
        with pytest.raises(NotFound):
            vault.learn([{"role": "user", "content": "hello"}], session_id="ses_none")
        _, secret = home.keys.add("user:alice", permissions=("read",))
        with pytest.raises(Denied):
            home.login(secret).vault("user:alice").learn([{"role": "user", "content": "hello"}])
