"""`recollectum extensions`: what it may do is shown before it is asked about, and every refusal is one sentence."""

from pathlib import Path

import pytest

from tests.doors.cli.calls import call, ok, refused
from tests.doors.cli.terminals import Terminal
from tests.home.extensions.samples import files, write_folder

pytestmark = pytest.mark.process


@pytest.fixture
def source(tmp_path: Path) -> Path:
    ok("init")
    return write_folder(tmp_path / "weather")


def _states() -> dict[str, str]:
    return {one["name"]: one["state"] for one in ok("extensions", "list", "--json").json["extensions"]}


@pytest.mark.feature("C11")
@pytest.mark.parametrize(("typed", "states"), [("y", {"weather": "enabled"}), ("n", {}), ("", {})])
def test_install_shows_what_it_may_do_and_asks(source: Path, typed: str, states: dict[str, str]) -> None:
    # Written by the other party, and shown as text.
    write_folder(source, files(description="Tells the \u202eweather"))
    with Terminal("extensions", "install", str(source)) as terminal:
        terminal.wait_for("Continue? [y/N]")
        assert "hands agents the MCP server 'weather', which runs: node" in terminal.shown
        assert "denies the tool run_shell_command(rm)" in terminal.shown
        assert "needs WEATHER_KEY: Key (secret)" in terminal.shown
        assert "\u202e" not in terminal.shown
        terminal.press(f"{typed}\n")
        assert terminal.end() == 0
    assert _states() == states


def test_nothing_is_installed_without_a_terminal_and_without_yes(source: Path) -> None:
    answer = call("extensions", "install", str(source))
    assert answer.code == 2
    assert "there is no terminal to ask on, so add --yes to confirm" in answer.err
    assert _states() == {}


def test_what_is_no_extension_is_named_as_it_was_typed(tmp_path: Path) -> None:
    ok("init")
    assert refused("extensions", "install", "", "--yes").startswith("the path is empty")
    (tmp_path / "nothing").mkdir()
    assert refused("extensions", "install", str(tmp_path / "nothing"), "--yes").startswith(
        f"{tmp_path / 'nothing'} has"
    )
    assert _states() == {}


def test_the_life_of_an_extension(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ok("extensions", "install", str(source), "--yes")
    assert "is installed already" in call("extensions", "install", str(source), "--yes").err.splitlines()[-1]
    assert "may          denies the tool run_shell_command(rm)" in ok("extensions", "show", "weather").out
    assert ok("extensions", "mcp").out.startswith("weather\tweather\tnode")
    assert "there is no project here" in refused("extensions", "disable", "weather", "--project")
    (tmp_path / "work/.recollectum").mkdir(parents=True)
    ok("projects", "trust", str(tmp_path / "work"), "--yes")
    monkeypatch.chdir(tmp_path / "work")
    assert ok("extensions", "disable", "weather", "--project").out == "weather is disabled in this project\n"
    assert _states() == {"weather": "disabled"}
    monkeypatch.chdir(tmp_path)
    assert _states() == {"weather": "enabled"}
    write_folder(source, files(version="1.0.0"))
    assert "1.0.0 is older; add --downgrade" in call("extensions", "update", "weather", "--yes").err.splitlines()[-1]
    assert "weather 1.0.0 is installed" in ok("extensions", "update", "weather", "--downgrade", "--yes").out
    assert ok("extensions", "uninstall", "weather", "--yes").out == "weather is deleted\n"
    assert "there is no installed extension 'weather'" in refused("extensions", "uninstall", "weather", "--yes")
    assert ok("extensions", "list").err == "no extensions\n"


def test_each_problem_is_a_line_and_nothing_is_left(source: Path) -> None:
    write_folder(source, files(name=1, version="new"))
    answer = call("extensions", "install", str(source), "--yes")
    assert answer.code == 1
    assert answer.err.splitlines()[0].startswith("recollectum: recollectum-extension.json: name is 1; it must be")
    assert len(answer.err.splitlines()) == 2
    assert "there is no folder or archive at" in refused("extensions", "install", "nowhere", "--yes")
    assert _states() == {}
