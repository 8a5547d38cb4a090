"""Keys are changed under kills and beside other processes, and nothing that was remembered is lost."""

import json
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Busy
from recollectum.upkeep.rekey.vault_keys import rekey_vaults
from tests.crashes.programs import finish, hear, start, tell
from tests.matrix.homes import quick_folder
from tests.upkeep.homes import fill, said

pytestmark = pytest.mark.process

_WRITES = 12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "every", "ends"),
    [("vaults", 17, {"old", "new"}), ("master", 13, {"old", "new, without a code", "new, with a code"})],
)
def test_a_change_of_keys_that_is_killed_at_any_step_is_finished_or_undone(
    what: str, every: int, ends: set[str]
) -> None:
    with quick_folder() as folder:
        (told,) = finish(start("tests.crashes.rekeying_program", str(folder), what, str(every)))
    found = json.loads(told)
    assert found["wrong"] == []
    assert set(found["ends"]) == ends
    assert found["kills"] > 20


def test_no_write_of_another_process_is_lost_while_its_vault_gets_new_keys(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Recollectum(home) as r:
        fill(r.vault("user:ann"), 8)
    writer = start("tests.crashes.reopening_program", str(home), str(_WRITES))
    assert hear(writer) == "ready"
    tell(writer, "go")
    changed = 0
    with Recollectum(home) as r:
        while writer.poll() is None:
            try:
                rekey_vaults(r.admin)
                changed += 1
            except Busy:
                # The other process has it open at this moment, which is one of the two right answers.
                continue
    written = finish(writer)
    assert len(written) == _WRITES
    with Recollectum(home) as r:
        assert set(written) <= set(said(r.vault("user:ann"))[0])
        assert not r.encryption().has_unfinished()
    assert changed


def test_two_processes_that_change_keys_at_once_take_turns(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Recollectum(home) as r:
        fill(r.vault("user:ann"), 8)
        before = said(r.vault("user:ann"))
    children = [start("tests.crashes.rekey_once_program", str(home), what) for what in ("vaults", "master")]
    for child in children:
        assert hear(child) == "ready"
    for child in children:
        tell(child, "go")
    assert [finish(child) for child in children] == [["done"], ["done"]]
    with Recollectum(home) as r:
        assert said(r.vault("user:ann")) == before
        assert not r.encryption().has_unfinished()
