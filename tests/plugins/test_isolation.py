"""A test sees only its own home, whatever the environment it was started from said."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.plugins.isolation import move_home


def test_every_place_is_inside_the_folder_of_the_run(shared_home: Path) -> None:
    names = ("RECOLLECTUM_HOME", "RECOLLECTUM_SYSTEM_DIR", "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
    assert all(Path(os.environ[name]).is_relative_to(shared_home) for name in names)
    assert Path.home().is_relative_to(shared_home)
    assert Path.cwd().is_relative_to(shared_home)


def test_a_home_begins_without_anything_in_it() -> None:
    assert not Path(os.environ["RECOLLECTUM_HOME"]).exists()
    assert not list(Path(os.environ["RECOLLECTUM_SYSTEM_DIR"]).iterdir())
    assert not list(Path.home().iterdir())


@pytest.mark.parametrize("_turn", [1, 2])
def test_two_tests_do_not_share_a_home(_turn: int) -> None:
    trace = Path.home() / "trace"
    assert not trace.exists()
    trace.touch()


def test_other_variables_of_ours_are_taken_away_and_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTION", "off")
    before = dict(os.environ), Path.cwd()
    with pytest.MonkeyPatch.context() as patch:
        move_home(patch, tmp_path / "home")
        ours = {name for name in os.environ if name.startswith("RECOLLECTUM_")}
        assert ours == {"RECOLLECTUM_EMBEDDING__PROVIDER", "RECOLLECTUM_HOME", "RECOLLECTUM_SYSTEM_DIR"}
    assert (dict(os.environ), Path.cwd()) == before


def test_a_home_is_cheap(tmp_path: Path) -> None:
    started = time.process_time()
    for number in range(100):
        with pytest.MonkeyPatch.context() as patch:
            move_home(patch, tmp_path / str(number))
    assert (time.process_time() - started) / 100 < 0.005


@given(st.integers())
def test_hypothesis_accepts_a_home_that_all_examples_share(number: int) -> None:
    assert int(str(number)) == number
