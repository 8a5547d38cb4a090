"""On a terminal: questions, the editor, the passphrase, tables without injection, and Ctrl-C."""

import sys
from pathlib import Path

import pytest

from tests.doors.cli.calls import PROGRAM, ok, refused
from tests.doors.cli.terminals import Terminal

pytestmark = pytest.mark.process


def new_session() -> str:
    return ok("sessions", "add", "user", "hello", "--json").json["message"]["session_id"]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(("typed", "code", "left"), [("y\n", 0, 0), ("n\n", 1, 1), ("\n", 1, 1), ("\x04", 1, 1)])
def test_delete_asks_and_takes_no_for_an_answer(typed: str, code: int, left: int) -> None:
    session = new_session()
    with Terminal("sessions", "delete", session) as terminal:
        terminal.wait_for("Continue? [y/N]")
        assert "1 message would be destroyed" in terminal.shown
        terminal.press(typed)
        assert terminal.end() == code
    assert len(ok("sessions", "list", "--json").json["sessions"]) == left


@pytest.mark.usefixtures("home")
def test_ctrl_c_ends_with_130_and_changes_nothing() -> None:
    session = new_session()
    with Terminal("sessions", "delete", session) as terminal:
        terminal.wait_for("[y/N]")
        terminal.settle()
        terminal.press("\x03")
        assert terminal.end() == 130
        assert "Traceback" not in terminal.shown
    ok("sessions", "show", session)


@pytest.mark.usefixtures("home")
def test_a_table_shows_content_as_it_is_and_obeys_none_of_it() -> None:
    ok("remember", "[red]not markup[/red] :smile: \x1b]0;owned\x07 \x9b31m \u202eevil")
    with Terminal("memories", "list") as terminal:
        assert terminal.end() == 0
    assert "[red]not markup[/red] :smile: \\x1b]0;owned\\x07 \\x9b31m \\u202eevil" in terminal.shown
    assert not {"\x07", "\x9b", "\u202e"} & set(terminal.shown)


@pytest.mark.usefixtures("home")
def test_no_colour_means_none() -> None:
    ok("remember", "tea")
    with Terminal("memories", "list", environ={"NO_COLOR": "1"}) as terminal:
        assert terminal.end() == 0
    assert "tea" in terminal.shown
    assert "\x1b[3" not in terminal.shown
    assert "\x1b[9" not in terminal.shown


@pytest.mark.usefixtures("home")
def test_an_export_to_a_terminal_is_json_that_cannot_act_on_it() -> None:
    session = ok("sessions", "add", "user", "\u00e9 \x9b31m \U0001f600", "--json").json["message"]["session_id"]
    with Terminal("sessions", "export", session) as terminal:
        assert terminal.end() == 0
    assert "\\u00e9 \\u009b31m \\ud83d\\ude00" in terminal.shown


def editor(folder: Path, program: str) -> str:
    """An editor that does what the program says to the file it is given."""
    path = folder / "editor.py"
    path.write_text(f"import sys\nfrom pathlib import Path\npath = Path(sys.argv[1])\n{program}\n")
    return f"'{sys.executable}' '{path}'"


@pytest.mark.usefixtures("home")
@pytest.mark.feature("M1")
def test_edit_opens_the_editor_in_a_private_place_and_leaves_nothing_there(tmp_path: Path) -> None:
    memory = ok("remember", "the sky is blue").word
    place = tmp_path / "place"
    run_time = tmp_path / "run"
    run_time.mkdir()
    program = f"Path({str(place)!r}).write_text(f'{{path}} {{path.parent.stat().st_mode:o}}')"
    program += "\npath.write_text(path.read_text().replace('blue', 'grey') + '\\n')"
    environ = {"EDITOR": editor(tmp_path, program), "XDG_RUNTIME_DIR": str(run_time)}
    with Terminal("memories", "edit", memory, environ=environ) as terminal:
        assert terminal.end() == 0, terminal.shown
    assert ok("memories", "show", memory, "--json").json["memory"]["content"] == "the sky is grey"
    path, mode = place.read_text().split()
    assert Path(path).is_relative_to(run_time)
    assert mode == "40700"
    assert not list(run_time.iterdir())


@pytest.mark.usefixtures("home")
def test_a_change_while_the_editor_was_open_is_not_overwritten(tmp_path: Path) -> None:
    memory = ok("remember", "the sky is blue").word
    program = f"import subprocess; subprocess.run([*{PROGRAM!r}, 'memories', 'edit', {memory!r}, 'the sky is grey'])"
    program += "; path.write_text('the sky is black')"
    with Terminal("memories", "edit", memory, environ={"EDITOR": editor(tmp_path, program)}) as terminal:
        assert terminal.end() == 1
    assert "is at version 2, not 1; read it again" in terminal.shown
    assert ok("memories", "show", memory).out.endswith("the sky is grey\n")


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("sys.exit(3)", "the editor ended with 3; nothing was changed"),
        ("path.unlink()", "the editor left no UTF-8 text behind"),
        ("pass", "the text was not changed"),
    ],
)
def test_an_editor_that_fails_changes_nothing(program: str, sentence: str, tmp_path: Path) -> None:
    memory = ok("remember", "the sky is blue").word
    with Terminal("memories", "edit", memory, environ={"EDITOR": editor(tmp_path, program)}) as terminal:
        terminal.end()
    assert sentence in terminal.shown
    assert ok("memories", "show", memory, "--json").json["memory"]["version"] == 1


@pytest.mark.usefixtures("home")
def test_without_an_editor_or_a_terminal_edit_says_what_to_give() -> None:
    memory = ok("remember", "the sky is blue").word
    with Terminal("memories", "edit", memory, environ={"EDITOR": "", "VISUAL": ""}) as terminal:
        assert terminal.end() == 2
    assert "set EDITOR" in terminal.shown
    assert "give a new text" in refused("memories", "edit", memory, code=2)


def test_a_passphrase_is_asked_for_where_it_holds_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_PASSPHRASE", "four words and more")
    ok("init", "--user", "ada")
    monkeypatch.delenv("RECOLLECTUM_PASSPHRASE")
    assert "held by a passphrase and none was given" in refused("status")
    with Terminal("users", "list") as terminal:
        terminal.wait_for("Passphrase: ")
        terminal.press("four words and more\n")
        assert terminal.end() == 0, terminal.shown
    assert "ada" in terminal.shown
    assert "four words" not in terminal.shown


@pytest.mark.usefixtures("home")
def test_several_imports_show_their_progress_on_a_terminal(tmp_path: Path) -> None:
    session = new_session()
    files = [str(tmp_path / name) for name in ("a.jsonl", "b.jsonl")]
    for file in files:
        ok("sessions", "export", session, "--output", file)
    with Terminal("sessions", "import", *files) as terminal:
        assert terminal.end() == 0, terminal.shown
    assert "importing" in terminal.shown
    assert f"a.jsonl: {session}, 0 messages added, 1 known already" in terminal.shown
