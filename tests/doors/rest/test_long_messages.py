"""A long message is stored whole and searched up to a limit, so that its cost does not grow with the square."""

from itertools import pairwise

import pytest

from recollectum.domain.notice import INDEXED
from recollectum.storage.tables.index import chunks
from recollectum.vault.vault import Vault
from tests.doors.http.served import Served


def _text(size: int) -> str:
    return "".join(f"Line {number} of a log. " for number in range(size // 16))[:size]


def _pieces(vault: Vault) -> int:
    return vault.sessions._runtime.read(lambda tx, _: chunks.count(tx))  # pyright: ignore[reportPrivateUsage]


@pytest.mark.loopback
def test_what_is_past_the_limit_is_stored_and_not_searched(served: Served) -> None:
    session = served.ask("POST", "/v1/sessions", {}).json["session"]["id"]
    path = f"/v1/sessions/{session}/messages"
    text = f"The zebra comes first. {_text(3 * INDEXED)} The walrus comes last."
    said = served.ask("POST", path, {"role": "user", "content": text}).json
    assert said["notice"]["unindexed"] == len(text) - INDEXED
    assert said["message"]["content"] == text
    assert served.ask("POST", path, {"role": "user", "content": "short"}).json["notice"]["unindexed"] == 0
    vault = served.home.vault("user:alice")
    assert [hit.text for hit in vault.recall("zebra") if "zebra" in hit.text]
    assert not [hit.text for hit in vault.recall("walrus") if "walrus" in hit.text]
    assert vault.memories.save(text).notice.unindexed == len(text) - INDEXED
    assert not [hit.text for hit in vault.recall("walrus") if "walrus" in hit.text]


@pytest.mark.loopback
def test_twice_the_text_is_not_more_pieces(served: Served) -> None:
    vault = served.home.vault("user:alice")
    chat = vault.sessions.open()
    counts = [_pieces(vault)]
    for times in (1, 2, 4):
        chat.add("user", _text(times * INDEXED))
        counts.append(_pieces(vault))
    first, second, third = (after - before for before, after in pairwise(counts))
    assert first == second == third > 100
