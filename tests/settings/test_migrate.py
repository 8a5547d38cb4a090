"""Old JSON settings are read as they are, moved safely, and refused when they hold a secret or disagree."""

import json
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from recollectum.domain.errors import SettingsError
from recollectum.home.paths import Home
from recollectum.settings.load import load
from recollectum.settings.migrate import migrate
from recollectum.settings.model import Settings

pytestmark = pytest.mark.process

V1 = {
    "encryption": "off",
    "isolation": "agent",
    "retentionDays": 30,
    "archiveDays": 20,
    "graceDays": 3,
    "hookSessionMaxAgeHours": 24,
    "hookSessionMaxCount": 100,
    "contextBudgetTokens": 2000,
    "maxSessionMessages": 10,
    "maxUserMemories": 5,
    "recallLimit": 7,
    "openVaults": 8,
    "busyTimeoutMs": 2500,
}
V2 = {
    "encryption": "off",
    "isolation": "agent",
    "lifecycle": {"active_days": 30, "archive_days": 20, "grace_days": 3},
    "sessions": {"hook_max_age_hours": 24, "hook_max_count": 100},
    "context": {"tokens": 2000, "messages": 10, "memories": 5},
    "recall": {"limit": 7},
    "storage": {"open_vaults": 8, "busy_timeout_seconds": 2.5},
}

MIGRATE = """
import os, signal, sys
from pathlib import Path
from recollectum.home.paths import Home
from recollectum.settings.migrate import migrate
replace = Path.replace
def killed(self, target):
    if self.name == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(self, target)
Path.replace = killed
migrate(Home(Path(sys.argv[1])), dry_run=False)
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "home").mkdir()
    return Home(tmp_path / "home")


def put(home: Home, tree: object) -> None:
    home.legacy_settings_file.write_text(json.dumps(tree))


def loaded(home: Home) -> Settings:
    return load(home, cwd=home.root, environ={"K": "/keys/k"}, system=home.root / "no").settings


def files(home: Home) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in home.root.iterdir()}


@pytest.mark.feature("C2")
@pytest.mark.parametrize(("tree", "form"), [(V1, "V1"), (V2, "V2")])
def test_both_old_forms_are_read_as_they_stand_and_mean_the_same_once_moved(
    home: Home, tree: dict[str, object], form: str
) -> None:
    put(home, tree)
    before = loaded(home)
    assert (before.lifecycle.active_days, before.storage.busy_timeout_seconds) == (30, 2.5)
    assert (before.context.memories, before.isolation) == (5, "agent")
    old = home.legacy_settings_file.read_bytes()
    done = migrate(home, dry_run=False)
    assert done.form == form
    assert loaded(home) == before
    assert files(home) == {"settings.toml": done.text.encode(), "settings.json.migrated": old}
    assert {stat.S_IMODE(path.stat().st_mode) for path in home.root.iterdir()} == {0o600}


def test_both_forms_give_one_file(home: Home) -> None:
    put(home, V1)
    first = migrate(home, dry_run=True).text
    put(home, V2)
    assert migrate(home, dry_run=True).text == first


@pytest.mark.feature("C2")
def test_a_dry_run_changes_nothing_and_tells_all(home: Home) -> None:
    put(home, V1)
    before = files(home)
    would = migrate(home, dry_run=True)
    assert would.renamed["retentionDays"] == "lifecycle.active_days"
    assert "[lifecycle]\nactive_days = 30\n" in would.text
    assert files(home) == before


def test_with_nothing_to_move_nothing_happens(home: Home) -> None:
    assert migrate(home, dry_run=False).form == "none"
    assert files(home) == {}


@pytest.mark.feature("C2")
@pytest.mark.parametrize("killed_at", ["the first rename", "settings.json"])
def test_killed_in_between_the_next_run_finishes(home: Home, killed_at: str) -> None:
    put(home, V1)
    before = loaded(home)
    name = "settings.json" if killed_at == "settings.json" else ""
    script = MIGRATE if name else MIGRATE.replace("self.name == sys.argv[2]", "self.suffix == '.tmp'")
    done = subprocess.run([sys.executable, "-c", script, str(home.root), name], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (home.root / "settings.toml").exists() == bool(name)
    assert loaded(home) == before
    migrate(home, dry_run=False)
    assert loaded(home) == before
    assert not home.legacy_settings_file.exists()


@pytest.mark.feature("C2")
def test_two_files_that_disagree_are_refused_by_key(home: Home) -> None:
    put(home, V1)
    home.settings_file.write_text('encryption = "off"\nisolation = "user"\n[lifecycle]\nactive_days = 30\n')
    before = files(home)
    for act in (lambda: migrate(home, dry_run=False), lambda: loaded(home)):
        with pytest.raises(SettingsError, match=r"disagree about isolation, lifecycle.archive_days") as raised:
            act()
        assert "active_days" not in str(raised.value)
        assert "encryption" not in str(raised.value)
    assert files(home) == before


@pytest.mark.feature("C2")
@pytest.mark.parametrize(
    "tree",
    [
        {"apiKey": "sk-123"},
        {"recallLimit": 3, "openai_api_key": "sk-123"},
        {"providers": {"openai": {"token": "sk-123"}}},
        {"storage": {"password": "sk-123"}},
        {"botToken": "sk-123"},
    ],
)
def test_a_secret_is_refused_with_the_cure_and_nothing_is_changed(home: Home, tree: dict[str, object]) -> None:
    put(home, tree)
    before = files(home)
    for act in (lambda: migrate(home, dry_run=False), lambda: loaded(home)):
        with pytest.raises(
            SettingsError, match=r"holds a secret.*environment variable or the credential store"
        ) as raised:
            act()
        assert "sk-123" not in str(raised.value)
        assert len(str(raised.value).splitlines()) == 1
    assert files(home) == before


def test_mistakes_are_named_as_their_writer_knows_them(home: Home) -> None:
    put(
        home,
        {"retentionDays": -2, "recallLimt": 3, "busyTimeoutMs": "x", "graceDays": 1, "lifecycle": {"grace_days": 2}},
    )
    with pytest.raises(SettingsError) as raised:
        migrate(home, dry_run=False)
    said = str(raised.value)
    file = home.legacy_settings_file
    assert f"{file}: retentionDays is -2; it must be a whole number" in said
    assert f"{file}: 'recallLimt' is not a setting; the nearest is 'recallLimit'" in said
    assert f"{file}: busyTimeoutMs is not a number" in said
    assert f"{file}: lifecycle.grace_days is set twice" in said


@pytest.mark.parametrize("text", ["{", "[]", '{"a": ' + "[" * 100_000, "\ud800".encode("utf-8", "surrogatepass")])
def test_what_is_not_json_is_one_sentence(home: Home, text: str | bytes) -> None:
    home.legacy_settings_file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SettingsError, match=r"settings\.json") as raised:
        migrate(home, dry_run=False)
    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.feature("C2")
def test_references_are_carried_over_as_references(home: Home) -> None:
    put(home, {"keyFile": "${K}", "defaultUser": "cash$$"})
    before = loaded(home)
    assert (before.key_file, before.default_user) == ("/keys/k", "cash$")
    assert 'key_file = "${K}"' in migrate(home, dry_run=False).text
    assert loaded(home) == before


def test_two_processes_may_move_at_once(home: Home) -> None:
    put(home, V1)
    before = loaded(home)
    script = MIGRATE.replace("os.kill(os.getpid(), signal.SIGKILL)", "pass")
    workers = [subprocess.Popen([sys.executable, "-c", script, str(home.root), "none"]) for _ in range(3)]
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    assert loaded(home) == before
    assert sorted(path.name for path in home.root.iterdir()) == ["settings.json.migrated", "settings.toml"]
