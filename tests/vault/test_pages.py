"""Every list comes in pages: page by page it is the whole list, in the same order, and ends."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from recollectum.domain.errors import InvalidInput, StepRefused
from recollectum.domain.page import Page, every
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning

LISTS: dict[str, Callable[[Vault, str | None, int], Page[Any]]] = {
    "memories": lambda vault, cursor, limit: vault.memories.list(cursor=cursor, limit=limit),
    "sessions": lambda vault, cursor, limit: vault.sessions.list(cursor=cursor, limit=limit),
    "events": lambda vault, cursor, limit: vault.admin.events.list(cursor=cursor, limit=limit),
    "transcript": lambda vault, cursor, limit: vault.sessions.open(channel="c0").transcript(cursor=cursor, limit=limit),
}


@pytest.fixture
def filled(vault: Vault) -> Vault:
    for number in range(7):
        vault.memories.save(f"thing number {number}")
        vault.sessions.open(channel=f"c{number}")
        vault.sessions.open(channel="c0").add("user", f"message {number}")
    return vault


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("limit", [1, 3, 7, 100])
def test_the_pages_of_a_list_are_the_whole_list(filled: Vault, name: str, limit: int) -> None:
    load = LISTS[name]
    whole = load(filled, None, 1000)
    assert len(whole) >= 7
    assert whole.next is None
    assert list(every(lambda cursor: load(filled, cursor, limit))) == whole


def test_the_last_page_is_known_without_another_question(filled: Vault) -> None:
    assert filled.memories.list(limit=7).next is None
    assert filled.memories.list(limit=6).next is not None


def test_messages_are_read_from_the_end_in_their_order(filled: Vault) -> None:
    chat = filled.sessions.open(channel="c0")
    last = chat.messages(limit=3)
    before = chat.messages(cursor=last.next, limit=10)
    assert [one.position for one in (*before, *last)] == list(range(1, 8))
    assert before.next is None


@pytest.mark.parametrize("cursor", ["x", "-1", "٣", "1.5", str(10**30)])
def test_a_cursor_that_no_page_gave_is_refused(filled: Vault, cursor: str) -> None:
    with pytest.raises(InvalidInput, match="not returned by a page"):
        filled.admin.events.list(cursor=cursor)


def test_memories_are_listed_by_their_ids_in_that_order(vault: Vault, clock: Turning) -> None:
    first, second, third = (vault.memories.save(text).id for text in ("one cat", "two dogs", "three birds"))
    brief = vault.memories.save("four fish", ttl=timedelta(hours=1)).id
    vault.memories.forget(second)
    vault.memories.move(third, "archived")
    listed = vault.memories.list(ids=[brief, "mem_none", second, third, first])
    assert ([one.id for one in listed], listed.next) == ([brief, first], None)
    assert listed == [vault.memories.get(brief), vault.memories.get(first)]
    clock.turn(timedelta(hours=2))
    assert [one.id for one in vault.memories.list(ids=(brief, first))] == [first]
    assert vault.memories.list(ids=[]) == []


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"ids": ["mem_a"], "kind": "fact"}, "give the ids alone"),
        ({"ids": ["mem_a"], "key_prefix": "k"}, "give the ids alone"),
        ({"ids": ["mem_a"] * 1001}, "1001 ids are too many"),
        ({"ids": ["mem_a", 5]}, "an id must be text, not int"),
        ({"ids": ["mem_a"], "state": "archived"}, "cannot be listed by ids; use active"),
    ],
)
def test_ids_that_cannot_be_listed_are_refused(vault: Vault, given: dict[str, Any], says: str) -> None:
    with pytest.raises((InvalidInput, StepRefused), match=says):
        vault.memories.list(**given)
