"""`recollectum daemon hosts`: which host keeps the files of vaults in a database, and taking them over."""

import json
import shutil
from pathlib import Path

import pytest

from recollectum.home.identity.host import this_host
from recollectum.home.paths import Home
from tests.doors.cli.calls import ok
from tests.plugins.postgres import PostgresDatabase


def test_vaults_in_files_have_no_other_host(home: None) -> None:
    assert "no other host uses them" in ok("daemon", "hosts", "list").err
    assert "nothing to take over" in ok("daemon", "hosts", "take").out


def test_a_host_is_named_where_its_files_are_passed_by_and_gives_them_up(
    home: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    postgres: PostgresDatabase,
) -> None:
    monkeypatch.setenv("RECOLLECTUM_STORAGE__URL", postgres.url())
    one, two, notes = tmp_path / "one", tmp_path / "two", tmp_path / "notes"
    notes.mkdir()
    (notes / "tea.md").write_text("tea")
    ok("--home", str(one), "init")
    shutil.copytree(one, two)
    ok("--home", str(one), "notes", "add", str(notes))
    name = this_host(Home(one)).name
    for command in (("notes", "list"), ("notes", "sync"), ("sessions", "transcripts", "sync"), ("learnings", "sync")):
        assert f"the host {name} keeps these files" in ok("--home", str(two), *command).err
    listed = json.loads(ok("--home", str(two), "daemon", "hosts", "list", "--json").out)
    assert [(one["name"], one["vaults"]) for one in listed["hosts"]] == [(name, 1)]
    assert listed["here"] == this_host(Home(two)).id
    assert f"which {name} kept, are kept here now" in ok("--home", str(two), "daemon", "hosts", "take", "--all").out
    assert "1 note as before" in ok("--home", str(two), "notes", "sync").out
    assert "keeps these files" in ok("--home", str(one), "notes", "list").err
