"""The benchmark of other memory systems: what it refuses, and what a system that cannot be run looks like."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from bench import peers
from bench.peers_list import NOT_RUN, PEERS, PeerSystem, Unavailable, interpreter
from recollectum.domain.errors import InvalidInput
from tests.doors.cli.benchmark.labelled_sets import QUERIES, write_set
from tests.shape.source import ROOT

pytestmark = pytest.mark.process

_UNKNOWN = PeerSystem(name="nobody", title="Nobody", packages=("nobody",), model="none", network="no")


def test_an_unknown_system_is_refused_with_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        peers.main(["--only", "nobody"])
    assert all(peer.name in capsys.readouterr().err for peer in PEERS[:1])


def test_a_set_that_asks_between_sessions_is_refused(tmp_path: Path) -> None:
    queries = [{**QUERIES[0], "before_session": 2}]
    with pytest.raises(InvalidInput, match="name another"):
        peers.main([str(write_set(tmp_path / "set", queries=queries))])


def test_a_system_that_cannot_be_installed_says_why(tmp_path: Path) -> None:
    found = interpreter(_UNKNOWN, tmp_path, str(tmp_path / "no-python"))
    assert isinstance(found, Unavailable)
    assert "no-python" in found.why


def test_every_system_has_a_child_and_says_what_it_needs() -> None:
    ask = "import bench.peers_child as child; print(*child.KINDS)"
    kinds = subprocess.run(
        [sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert sorted(kinds) == sorted(peer.name for peer in PEERS)
    assert all(peer.model and peer.network for peer in PEERS)
    assert all(NOT_RUN.values())


def test_the_made_facts_ask_for_each_fact_once() -> None:
    data = peers.made_facts()
    assert [query.gold for query in data.queries] == [frozenset({unit.id}) for unit in data.units]
    assert all(math.isinf(query.before_session) for query in data.queries)


def test_the_child_ranks_what_it_was_given(tmp_path: Path) -> None:
    texts = [("a", "u1", "The piano is out of tune"), ("a", "u2", "Lentils for dinner"), ("b", "u3", "A piano")]
    job: dict[str, object] = {"peer": "fts5", "package": "", "folder": str(tmp_path), "most": 5, "texts": texts}
    job |= {"vectors": {"-": [1.0]}, "deleted": ("a", "u4", "a quenchwillow")}
    asked = json.dumps({**job, "questions": [("a", "q1", "whose piano?")]})
    child = [sys.executable, "-P", str(ROOT / "bench" / "peers_child.py")]
    ran = subprocess.run(child, input=asked, capture_output=True, text=True, check=True)
    found = json.loads(ran.stdout)
    assert found["ranked"] == {"q1": ["u1"]}
    assert len(found["writes"]) == 3
    assert len(found["searches"]) == 1
    assert peers.count_word(tmp_path) > 0, "FTS5 leaves a deleted text in its file"
