"""An installer that is killed before any change of a file leaves the old extension, the new one, or none."""

import shutil
import signal
import threading
from pathlib import Path

import pytest

from recollectum import Conflict, ExtensionState, Recollectum
from tests.crashes.installing_program import SETTINGS
from tests.crashes.programs import run
from tests.home.extensions.samples import files, write_folder

pytestmark = pytest.mark.process

_OLD, _NEW = "1.0.0", "2.0.0"


def test_of_two_installers_one_installs_and_the_other_is_told(tmp_path: Path) -> None:
    source = _source(tmp_path / "new", _NEW)
    with Recollectum(tmp_path / "home", settings=SETTINGS) as home:
        token = home.extensions.preview(source).token
        told: list[object] = []

        def install() -> None:
            try:
                told.append(home.extensions.install(source, token).version)
            except Conflict as error:
                told.append(str(error))

        both = [threading.Thread(target=install) for _ in range(2)]
        for one in both:
            one.start()
        for one in both:
            one.join()
        assert sorted(map(str, told)) == [
            _NEW,
            f"weather {_NEW} is installed already; update it, or uninstall it first",
        ]
        assert [one.state for one in home.extensions.list()] == [ExtensionState.ENABLED]


def _source(folder: Path, version: str) -> Path:
    content = files(version=version, settings=None)
    kept = ("recollectum-extension.json", "CONTEXT.md", "policies/strict.toml")
    return write_folder(folder, {**{name: content[name] for name in kept}, "CONTEXT.md": version})


def _found(place: Path) -> str | None:
    """The version of the whole extension that is there; a second change removes all leftovers."""
    with Recollectum(place, settings=SETTINGS) as home:
        listed = home.extensions.list()
        assert [one.state for one in listed] in ([], [ExtensionState.ENABLED])
        if not listed:
            return None
        one = listed[0]
        assert (Path(one.folder) / "CONTEXT.md").read_text("utf-8") == one.version
        home.extensions.delete("weather")
        assert [path.name for path in (place / "extensions").iterdir()] == ["installed.json"]
        return one.version


@pytest.mark.feature("C11")
@pytest.mark.parametrize("before", [None, _OLD])
def test_a_kill_anywhere_leaves_the_old_extension_or_the_new_one(tmp_path: Path, before: str | None) -> None:
    made, copies = tmp_path / "made", tmp_path / "copies"
    copies.mkdir()
    with Recollectum(made, settings=SETTINGS) as home:
        if before:
            source = _source(tmp_path / "old", before)
            home.extensions.install(source, home.extensions.preview(source).token)
            shutil.rmtree(source)
    source = _source(tmp_path / "new", _NEW)
    codes = run("tests.crashes.installing_program", str(made), str(copies), str(source))
    assert set(codes[:-1]) == {str(-signal.SIGKILL)}
    assert codes[-1] == "0"
    outcomes = [_found(copies / str(step)) for step in range(len(codes))]
    # One step decides: before it the old one is there, from it on the new one.
    changed = outcomes.index(_NEW)
    assert outcomes == [before] * changed + [_NEW] * (len(codes) - changed)
    assert changed > 10
