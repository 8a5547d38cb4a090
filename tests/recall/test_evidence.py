"""What stands beside the pieces of a turn is what the turn says, however it came to stand there."""

from datetime import timedelta
from pathlib import Path

import pytest

from recollectum.domain.hit import SourceKind
from recollectum.domain.message import Role
from recollectum.domain.trust import Trust
from recollectum.policy.clock import ClockReading
from recollectum.recall.index.chunk_index import index_message
from recollectum.storage.engine import VAULT
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.migrate import shipped
from recollectum.storage.tables.content import messages
from recollectum.storage.tables.index import chunks, search
from recollectum.storage.tables.index.search import Evidence
from recollectum.storage.tables.index.search_filters import Filters
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning
from tests.recall.homes import beside, opened, rows

_COLUMNS = "created_at = NULL, trust = NULL, role = NULL, speaker = NULL"


def _fill(vault: Vault) -> None:
    chat = vault.sessions.open()
    for role, speaker in (("user", "Ann"), ("user", "Ben"), ("assistant", None), ("tool", None), ("user", "Ann")):
        chat.add(Role(role), f"a lighthouse by {speaker or role}", speaker=speaker)
    chat.add("user", "a long story of the lighthouse. " * 400)
    vault.memories.save("my own lighthouse", importance=0.9)
    vault.memories.save("a lighthouse for a day", ttl=timedelta(days=1))


def _both(tx: Tx) -> tuple[dict[int, Evidence], dict[int, Evidence]]:
    numbers = [row[0] for row in tx.rows("SELECT number FROM chunks", {})]
    params = Filters().params(tx, ClockReading(now=START + timedelta(days=2), policy_now=START + timedelta(days=2)))
    return search.evidence(tx, numbers, params, filtered=False), search.evidence(tx, numbers, params, filtered=True)


def test_without_a_filter_the_same_is_known_from_fewer_rows(place: Path, clock: Turning) -> None:
    with opened(place, None, clock=clock) as vault:
        _fill(vault)
    with beside(place) as database:
        quick, full = database.read(_both)
        assert quick == full
        assert {one.trust for one in quick.values()} == {Trust.OWNER, Trust.ASSISTANT, Trust.TOOL}
        turns = [one for one in quick.values() if one.source == "sessions"]
        assert {(one.position, one.role) for one in turns} == {
            (1, "user"), (2, "user"), (3, "assistant"), (4, "tool"), (5, "user"), (6, "user")
        }  # fmt: skip
        assert len({one.session for one in turns}) == 1
        assert {(one.session, one.position, one.role) for one in quick.values() if one.source == "memories"} == {
            (None, None, None)
        }
        # What has expired is no answer.
        assert len(quick) == len(rows(place, "SELECT 1 FROM chunks")) - 1


def test_an_older_vault_gets_it_by_the_step_to_this_schema(place: Path, clock: Turning) -> None:
    with opened(place, None, clock=clock) as vault:
        _fill(vault)
    (step,) = (one for one in shipped(VAULT) if one.name == "evidence")
    fill = step.sql[step.sql.index("UPDATE chunks") :]
    with beside(place) as database:
        known, _ = database.read(_both)
        database.write(lambda tx: tx.run(f"UPDATE chunks SET {_COLUMNS}", {}))
        # Without it a turn is looked up as anything else is.
        assert database.read(_both)[0] == known
        database.write(lambda tx: tx.run(fill, {}))
        assert database.read(_both)[0] == known
        database.write(lambda tx: tx.run("UPDATE sessions SET imported = 1", {}))
        database.write(lambda tx: tx.run(fill, {}))
        quick, full = database.read(_both)
        assert quick == full
        assert {one.trust for one in quick.values() if one.source == "sessions"} == {Trust.IMPORTED}


def test_a_turn_of_an_imported_session_is_indexed_as_imported(place: Path, clock: Turning) -> None:
    with opened(place, None, clock=clock) as vault:
        _fill(vault)

    def index_again(tx: Tx) -> None:
        tx.run("UPDATE sessions SET imported = 1", {})
        tx.run("UPDATE messages SET trust = 'unknown' WHERE position = 2", {})
        ((session_id,),) = tx.rows("SELECT id FROM sessions", {})
        for number, message in list(messages.of_session(tx, session_id)):
            chunks.remove(tx, SourceKind.SESSIONS, number)
            index_message(tx, number, message)

    with beside(place) as database:
        database.write(index_again)
        quick, full = database.read(_both)
        assert quick == full
        turns = {one.position: one.trust for one in quick.values() if one.source == "sessions"}
        assert turns == {place: Trust.UNKNOWN if place == 2 else Trust.IMPORTED for place in range(1, 7)}


@pytest.mark.feature("A12")
def test_a_piece_whose_turn_is_gone_is_no_answer(place: Path, clock: Turning) -> None:
    with opened(place, None, clock=clock) as vault:
        chat = vault.sessions.open()
        chat.add("user", "the lighthouse is closed")
        chat.add("user", "the lighthouse is open again")
        with beside(place) as database:
            database.write(lambda tx: tx.run("DELETE FROM messages WHERE text LIKE '%closed'", {}))
        assert [hit.text for hit in vault.recall("lighthouse")] == ["the lighthouse is open again"]
