"""Where a memory came from, as its page shows it: the exact words, marked, and a way to the message they stand in."""

import re

import httpx2
import pytest

from recollectum.domain.memory import Kind
from recollectum.domain.proposal import Act, Finding, Span
from recollectum.vault.vault import Vault
from tests.doors.console.servers import Place

pytestmark = pytest.mark.loopback

SAID = "Graça. I drink oolong & nothing else, <b>really</b>. I drink oolong & nothing else, as I said."
WORDS = "I drink oolong & nothing else"
MARKED = f"<mark>{WORDS.replace('&', '&amp;')}</mark>"


def _vault(place: Place) -> Vault:
    return place.home.as_person("user:ada").vault("user:ada")


def _approved(vault: Vault, start: int) -> str:
    chat = vault.sessions.open(channel="cli")
    for number in range(70):
        chat.add("user", f"line {number}")
    said = chat.add("user", SAID)
    chat.add("assistant", "Noted.")
    spans = (Span(said.id, start, start + len(WORDS)),)
    finding = Finding(act=Act.ADD, content="Drinks oolong only", kind=Kind.FACT, importance=0.5, spans=spans)
    (waiting,) = vault.admin.review.propose([finding])
    memory_id = vault.admin.review.approve(waiting.id).memory_id
    assert memory_id is not None
    return memory_id


def _pages(client: httpx2.Client, memory_id: str) -> tuple[str, str]:
    """The page of the memory, and the page that its origin leads to."""
    page = client.get(f"/console/memories/{memory_id}").text
    found = re.search(r'href="([^"]+)">read it in the conversation', page)
    assert found
    return page, client.get(found[1].replace("&amp;", "&").partition("#")[0]).text


@pytest.mark.parametrize("start", [SAID.index(WORDS), SAID.rindex(WORDS)])
def test_the_very_words_are_marked_on_both_pages(place: Place, start: int) -> None:
    memory_id = _approved(_vault(place), start)
    with place.client("user:ada") as client:
        for page in _pages(client, memory_id):
            assert page.count(MARKED) == 1
            before = page[: page.index(MARKED)]
            # The same words stand there twice, and the ones that were cited are marked.
            assert ("really" in before[-200:]) == (start != SAID.index(WORDS))
            assert "<b>really" not in page


def test_of_a_long_message_the_nearest_sentence_is_marked(place: Place) -> None:
    vault = _vault(place)
    said = vault.sessions.open(channel="cli").add("user", "Hello there. The boat is called Petrel. Bye.")
    memory = vault.memories.save("the boat is called Petrel", message_id=said.id).memory
    with place.client("user:ada") as client:
        for page in _pages(client, memory.id):
            assert "<mark>The boat is called Petrel.</mark>" in page


def test_what_has_no_words_behind_it_says_so(place: Place) -> None:
    vault = _vault(place)
    silent = vault.sessions.open(channel="mcp").add("assistant", "")
    made = [vault.memories.save("by hand").memory, vault.memories.save("by a tool", message_id=silent.id).memory]
    with place.client("user:ada") as client:
        for one in made:
            assert (
                "It was saved directly, or its conversation is no longer here"
                in client.get(f"/console/memories/{one.id}").text
            )
