"""A connection that is cut at any message: what is reported is what happened, and the next try does it once.

`FAULTS_EVERY` is the distance of the messages that are tried, 1 for each; COMMIT and its answer are always tried.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Unreachable
from recollectum.vault.vault import Vault
from tests.plugins.postgres import PostgresDatabase
from tests.storage.postgres.cutting_proxy import CuttingProxy, Direction, proxied

EVERY = int(os.environ.get("FAULTS_EVERY", "9"))
DIRECTIONS: tuple[Direction, ...] = ("there", "back")
Proxied = tuple[Recollectum, CuttingProxy, PostgresDatabase]


@pytest.fixture
def home(postgres: PostgresDatabase, tmp_path: Path) -> Iterator[Proxied]:
    """A home whose connections a test can cut."""
    with (
        proxied(postgres) as (proxy, url),
        Recollectum(tmp_path / "home", settings={"storage.url": url, "encryption": "off"}) as opened,
    ):
        yield opened, proxy, postgres


def _save(vault: Vault, word: str) -> None:
    vault.memories.save(f"the {word} is what Ann keeps in her garage")


def _saved(vault: Vault, word: str) -> int:
    return sum(word in one.content for one in vault.memories.list(limit=20))


def _say(vault: Vault, word: str) -> None:
    vault.sessions.open(channel="garage").add("user", f"the {word} is what I keep in my garage")


def _said(vault: Vault, word: str) -> int:
    return sum(word in one.content for one in vault.sessions.open(channel="garage").window(20))


@pytest.mark.parametrize(("act", "count"), [(_save, _saved), (_say, _said)])
def test_a_write_is_stored_once_or_reported_as_not_written(
    home: Proxied, act: Callable[[Vault, str], None], count: Callable[[Vault, str], int]
) -> None:
    opened, proxy, _ = home
    vault = opened.vault("user:ann")
    act(vault, "zero")
    told: set[str] = set()
    for direction in DIRECTIONS:
        before = proxy.passed[direction]
        act(vault, f"{direction}first")
        messages, cuts = proxy.passed[direction] - before, 0
        for number in range(1, messages + 2, EVERY):
            word = f"{direction}no{number}x"
            proxy.cut_at(direction, number)
            try:
                act(vault, word)
                proxy.stop_cutting()
            except Unreachable as error:
                told.add(str(error).partition(" was lost; ")[2])
                assert count(vault, word) == 0, f"message {number} of {messages} {direction}: reported as not written"
                act(vault, word)
            assert count(vault, word) == 1, f"message {number} of {messages} {direction}"
            cuts += proxy.has_cut
        assert cuts > messages // EVERY // 2
    assert told == {"nothing was written; try again"}


@pytest.mark.parametrize(("act", "count"), [(_save, _saved), (_say, _said)])
def test_a_commit_that_is_cut_on_its_way_there_or_back(
    home: Proxied, act: Callable[[Vault, str], None], count: Callable[[Vault, str], int]
) -> None:
    opened, proxy, _ = home
    vault = opened.vault("user:ann")
    act(vault, "zero")
    for direction in DIRECTIONS:
        for after in (False, True):
            word = f"{direction}{after}"
            proxy.cut(direction, after=after)
            try:
                act(vault, word)
            except Unreachable:
                assert count(vault, word) == 0
                act(vault, word)
            assert proxy.has_cut
            assert count(vault, word) == 1


def test_a_recall_answers_in_full_or_with_a_sentence(home: Proxied) -> None:
    opened, proxy, _ = home
    vault = opened.vault("user:ann")
    for word in ("red", "blue", "green"):
        _save(vault, word)
    expected = [hit.text for hit in vault.recall("what is in the garage")]
    for direction in DIRECTIONS:
        before = proxy.passed[direction]
        vault.recall("what is in the garage")
        messages = proxy.passed[direction] - before
        for number in range(1, messages + 2, EVERY):
            proxy.cut_at(direction, number)
            try:
                found = vault.recall("what is in the garage")
            except Unreachable:
                found = vault.recall("what is in the garage")
            proxy.stop_cutting()
            assert [hit.text for hit in found] == expected
