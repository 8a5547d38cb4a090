"""What the daemon does by itself, seen from outside: files are followed, and many vaults need no more threads."""

import signal
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum.domain.access.owner import Owner
from recollectum.doors.server.daemon import upkeep_runtime
from recollectum.upkeep.rounds.scheduler import NAMES, duty
from recollectum.upkeep.rounds.status import list_rounds
from recollectum.vault.purge.request import PurgeRequest
from recollectum.vault.vault import Vault
from tests.doors.server.daemons import Running, daemon, home, until
from tests.vault.transcript_files import append, lines, said

pytestmark = [pytest.mark.loopback, pytest.mark.process]
ALICE = "user:alice"


def found(text: str) -> bool:
    with home(settings={"notes.on_search": "off", "transcripts.on_search": "off"}) as opened:
        return any(text in hit.text for hit in opened.vault(ALICE).recall(text))


@pytest.mark.feature("G22")
def test_a_note_that_is_edited_while_it_runs_is_found(tmp_path: Path) -> None:
    note = tmp_path / "notes" / "garden.md"
    note.parent.mkdir()
    note.write_text("# Garden\nThe apples are ripe.\n")
    with home() as opened:
        opened.vault(ALICE).admin.notes.add_folder(note.parent)
    with daemon():
        until(lambda: found("apples"))
        note.write_text("# Garden\nThe quinces are ripe.\n")
        until(lambda: found("quinces"))
        assert not found("apples")


@pytest.mark.feature("G13")
def test_a_transcript_that_grows_is_followed(tmp_path: Path) -> None:
    path = append(tmp_path / "logs" / "one.jsonl", lines(range(3)))
    with home() as opened:
        opened.vault(ALICE)
    with daemon():
        with home() as opened:
            # Also what is followed only from now on.
            opened.vault(ALICE).admin.transcripts.add(path.parent)
        until(lambda: found("remark2"))
        append(path, said(7))
        until(lambda: found("remark7"))


@pytest.mark.feature("M9")
@pytest.mark.parametrize("name", [name for name in NAMES if name != "backup"])
def test_a_round_makes_no_vault_for_a_person_who_is_erased_while_it_looks_at_the_vaults(name: str) -> None:
    with home() as opened:
        opened.vault(ALICE).memories.save("the spare key is under the third flowerpot")
        upkeep = upkeep_runtime(opened, threading.Event())

        def erase_and_open(owner: Owner) -> Vault:
            purge = opened.vault(owner).privacy.purge
            purge.run(purge.preview(PurgeRequest.user()).token)
            return upkeep.open_vault(owner)

        duty(replace(upkeep, open_vault=erase_and_open), name, timedelta(minutes=1)).make(force=True)
        assert opened.admin.entries() == []


def threads(running: Running) -> int:
    return len(list(Path(f"/proc/{running.process.pid}/task").iterdir()))


def test_fifty_vaults_are_all_looked_after_by_as_many_threads_as_one() -> None:
    with home(settings={"encryption": "off"}) as opened:
        opened.vault(ALICE).memories.save("kept")
    with daemon("--no-http", environ={"RECOLLECTUM_ENCRYPTION": "off"}) as running:
        until(lambda: _looked_after() == 1)
        few = threads(running)
        running.process.send_signal(signal.SIGTERM)
        assert running.wait() == 0
    with home(settings={"encryption": "off"}) as opened:
        for number in range(49):
            opened.vault(f"user:person{number}").memories.save("kept")
    with daemon("--no-http", environ={"RECOLLECTUM_ENCRYPTION": "off"}) as running:
        until(lambda: _looked_after() == 50)
        # Another thread renews the lease of a round while it runs.
        until(lambda: threads(running) <= few)


def _looked_after() -> int:
    """In how many vaults every round of those that are wanted was made."""
    with home() as opened:
        made = list_rounds(opened)
    wanted = {one.name for one in made if one.every_seconds}
    owners = {one.owner for one in made if one.owner}
    return sum({one.name for one in made if one.owner == owner} == wanted for owner in owners)
