"""The standby takes over under writers: no acknowledged write is lost, none is stored twice, no process is restarted.

`FAULTS_TURNS` is how many turns each program has stored before and after the primary is killed.
"""

import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Undecided
from recollectum.storage.tables.trail import meta
from tests.plugins.postgres_pairs import ServerPair, wait_until
from tests.storage.postgres.engines import engine_of, vault_of

TURNS = int(os.environ.get("FAULTS_TURNS", "20"))
PROGRAMS = ("ann", "bob")
_PROGRAM = Path(__file__).with_name("writing_program.py")


class Writer:
    """A program that writes, and what it told."""

    def __init__(self, home: Path, url: str, name: str) -> None:
        self.told: list[tuple[str, str]] = []
        self._process = subprocess.Popen(
            [sys.executable, str(_PROGRAM), str(home), url, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            state, _, text = line.strip().partition(" ")
            self.told.append((state, text))

    def of(self, state: str) -> list[str]:
        return [text for found, text in tuple(self.told) if found == state]

    def end(self) -> int:
        self._process.communicate("stop\n", timeout=60)
        self._thread.join()
        return self._process.returncode


def test_the_standby_takes_over_under_writers(server_pair: ServerPair, tmp_path: Path) -> None:
    folder, url = tmp_path / "home", server_pair.url()
    settings: dict[str, object] = {"storage.url": url, "encryption": "off"}
    with Recollectum(folder, settings=settings) as home:
        for name in ("shared", *PROGRAMS):
            home.vault(f"user:{name}").sessions.open()
    writers = [Writer(folder, url, name) for name in PROGRAMS]
    try:
        wait_until(lambda: all(len(one.of("stored")) >= TURNS for one in writers))
        server_pair.primary.kill()
        server_pair.standby.promote()
        before = [len(one.of("stored")) for one in writers]
        wait_until(lambda: all(len(one.of("stored")) >= TURNS + n for one, n in zip(writers, before, strict=True)))
    finally:
        codes = [one.end() for one in writers]
    assert codes == [0, 0]
    stored = Counter[str]()
    with Recollectum(folder, settings=settings) as home:
        for name in ("shared", *PROGRAMS):
            vault = home.vault(f"user:{name}")
            for session in vault.sessions.list(limit=100):
                chat = vault.sessions.chat(session.id)
                page = chat.messages(limit=100)
                stored.update(str(one.content) for one in page)
                while page.next:
                    page = chat.messages(limit=100, cursor=page.next)
                    stored.update(str(one.content) for one in page)
    for writer in writers:
        assert not writer.of("other")
        assert not [text for text in writer.of("stored") if stored[text] != 1], "lost, or stored twice"
        assert not [text for text in writer.of("refused") if stored[text]], "reported as not written"
        assert not [text for text in writer.of("undecided") if stored[text] > 1]


def test_a_write_that_no_standby_confirms_is_not_acknowledged(server_pair: ServerPair, tmp_path: Path) -> None:
    engine = engine_of(tmp_path, server_pair.url(), statement_timeout_seconds=2)
    with vault_of(engine) as vault:
        server_pair.standby.kill()
        with pytest.raises(Undecided, match="no standby has confirmed"):
            vault.write(lambda tx: meta.save(tx, "a", "b"))
        assert vault.read(lambda tx: meta.find(tx, "a")) == "b"
