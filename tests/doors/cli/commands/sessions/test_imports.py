"""`recollectum import`: what is found is told, asked about, imported once and undone."""

from pathlib import Path

import pytest

from tests.doors.cli.calls import call, ok, refused
from tests.transfer.foreign_files import SAMPLES_OF

pytestmark = pytest.mark.usefixtures("home")


def test_what_was_found_is_told_before_anything_is_imported(tmp_path: Path) -> None:
    path = str(SAMPLES_OF["claude_code"](tmp_path).path)
    assert ok("import", path, "--dry-run").out == f"{path}: Claude Code transcript: 7 messages\n"
    asked = call("import", path)
    assert asked.code == 2
    assert "7 messages of 1 file would be imported" in asked.err
    assert not ok("sessions", "list").out
    (found,) = ok("import", path, "--dry-run", "--json").json["found"]["contents"]
    assert (found["form"], found["messages"], found["damage"]) == ("Claude Code transcript", 7, [])


def test_an_import_is_done_once_and_undone_whole(tmp_path: Path) -> None:
    paths = [str(SAMPLES_OF[name](tmp_path / name).path) for name in ("claude_ai", "mem0_export", "opencode")]
    done = ok("import", *paths, "--yes", "--json").json
    assert [(one["added"], one["memories"]) for one in done["imports"]] == [(2, 0), (0, 2), (3, 0)]
    again = ok("import", *paths, "--yes")
    assert again.out.splitlines()[0] == f"{paths[0]}: Claude.ai export: 2 messages known already, 1 attachment left out"
    assert "to undo it" not in again.err
    assert "teal" in ok("recall", "teal", "--untrusted").out
    ok("undo", "import", done["import_id"])
    assert not ok("sessions", "list").out
    assert not ok("memories", "list").out
    assert "this import was undone before" in ok("import", *paths, "--yes").err


def test_agents_are_discovered_in_the_home_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    person = tmp_path / "person"
    person.mkdir()
    monkeypatch.setenv("HOME", str(person))
    assert "no files of an agent" in ok("import", "--discover", "--yes").err
    SAMPLES_OF["codex_zst"](person)
    SAMPLES_OF["gemini"](person)
    told = ok("import", "--discover", "--dry-run").out
    assert "Codex transcript: 3 messages" in told
    assert "Gemini CLI transcript: 5 messages" in told
    assert len(ok("import", "--discover", "--yes", "--json").json["imports"]) == 2
    # An agent may be told to keep its files elsewhere.
    SAMPLES_OF["claude_code"](tmp_path / "moved")
    SAMPLES_OF["opencode"](tmp_path / "moved")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "moved/.claude"))
    monkeypatch.setenv("CODEX_HOME", str(person / ".codex"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "moved/.local/share"))
    told = ok("import", "--discover", "--dry-run").out
    assert "Claude Code transcript: 7 messages" in told
    assert "opencode database: 3 messages" in told
    assert told.count("Codex transcript") == 1


def test_a_mapping_reads_plain_files(tmp_path: Path) -> None:
    path = tmp_path / "talk.csv"
    path.write_text("who,what\nuser,I like teal\n")
    assert ok("import", str(path), "--map", "text=what,role=who", "--yes").out == f"{path}: CSV file: 1 message added\n"
    assert "is of no known form" in refused("import", str(path), "--yes")
    assert "is not a list of NAME=FIELD" in refused("import", str(path), "--map", "text", code=2)


def test_what_contradicts_itself_is_refused(tmp_path: Path) -> None:
    path = str(SAMPLES_OF["zep"](tmp_path).path)
    assert "contradict each other" in refused("import", path, "--mine", "--foreign", code=2)
    assert "name a PATH" in refused("import", code=2)
    assert "takes no PATH" in refused("import", path, "--discover", code=2)
    assert "holds nothing of 'eve'" in refused("import", path, "--person", "eve", "--yes")
