"""Everything of one source is taken out of recall and contexts at once, and comes back or goes for good."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import InvalidInput, NotFound, StepRefused
from recollectum.domain.memory import Kind, State
from recollectum.domain.message import Message, Role
from recollectum.domain.page import every
from recollectum.domain.proposal import Act, Decision, Finding, Span
from recollectum.domain.session import Session, SessionKey
from recollectum.domain.trust import Trust
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.purge.request import PurgeRequest, PurgeState
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning, open_home

pytestmark = pytest.mark.process


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Recollectum]:
    with open_home(tmp_path, Turning()) as opened:
        yield opened


@pytest.fixture
def vault(home: Recollectum) -> Vault:
    return home.vault("user:alice")


def _texts(vault: Vault, query: str = "zebra") -> set[str]:
    return {hit.text for hit in vault.recall(query, limit=100, untrusted=True)}


def _conversation(name: str, *texts: str) -> tuple[Session, list[Message]]:
    session = Session(id=f"ses_{name}", key=SessionKey(), created_at=START, updated_at=START)
    said = [
        Message(
            id=f"msg_{name}{place}",
            session_id=session.id,
            position=place,
            role=Role.USER,
            content=text,
            created_at=START,
            trust=Trust.OWNER,
        )
        for place, text in enumerate(texts, start=1)
    ]
    return session, said


def _import(vault: Vault, name: str, *texts: str, foreign: bool = False) -> str:
    found = vault.sessions.adopt(*_conversation(name, *texts), foreign=foreign).import_id
    assert found is not None
    return found


@pytest.mark.feature("G19")
def test_all_of_a_session_goes_and_comes_back(vault: Vault) -> None:
    chat, other = vault.sessions.open(channel="bad"), vault.sessions.open(channel="good")
    said = chat.add("user", "the zebra was bought in Oslo")
    other.add("user", "my zebra sleeps")
    derived = vault.memories.save("a zebra from Oslo", message_id=said.id).memory
    vault.memories.save("zebra of mine")
    before = _texts(vault)
    assert len(before) == 4
    made = vault.privacy.quarantine.add(f"session:{chat.id}")
    assert (made.messages, made.memories) == (1, 1)
    assert _texts(vault) == {"my zebra sleeps", "zebra of mine"}
    assert "Oslo" not in vault.context("zebra", mark="a1b2c3d4e5f60718").text
    assert "Oslo" not in vault.context(session_id=chat.id, mark="a1b2c3d4e5f60718").text
    assert derived.id not in {one.id for one in vault.memories.list()}
    # The index agrees, and making it again does not bring it back.
    assert vault.admin.index.verify().sound
    vault.admin.index.rebuild()
    assert vault.admin.index.verify().sound
    assert _texts(vault) == {"my zebra sleeps", "zebra of mine"}
    back = vault.privacy.quarantine.release(made.id)
    assert (back.messages, back.memories, back.left) == (1, 1, ())
    assert _texts(vault) == before
    assert vault.admin.index.verify().sound
    with pytest.raises(StepRefused, match="released already"):
        vault.privacy.quarantine.release(made.id)


@pytest.mark.parametrize("source", ["agent:coder", "tool:browser", "author:process", "imported"])
def test_each_kind_of_source(vault: Vault, source: str) -> None:
    vault.sessions.open(agent="coder").add("user", "zebra said to the coder")
    vault.sessions.open(agent="main").add_many(
        [NewMessage(role="tool", content="zebra from the web", speaker="browser")]
    )
    vault.memories.save("zebra kept by the process")
    _import(vault, "one", "zebra brought in")
    gone = {
        "agent:coder": {"zebra said to the coder"},
        "tool:browser": {"zebra from the web"},
        "author:process": {"zebra kept by the process"},
        "imported": {"zebra brought in"},
    }[source]
    before = _texts(vault)
    seen = vault.privacy.quarantine.preview(source)
    assert len(seen.messages) + len(seen.memories) == 1
    vault.privacy.quarantine.add(source)
    assert before - _texts(vault) == gone


@pytest.mark.feature("P9")
def test_what_is_set_aside_can_be_purged(vault: Vault) -> None:
    chat = vault.sessions.open(channel="bad")
    said = chat.add("user", "the zebra was bought in Oslo")
    vault.memories.save("a zebra from Oslo", message_id=said.id)
    made = vault.privacy.quarantine.add(f"session:{chat.id}")
    leave = vault.privacy.purge.preview(PurgeRequest.of_source(f"quarantine:{made.id}"))
    assert (leave.counts["messages"], leave.counts["memories"]) == (1, 1)
    assert vault.privacy.purge.run(leave.token).state is PurgeState.DONE
    assert vault.memories.list(state="archived") == []
    assert vault.privacy.quarantine.release(made.id).messages == 0


@pytest.mark.feature("M9")
def test_an_import_is_taken_back_whole(vault: Vault) -> None:
    first = _import(vault, "one", "zebra one", "zebra two")
    second = _import(vault, "one", "zebra one", "zebra two", "zebra three")
    kept = vault.memories.save("remembered zebra", message_id="msg_one1").memory
    listed = {one.id: one.messages for one in vault.sessions.list_imports()}
    assert listed == {first: 2, second: 1}
    done = vault.privacy.undo.brought(first)
    assert (done.messages, done.memories) == (2, 1)
    # Only what that import brought, and what was made of it.
    assert _texts(vault) == {"zebra three"}
    assert [one.id for one in vault.privacy.trash.list()] == [kept.id]
    vault.privacy.quarantine.release(done.id)
    assert _texts(vault) == {"zebra one", "zebra two", "zebra three", "remembered zebra"}
    with pytest.raises(NotFound, match="there is no import 'imp_none'"):
        vault.privacy.undo.brought("imp_none")


def test_quarantines_and_imports_come_in_pages_newest_first_and_none_is_missed(vault: Vault) -> None:
    brought = [_import(vault, f"talk{number}", f"zebra {number}") for number in range(5)]
    aside = [vault.privacy.quarantine.add(f"agent:coder{number}").id for number in range(5)]

    first, came = vault.privacy.quarantine.list(limit=2), vault.sessions.list_imports(limit=2)
    vault.privacy.quarantine.add("agent:late")
    _import(vault, "late", "a late zebra")
    following = every(lambda cursor: vault.privacy.quarantine.list(cursor=cursor or first.next, limit=2))
    after = every(lambda cursor: vault.sessions.list_imports(cursor=cursor or came.next, limit=2))

    assert [one.id for one in (*first, *following)] == aside[::-1]
    assert [one.id for one in (*came, *after)] == brought[::-1]
    with pytest.raises(InvalidInput, match="cursor 'none' was not returned by a page"):
        vault.sessions.list_imports(cursor="none")


def test_a_key_that_was_taken_meanwhile_is_left(vault: Vault) -> None:
    vault.memories.save("old zebra", key="pet", agent="coder")
    made = vault.privacy.quarantine.add("agent:coder")
    vault.memories.save("new zebra", key="pet")
    back = vault.privacy.quarantine.release(made.id)
    assert back.memories == 0
    assert back.left[0].why == "it was changed since then"
    assert _texts(vault) == {"new zebra"}


@pytest.mark.feature("G19")
@pytest.mark.parametrize("kind", ["session", "agent:coder", "tool:browser", "imported", "author:process"])
def test_what_a_source_writes_while_it_is_set_aside_is_set_aside_too(vault: Vault, kind: str) -> None:
    chat = vault.sessions.open(agent="coder")
    other = vault.sessions.open(agent="main")
    made = vault.privacy.quarantine.add(f"session:{chat.id}" if kind == "session" else kind)
    assert (made.messages, made.memories) == (0, 0)
    chat.add("user", "zebra said to the coder")
    other.add_many([NewMessage(role="tool", content="zebra from the web", speaker="Browser")])
    _import(vault, "one", "zebra brought in")
    vault.memories.save("zebra kept by the process")
    written = {
        "zebra said to the coder": {"session", "agent:coder"},
        "zebra from the web": {"tool:browser"},
        "zebra brought in": {"imported"},
        "zebra kept by the process": {"author:process"},
    }
    gone = {text for text, kinds in written.items() if kind in kinds}
    assert _texts(vault) == set(written) - gone
    assert vault.admin.index.verify().sound
    (standing,) = vault.privacy.quarantine.list()
    assert standing.messages + standing.memories == 1
    back = vault.privacy.quarantine.release(made.id)
    assert (back.messages + back.memories, back.left) == (1, ())
    assert _texts(vault) == set(written)
    # It is over.
    chat.add("user", "zebra once more")
    vault.memories.save("zebra again")
    assert {"zebra once more", "zebra again"} <= _texts(vault)


@pytest.mark.feature("G19")
def test_what_is_made_of_words_that_are_set_aside_is_set_aside(vault: Vault) -> None:
    chat = vault.sessions.open(channel="bad")
    said = chat.add("user", "the zebra was bought in Oslo")
    made = vault.privacy.quarantine.add(f"session:{chat.id}")
    saved = vault.memories.save("a zebra from Oslo", message_id=said.id).memory
    assert saved.state is State.ARCHIVED
    fork = vault.sessions.checkpoints.fork(chat.id, 1)
    fork.add("user", "a zebra of its own")
    assert _texts(vault) == {"a zebra of its own"}
    # Said again by the same source, it does not come back that way either.
    assert vault.memories.save("a zebra from Oslo", message_id=said.id).memory.state is State.ARCHIVED
    # What the owner says without it is their own word.
    assert vault.memories.save("a zebra from Oslo").memory.state is State.ACTIVE
    assert vault.privacy.quarantine.release(made.id).messages == 2


@pytest.mark.feature("G19")
def test_the_later_words_of_an_author_or_agent_are_held_however_they_are_written(vault: Vault) -> None:
    before = vault.memories.save("zebra one").memory
    vault.privacy.quarantine.add("author:process")
    # What was here is archived; edits and learnings that come now are held as well.
    assert vault.memories.get(before.id).state is State.ARCHIVED
    assert vault.memories.supersede(before.id, "zebra two").state is State.ARCHIVED
    vault.learnings.save("always greet the zebra", "preference")
    assert vault.learnings.list() == []
    assert _texts(vault) == set()


def _found(content: str, message: Message) -> Finding:
    return Finding(act=Act.ADD, content=content, kind=Kind.FACT, importance=0.5, spans=(Span(message.id, 0, 5),))


@pytest.mark.feature("G19")
def test_proposals_that_came_from_it_wait_with_it(vault: Vault) -> None:
    chat = vault.sessions.open(channel="bad")
    said = chat.add("user", "the zebra was bought in Oslo")
    (waiting,) = vault.admin.review.propose([_found("a zebra from Oslo", said)])
    made = vault.privacy.quarantine.add(f"session:{chat.id}")
    assert vault.admin.review.list() == []
    assert "Oslo" not in repr([vault.admin.review.get(waiting.id), vault.admin.review.diff(waiting.id)])
    with pytest.raises(StepRefused, match="comes from a quarantined source"):
        vault.admin.review.approve(waiting.id)
    # One that is laid in while it stands waits as well.
    vault.admin.review.propose([_found("another zebra from Oslo", said)])
    assert vault.admin.review.list() == []
    vault.privacy.quarantine.release(made.id)
    assert len(vault.admin.review.list()) == 2
    assert vault.admin.review.approve(waiting.id).decision is Decision.APPROVED


@pytest.mark.feature("M9")
def test_the_sessions_of_an_import_that_was_taken_back_are_nowhere(vault: Vault) -> None:
    own = vault.sessions.open(channel="mine")
    own.add("user", "my zebra")
    first = _import(vault, "one", "zebra one", "zebra two")
    listed = {one.id for one in vault.sessions.list()}
    done = vault.privacy.undo.brought(first)
    assert {one.id for one in vault.sessions.list()} == {own.id}
    with pytest.raises(StepRefused, match=f"was undone already; release {done.id}"):
        vault.privacy.undo.brought(first)
    for use in (
        lambda: vault.sessions.chat("ses_one"),
        lambda: vault.context(session_id="ses_one"),
        lambda: vault.sessions.checkpoints.fork("ses_one", 1),
    ):
        with pytest.raises(NotFound, match="was quarantined with its import"):
            use()
    assert _texts(vault) == {"my zebra"}
    # Brought in again it is known, and stays where it is.
    again = vault.sessions.adopt(*_conversation("one", "zebra one", "zebra two"))
    assert (again.added, again.known) == (0, 2)
    assert {one.id for one in vault.sessions.list()} == {own.id}
    vault.privacy.quarantine.release(done.id)
    assert {one.id for one in vault.sessions.list()} == listed
    assert len(vault.sessions.chat("ses_one").messages()) == 2


def test_a_session_that_an_import_only_added_to_stays(vault: Vault) -> None:
    _import(vault, "one", "zebra one")
    second = _import(vault, "one", "zebra one", "zebra two")
    vault.privacy.undo.brought(second)
    assert [one.id for one in vault.sessions.list()] == ["ses_one"]
    assert vault.sessions.get("ses_one").message_count == 2


@pytest.mark.parametrize("source", ["", "session:", "imported:x", "web:page", "session"])
def test_what_is_no_source_is_refused(vault: Vault, source: str) -> None:
    with pytest.raises(InvalidInput, match="is not a source"):
        vault.privacy.quarantine.add(source)


def test_nothing_is_learned_from_what_is_set_aside(home: Recollectum, vault: Vault) -> None:
    clock = home._runtime.clock  # pyright: ignore[reportPrivateUsage]
    assert isinstance(clock, Turning)
    chat = vault.sessions.open(channel="bad")
    chat.add("user", "I live in Oslo with my zebra.")
    chat.add("assistant", "Noted.")
    vault.privacy.quarantine.add(f"session:{chat.id}")
    clock.turn(timedelta(hours=2))
    vault.admin.consolidation.note_idle()
    vault.admin.consolidation.work()
    assert not vault.memories.list()
    assert not vault.admin.review.list()
