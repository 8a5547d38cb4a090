"""A save that is killed at any call leaves the old task or the new one; two processes agree; memory stays small."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recollectum import Recollectum
from tests.vault.tasks.workspaces import contents, fill

pytestmark = pytest.mark.process

_PROGRAM = Path(__file__).with_name("task_program.py")
#: How many of the calls a save is killed at; 0 is all of them.
KILLS = int(os.environ.get("TASK_KILLS", "10"))
#: The size of the workspace whose save and load are measured.
MEMORY_MIB = int(os.environ.get("TASK_MEMORY_MIB", "96"))


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(_PROGRAM), *arguments], capture_output=True, text=True, check=False)


@pytest.mark.feature("C15")
def test_a_save_killed_anywhere_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    old, new = fill(tmp_path / "old", seed=1), fill(tmp_path / "new", seed=2)
    first = tmp_path / "first"
    with Recollectum(first) as home:
        home.vault("user:ada").tasks.save_workspace("t", old, {"new": False})
    shutil.copytree(first, tmp_path / "counted")
    counted = _run("kill", str(tmp_path / "counted"), str(new), "0")
    total = int(counted.stdout)
    places = range(1, total + 1) if not KILLS else sorted({max(1, total * n // KILLS) for n in range(1, KILLS + 1)})
    seen: set[bool] = set()
    for at in places:
        place = tmp_path / f"home{at}"
        shutil.copytree(first, place)
        killed = _run("kill", str(place), str(new), str(at))
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        with Recollectum(place) as home:
            tasks = home.vault("user:ada").tasks
            target = tmp_path / f"loaded{at}"
            is_new = bool(tasks.extract("t", target).data["new"])
            assert contents(target) == contents(new if is_new else old)
            # The next save goes on, and leaves nothing behind of what the killed one stored for its version.
            saved = tasks.save_workspace("t", new, {"new": True})
            assert tasks.preview_retention().leftovers == 0
            shutil.rmtree(target)
            assert tasks.extract("t", target) == saved
        seen.add(is_new)
        shutil.rmtree(place)
        shutil.rmtree(target)
    assert seen == {False, True}


@pytest.mark.feature("C15")
def test_two_processes_that_save_one_task_lose_nothing(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home") as home:
        home.vault("user:ada").tasks.save("counter", {})
    command = [sys.executable, str(_PROGRAM), "race", str(tmp_path / "home")]
    racing = [subprocess.Popen([*command, name, "25"], stdout=subprocess.PIPE, text=True) for name in ("a", "b")]
    lost = [int(one.communicate()[0]) for one in racing]
    assert [one.returncode for one in racing] == [0, 0]
    with Recollectum(tmp_path / "home") as home:
        found = home.vault("user:ada").tasks.get("counter")
    assert found.data == {"a": 25, "b": 25}
    assert found.version == 51, lost


@pytest.mark.feature("C15")
def test_a_large_workspace_needs_little_memory(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    with (workspace / "large").open("wb") as file:
        for _ in range(MEMORY_MIB):
            file.write(os.urandom(2**20))
    done = _run("memory", str(tmp_path / "home"), str(workspace), str(tmp_path / "again"))
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) <= 64
    print(f"{MEMORY_MIB} MiB: memory grew by {float(done.stdout):.1f} MiB")
