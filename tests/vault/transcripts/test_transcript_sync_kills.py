"""A process that dies between reading and storing loses nothing and doubles nothing."""

from pathlib import Path

import pytest

from recollectum import Recollectum
from tests.crashes.programs import finish, hear, kill, start
from tests.vault.transcript_files import append, kept, remarks, said

pytestmark = pytest.mark.process

_PROGRAM = "tests.vault.transcript_program"
#: Each about a third of what is stored at once, so that a sync takes several transactions.
_LONG = "x" * 90_000
_COUNT = 9


@pytest.mark.feature("G13")
def test_each_message_is_there_once_whenever_the_reader_is_killed(tmp_path: Path) -> None:
    path = append(tmp_path / "log.jsonl", b"".join(said(n, f"remark{n} {_LONG}") for n in range(_COUNT)))
    home = tmp_path / "home"
    with Recollectum(home, settings={"encryption": "off"}) as r:
        r.vault("user:alice").admin.transcripts.add(path)
    seen = [0]
    for message in (2, 4, 3):
        child = start(_PROGRAM, str(home), str(message))
        assert hear(child) == "inside"
        kill(child)
        with Recollectum(home, settings={"encryption": "off"}) as r:
            there = kept(r.vault("user:alice"))
        assert there == remarks(range(len(there)))
        seen.append(len(there))
    # Some were killed before the first commit, and some after it.
    assert 0 < seen[-1] < _COUNT
    assert seen == sorted(seen)
    assert finish(start(_PROGRAM, str(home), "0")) == [f"added {_COUNT - seen[-1]}"]
    with Recollectum(home, settings={"encryption": "off"}) as r:
        assert kept(r.vault("user:alice")) == remarks(range(_COUNT))
