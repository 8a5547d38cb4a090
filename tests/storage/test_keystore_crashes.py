"""A key store survives being killed at any call of its making or moving, and processes that make it at once agree."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recollectum.domain.errors import KeyProblem
from recollectum.home.paths import Home
from recollectum.storage.keystore import KeyStore
from recollectum.storage.sqlite.files import HomeFiles

pytestmark = pytest.mark.process

_CHILD = Path(__file__).with_name("keystore_child.py")
_KILLS = 15


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(_CHILD), *arguments], capture_output=True, text=True)


def _calls(*arguments: str) -> int:
    done = _run(*arguments)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def _key_files() -> list[Path]:
    return sorted(Path(os.environ["XDG_CONFIG_HOME"]).rglob("*.key"))


def _open(home: Home) -> KeyStore:
    return KeyStore.open(home, encryption="auto", environ=os.environ)


def test_a_creation_killed_anywhere_leaves_a_home_that_opens(tmp_path: Path) -> None:
    total = _calls("create", str(tmp_path / "whole"), "0")
    states: set[str] = set()
    for number in range(1, _KILLS + 1):
        shutil.rmtree(os.environ["XDG_CONFIG_HOME"])
        home = Home(tmp_path / f"home{number}")
        killed = _run("create", str(home.root), str(total * number // (_KILLS + 1)))
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        states.add("keys.db" if HomeFiles(home).keys.exists() else "nothing")
        states.add("key file" if _key_files() else "no key file")

        opened = _open(home)
        try:
            key = opened.key("vlt_1")
        except KeyProblem:
            key = opened.make_key("vlt_1")
        opened.close()
        again = _open(home)
        assert again.key("vlt_1") == key
        again.close()
        assert len(_key_files()) == 1
    # Without this the kills could all have come too early to prove anything.
    assert {"keys.db", "key file", "no key file"} <= states


def test_a_move_killed_anywhere_leaves_the_key_with_one_holder_or_the_other(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    opened = _open(home)
    key = opened.make_key("vlt_1")
    opened.close()
    places = [str(tmp_path / "a.key"), str(tmp_path / "b.key")]
    total = max(_calls("move", str(home.root), "0", place) for place in places)
    held: set[str | None] = set()
    for number in range(_KILLS):
        fatal = str(total * (_KILLS - number) // _KILLS)
        # A run may be a little shorter than the longest; then it was not killed, and that is fine.
        assert _run("move", str(home.root), fatal, places[number % 2]).returncode in (0, -signal.SIGKILL)
        again = _open(home)
        assert again.key("vlt_1") == key
        held.add(again.holder().path)
        again.close()
    assert held == set(places)


@pytest.mark.parametrize("passphrase", ["", "correct horse"])
def test_processes_that_create_at_once_agree_on_one_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passphrase: str
) -> None:
    monkeypatch.setenv("RECOLLECTUM_PASSPHRASE", passphrase)
    home = Home(tmp_path / "home")
    children = [
        subprocess.Popen(
            [sys.executable, str(_CHILD), "race", str(home.root), f"vlt_{number}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    made = [child.communicate()[0] for child in children]
    opened = _open(home)
    for number, line in enumerate(made):
        assert opened.key(f"vlt_{number}").hex() == line.strip()
    opened.close()
    assert len(_key_files()) == (0 if passphrase else 1)
