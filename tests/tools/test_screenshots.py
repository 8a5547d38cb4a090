"""The pictures of the console: a small part of the matrix is taken and checked; the whole of it is for people."""

from pathlib import Path

import pytest

from tests.doors.console.browsers import browser
from tools.screenshots import main, take

pytestmark = [pytest.mark.loopback, pytest.mark.process, pytest.mark.browser]


def test_the_first_pages_of_an_empty_home_have_no_fault_in_any_size_or_scheme(tmp_path: Path) -> None:
    with browser() as running:
        faults = take(running, tmp_path, ["empty"], ["home"])
    assert faults == {}
    taken = {one.name for one in (tmp_path / "empty").iterdir()}
    sizes = [f"{size}-{scheme}.png" for size in ("desktop", "phone") for scheme in ("light", "dark")]
    assert taken == {f"{name}-{rest}" for name in ("login", "home") for rest in sizes}


def test_an_unknown_home_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([str(tmp_path), "--home", "huge"])
    assert "huge" in capsys.readouterr().err
