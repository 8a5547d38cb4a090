"""Citations: from a memory to the very words it came from, as long as both are there to be read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum.domain.errors import NotFound
from recollectum.domain.memory import Citation, Kind
from recollectum.domain.message import RoleName
from recollectum.domain.proposal import Act, Finding, Span
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning
from tests.vault.scripted_homes import echoing, home_with

TEA = "I drink green tea every morning"
CAT = "My cat is called Ada"


@pytest.fixture
def scripted(place: Path, clock: Turning) -> Iterator[Vault]:
    with home_with(place, clock, echoing(TEA, CAT)) as home:
        yield home.vault("user:alice")


def heard(vault: Vault, *texts: str, role: RoleName = "user", channel: str = "telegram") -> str:
    """A conversation in which this is said, and read for what is worth keeping."""
    chat = vault.sessions.open(channel=channel)
    for text in texts:
        chat.add(role, text)
    vault.admin.consolidation.run(chat.id)
    return chat.id


def words(vault: Vault, place: Citation) -> str:
    """What stands at a place."""
    (message,) = vault.sessions.chat(place.session_id).transcript(cursor=str(place.position - 1), limit=1)
    assert message.id == place.message_id
    return message.text[place.start : place.end]


@pytest.mark.feature("A5")
def test_what_was_read_leads_to_the_very_words(scripted: Vault) -> None:
    session = heard(scripted, "Good morning", f"Hello \N{HOT BEVERAGE}! {TEA}, 世界.", f"And {CAT}.")
    by_text = {one.content: one.id for one in scripted.memories.list()}
    for text, position in ((TEA, 2), (CAT, 3)):
        (place,) = scripted.memories.citations(by_text[text])
        assert (place.session_id, place.position, place.exact) == (session, position, True)
        assert words(scripted, place) == text


def test_what_was_approved_leads_there_too(scripted: Vault) -> None:
    heard(scripted, f"The page says: {TEA}.", role="tool")
    (waiting,) = scripted.admin.review.list()
    memory_id = scripted.admin.review.approve(waiting.id, content="Drinks green tea").memory_id
    assert memory_id is not None
    (place,) = scripted.memories.citations(memory_id)
    assert words(scripted, place) == TEA


def test_said_in_two_conversations_it_leads_to_both_in_order(vault: Vault) -> None:
    chats = [vault.sessions.open(channel=one) for one in ("telegram", "signal")]
    said = [chat.add("user", text) for chat in chats for text in ("Tea.", "Green tea.")]
    spans = tuple(Span(one.id, 0, start) for one in reversed(said) for start in (3, 2))
    finding = Finding(act=Act.ADD, content="Likes tea", kind=Kind.FACT, importance=0.5, spans=spans)
    (waiting,) = vault.admin.review.propose([finding])
    memory_id = vault.admin.review.approve(waiting.id).memory_id
    assert memory_id is not None
    found = [(one.session_id, one.position, one.end) for one in vault.memories.citations(memory_id)]
    assert found == [(chat.id, position, end) for chat in chats for position in (1, 2) for end in (2, 3)]


def test_what_was_saved_from_a_message_leads_to_all_of_it(vault: Vault) -> None:
    chat = vault.sessions.open(channel="cli")
    chat.add("user", "Hello")
    said = chat.add("user", "I moved to Lisbon \N{HOT BEVERAGE}")
    memory = vault.memories.save("Lives in Lisbon", message_id=said.id).memory
    (place,) = vault.memories.citations(memory.id)
    whole = Citation(
        session_id=chat.id, message_id=said.id, position=2, start=0, end=len("I moved to Lisbon ."), exact=False
    )
    assert place == whole


def test_what_was_written_by_hand_leads_nowhere(vault: Vault) -> None:
    assert vault.memories.citations(vault.memories.save("by hand").id) == []


def test_it_leads_nowhere_once_the_conversation_is_gone(scripted: Vault) -> None:
    session = heard(scripted, TEA)
    (memory,) = scripted.memories.list()
    scripted.memories.edit(memory.id, "Green tea, always")
    assert scripted.memories.citations(memory.id)
    scripted.sessions.delete(session)
    assert scripted.memories.citations(memory.id) == []


def test_what_is_forgotten_says_nothing_of_where_it_came_from(scripted: Vault) -> None:
    heard(scripted, TEA)
    (memory,) = scripted.memories.list()
    scripted.memories.move(memory.id, "archived")
    assert scripted.memories.citations(memory.id)
    scripted.memories.forget(memory.id)
    for id_ in (memory.id, "mem_none"):
        with pytest.raises(NotFound):
            scripted.memories.citations(id_)
