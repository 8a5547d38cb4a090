"""A refresh is an act of the vault: whoever searches, the events of what it brings in name `refresh`."""

from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.event import EventType
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home
from tests.vault.transcript_files import append, lines

_SETTINGS = {"transcripts.debounce_seconds": 0.0}


def _reader(home: Recollectum) -> Vault:
    """Alice's vault as somebody sees it who may only read there."""
    home.people.add("user:eve")
    home.keys.add_grant("user:eve", "user:alice", "read", scope="user")
    return home.login(home.keys.add("user:eve")[1]).vault("user:alice")


def test_a_reader_brings_in_a_grown_transcript_without_a_word_in_his_name(tmp_path: Path) -> None:
    folder = tmp_path / "transcripts"
    append(folder / "one.jsonl", lines(range(2)))
    with open_home(tmp_path, Turning(), settings=_SETTINGS) as home:
        alice = home.vault("user:alice")
        alice.admin.transcripts.add(folder)
        alice.recall("teal")
        reader = _reader(home)
        append(folder / "one.jsonl", lines(range(2, 6)))
        assert "remark5 about teal" in {hit.text for hit in reader.recall("remark5 teal")}
        told = alice.admin.events.list(limit=100)
        brought = [one for one in told if one.type is EventType.IMPORTED]
        assert brought
        assert {one.actor for one in brought} == {"refresh"}
        assert not [one for one in told if one.actor == reader.gate.caller.name]
