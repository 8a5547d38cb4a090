"""Operations send few statements, and as many for a list as for one: each is a round trip where the database is far."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from recollectum import Recollectum
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.vault import Vault
from tests.recall.homes import opened, scripted
from tests.storage.statements import StatementLog, traced

#: One of a context asks for the projects of the vault.
RECALL, FILTERED, CONTEXT, SAVE = 8, 10, 16, 10
#: A list in a vault that is closed: the catalog, the keys, two connections with their settings, the checks, on each
#: connection also whether the vault was moved, and the page.
OPEN_AND_LIST = 46
#: Characters of the longest statement of it: SQLite compiles it for each new connection.
LONGEST = 900
#: A recall that indexes the messages that wait, embeds one step of what is new, which is sixteen pieces, in the
#: background and waits for it.
CATCH_UP = 46
#: The terms of one piece: the rows of one call, and on a server one message.
_TERMS = "INSERT INTO search "

Traced = tuple[Vault, StatementLog]


@pytest.fixture(params=["words", "meaning"])
def opened_vault(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Traced]:
    """A vault with memories and a conversation, warm, with and without vectors."""
    embedder = scripted() if request.param == "meaning" else None
    with traced() as log, opened(tmp_path, embedder) as vault:
        vault.memories.save_many([Draft(content=f"the car number {number} of Ann is red") for number in range(60)])
        _say(vault, 40)
        vault.memories.save("boats are expensive", key="boats")
        vault.memories.save("I never go by car at night", kind="preference")
        if embedder:
            vault.admin.index.update()
        vault.recall("red car")
        vault.context("red car")
        # A thread that embeds may read at the same time, with a connection that should be open by then.
        runtime = vault.sessions._runtime  # pyright: ignore[reportPrivateUsage]
        runtime.read(lambda tx, _: runtime.read(lambda tx, _: None))
        yield vault, log


def _say(vault: Vault, count: int) -> None:
    said = [
        NewMessage(role="user" if n % 2 else "assistant", content=f"boat {n} in a harbour and a car", speaker="Ann")
        for n in range(count)
    ]
    vault.sessions.open().add_many(said)


def _listed(sent: Sequence[str]) -> str:
    return "\n".join(sent)


@pytest.mark.parametrize(
    "query",
    ["red car boat", "Where is Ann's red car?", "what did I say last week about a boat", "plan a trip with Ann by car"],
)
def test_a_recall(opened_vault: Traced, query: str) -> None:
    vault, log = opened_vault
    vault.recall(query)
    sent = log.of(lambda: vault.recall(query))
    assert len(sent) <= RECALL, _listed(sent)


@pytest.mark.parametrize(
    "filters",
    [
        {"speaker": "Ann"},
        {"agent": "main"},
        {"trust": "owner"},
        {"source": "memories"},
        {"kind": "fact"},
        {"channel": "nowhere"},
        {"speaker": "Ann", "trust": "owner", "agent": "main"},
    ],
)
def test_a_filtered_recall(opened_vault: Traced, filters: dict[str, Any]) -> None:
    vault, log = opened_vault
    vault.recall("red car boat", **filters)
    sent = log.of(lambda: vault.recall("red car boat", **filters))
    assert len(sent) <= FILTERED, _listed(sent)


def test_a_context(opened_vault: Traced) -> None:
    vault, log = opened_vault
    session = vault.sessions.open().id
    vault.context("red car boat", session_id=session)
    vault.context("red car boat", session_id=session)
    sent = log.of(lambda: vault.context("red car boat", session_id=session))
    assert len(sent) <= CONTEXT, _listed(sent)


def test_a_context_that_makes_the_profile_anew(tmp_path: Path) -> None:
    with traced() as log, opened(tmp_path, None) as vault:
        for number in range(60):
            vault.memories.save(f"the car number {number} of Ann is red")
        _say(vault, 40)
        session = vault.sessions.open().id
        vault.context("red car boat", session_id=session)
        vault.memories.save("a new fact about cars")
        sent = log.of(lambda: vault.context("red car boat", session_id=session))
    assert len(sent) <= CONTEXT, _listed(sent)


def test_a_save(opened_vault: Traced) -> None:
    vault, log = opened_vault
    for save in (
        lambda: vault.memories.save("the new boat is white"),
        lambda: vault.memories.save("the new boat is white"),
        lambda: vault.memories.save("ships are dear", key="ships"),
    ):
        sent = log.of(save)
        assert len(sent) <= SAVE, _listed(sent)


def test_a_recall_after_a_write_sends_as_much_for_many_turns_as_for_two(opened_vault: Traced) -> None:
    vault, log = opened_vault
    counts: list[int] = []
    for turns in (2, 14):
        _say(vault, turns)
        sent = [one for one in log.of(lambda: vault.recall("red car boat")) if not one.startswith(_TERMS)]
        assert len(sent) <= CATCH_UP, _listed(sent)
        counts.append(len(sent))
    # The thread that embeds ends with a few statements, which come before the answer or after it. If each of the twelve
    # other turns sent one, there would be twelve more.
    assert abs(counts[0] - counts[1]) <= 4


def test_a_recall_that_finds_fewer_than_asked_loads_the_words_once(opened_vault: Traced) -> None:
    vault, log = opened_vault
    vault.memories.save("one lonely lighthouse")
    vault.recall("lonely lighthouse", meaning=False, limit=50)
    sent = log.of(lambda: vault.recall("lonely lighthouse", meaning=False, limit=50))
    assert len([sql for sql in sent if "substr(" in sql]) == 1


def test_where_the_first_say_the_same_only_what_is_new_is_loaded(tmp_path: Path) -> None:
    with traced() as log, opened(tmp_path, None) as vault:
        same = [NewMessage(role="user", content="the boat is blue", speaker="Ann") for _ in range(30)]
        others = [NewMessage(role="user", content=f"a boat in harbour {n}", speaker="Ben") for n in range(30)]
        vault.sessions.open().add_many([*same, *others])
        sent = log.of(lambda: vault.recall("boat blue", limit=12))
    assert len([sql for sql in sent if "substr(" in sql]) == 2


def test_the_first_look_into_a_new_vault_writes_nothing(tmp_path: Path) -> None:
    with traced() as log, Recollectum(tmp_path) as home:
        vault = home.vault("user:ann")
        sent = log.of(lambda: vault.memories.list())
    assert not [sql for sql in sent if sql.startswith(("INSERT", "UPDATE", "DELETE"))]


@pytest.mark.parametrize("count", [0, 3, 300])
def test_the_first_list_of_a_vault_sends_few_and_short_statements(tmp_path: Path, count: int) -> None:
    with Recollectum(tmp_path) as home:
        home.vault("user:ann").memories.save_many([Draft(content=f"car {number} is red") for number in range(count)])
    with traced() as log, Recollectum(tmp_path) as home:
        found: list[int] = []
        sent = log.of(lambda: found.append(len(home.vault("user:ann").memories.list())))
    assert found == [min(count, 50)]
    assert len(sent) <= OPEN_AND_LIST, _listed(sent)
    assert max(map(len, sent)) <= LONGEST, max(sent, key=len)
