"""Scopes are merged in order, variables fill in and override, and every mistake is one sentence in one error."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import pytest

from recollectum.domain.errors import SettingsError
from recollectum.home.paths import Home
from recollectum.settings.check import SettingsScope
from recollectum.settings.load import LoadedSettings, load
from recollectum.settings.model import Settings
from recollectum.settings.registry import all_settings
from tests.home.trusting import trust

BUILT_IN: dict[str, object] = {
    "isolation": "user",
    "encryption": "auto",
    "key_file": "",
    "default_user": "",
    "storage": {
        **dict.fromkeys(("url", "replica_url", "second_url", "migrator_url", "keys_url", "keys_migrator_url"), ""),
        **{"connections": 8, "statement_timeout_seconds": 60.0, "remains_days": 30, "busy_timeout_seconds": 10.0},
        **{"prepared_statements": "on", "open_vaults": 256, "open_vaults_mib": 1024, "readers": 4},
        **{"cache_kib": 8192, "reserve_mib": 8},
    },
    "lifecycle": {"active_days": -1, "archive_days": -1, "grace_days": 7, "agents": "", "clock_leap_days": 45},
    "sessions": {
        **{"direct": "channel", "hook_max_age_hours": 48, "hook_max_count": 500},
        **{"shell_history": 10_000, "cache_seconds": 45.0},
    },
    "recall": {
        **{"limit": 10, "max": 1000},
        "sources": "memories, sessions, notes",
        **{"rerank": "off", "rerank_head": 30},
        **{"untrusted": "one", "floor": "auto"},
    },
    "embedding": {
        "provider": "auto",
        "model": "",
        "base_url": "",
        "plain_http": "loopback",
        "key_variable": "",
        "dimensions": 0,
        "timeout_seconds": 10.0,
        **{"batch": 32, "concurrency": 2, "threads": 1},
        "cache_entries": 50_000,
        "query_cache_entries": 1000,
    },
    "rerank": {
        "model": "",
        "base_url": "",
        "plain_http": "loopback",
        "key_variable": "",
        **{"timeout_seconds": 10.0, "threads": 1},
    },
    "language_model": {
        "provider": "none",
        "model": "",
        "base_url": "",
        "plain_http": "loopback",
        "key_variable": "",
        "timeout_seconds": 60.0,
        "retries": 4,
        "concurrency": 4,
        "threads": 1,
        "window_tokens": 4096,
        "max_output_tokens": 1024,
        "calls_per_day": 0,
        "tokens_per_day": 0,
        "money_per_day": 0.0,
        "currency": "USD",
        "input_price": -1.0,
        "output_price": -1.0,
        "ask_above_tokens": 500_000,
    },
    "notes": {
        "on_search": "on",
        "on_session_start": "on",
        "watch": "on",
        "interval_minutes": 0,
        "debounce_seconds": 5.0,
        "max_kib": 1024,
    },
    "learnings": {"on_session_start": "on", "debounce_seconds": 5.0},
    "transcripts": {
        "on_search": "on",
        "on_session_start": "on",
        "watch": "on",
        "interval_minutes": 0,
        "debounce_seconds": 5.0,
        "delta_bytes": 100_000,
        "delta_messages": 50,
    },
    "context": {"tokens": 4000, "messages": 20, "memories": 50},
    "tasks": {"url": "", "keep_days": 0, "keep_count": 0, "retention_hours": 24.0, "max_mib": 65_536},
    "consolidation": {
        "idle_minutes": 30,
        "clean_slate": "on",
        "imported": "off",
        "retries": 5,
        "backoff_seconds": 60,
        "lease_seconds": 300,
        "known": 2000,
        "instructions": "",
    },
    "server": {
        **{"host": "127.0.0.1", "port": 8377, "hosts": "", "origins": ""},
        "max_body_kb": 4096,
        "rate_per_minute": 6000,
        "address_rate_per_minute": 60_000,
        "failures_per_minute": 60,
        **{"max_connections": 500, "header_seconds": 10.0, "drain_seconds": -1.0, "mem0": "on"},
    },
    "daemon": {
        "consolidation_seconds": 60.0,
        "indexing_seconds": 30.0,
        "retention_minutes": 60.0,
        "watch_seconds": 1.0,
        "backup_hours": 0.0,
        "lease_seconds": 60.0,
        "share_embedder": "on",
    },
    "redaction": {"keep": "off"},
    "log": {"level": "error"},
    "telemetry": {"spans": "off"},
}


class Place:
    """A home, a system folder and a project on a disk of their own."""

    def __init__(self, root: Path) -> None:
        self.home, self.system, self.work = Home(root / "home"), root / "system", root / "work"
        for folder in (self.home.root, self.system, self.work / ".recollectum"):
            folder.mkdir(parents=True)
        trust(self.home, self.work)
        self.project_file = self.work / ".recollectum" / "settings.toml"

    def load(
        self, environ: Mapping[str, str] | None = None, overrides: Mapping[str, object] | None = None
    ) -> LoadedSettings:
        return load(self.home, cwd=self.work, environ=environ or {}, overrides=overrides or {}, system=self.system)

    def problems(
        self, environ: Mapping[str, str] | None = None, overrides: Mapping[str, object] | None = None
    ) -> list[str]:
        with pytest.raises(SettingsError) as raised:
            self.load(environ, overrides)
        return str(raised.value).splitlines()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_with_no_file_at_all_everything_is_built_in(place: Place, tmp_path: Path) -> None:
    loaded = load(Home(tmp_path / "none"), cwd=tmp_path, environ={}, system=tmp_path / "nothing")
    assert loaded.settings == Settings()
    assert loaded.origins.keys() == all_settings().keys()
    assert {origin.scope for origin in loaded.origins.values()} == {SettingsScope.BUILT_IN}
    assert loaded.project is None


def test_the_built_in_values_are_the_documented_ones() -> None:
    assert asdict(Settings()) == BUILT_IN


@pytest.mark.feature("C1")
def test_each_scope_wins_over_the_ones_before_it(place: Place) -> None:
    steps = (
        (SettingsScope.SYSTEM_DEFAULTS, place.system / "defaults.toml", 21),
        (SettingsScope.USER, place.home.settings_file, 22),
        (SettingsScope.WORKSPACE, place.project_file, 23),
        (SettingsScope.SYSTEM, place.system / "settings.toml", 24),
    )
    for scope, path, limit in steps:
        path.write_text(f"[recall]\nlimit = {limit}\n")
        loaded = place.load()
        assert loaded.settings.recall.limit == limit
        assert loaded.origins["recall.limit"].scope is scope
        assert str(loaded.origins["recall.limit"]) == f"{scope} ({path})"
    by_variable = place.load({"RECOLLECTUM_RECALL__LIMIT": "25"})
    assert by_variable.settings.recall.limit == 25
    assert str(by_variable.origins["recall.limit"]) == "environment (RECOLLECTUM_RECALL__LIMIT)"
    given = place.load({"RECOLLECTUM_RECALL__LIMIT": "25"}, {"recall.limit": "26"})
    assert given.settings.recall.limit == 26
    assert given.origins["recall.limit"].scope is SettingsScope.OVERRIDE


@pytest.mark.feature("C1")
def test_scopes_are_merged_key_by_key(place: Place) -> None:
    (place.system / "defaults.toml").write_text('encryption = "off"\n[lifecycle]\nactive_days = 1\ngrace_days = 2\n')
    place.home.settings_file.write_text("[lifecycle]\ngrace_days = 3\n")
    settings = place.load().settings
    assert (settings.encryption, settings.lifecycle.active_days, settings.lifecycle.grace_days) == ("off", 1, 3)
    assert settings.lifecycle.archive_days == -1


def test_the_system_folder_can_be_named_by_a_variable(place: Place, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "settings.toml").write_text("[recall]\nmax = 77\n")
    assert place.load({"RECOLLECTUM_SYSTEM_DIR": str(other)}).settings.recall.max == 77
    assert place.problems({"RECOLLECTUM_SYSTEM_DIR": "other"}) == [
        "the variable RECOLLECTUM_SYSTEM_DIR is 'other'; write an absolute path"
    ]


@pytest.mark.feature("C1")
def test_variables_are_filled_in(place: Place) -> None:
    place.home.settings_file.write_text(
        'key_file = "${KEYS}/a$$b"\nencryption = "${MODE}"\n[recall]\nlimit = "${LIMIT}"\n'
    )
    settings = place.load({"KEYS": "/k/${x}", "MODE": "off", "LIMIT": "12"}).settings
    assert (settings.key_file, settings.encryption, settings.recall.limit) == ("/k/${x}/a$b", "off", 12)


@pytest.mark.feature("C1")
def test_a_variable_that_is_missing_is_named_with_file_and_key(place: Place) -> None:
    file = place.home.settings_file
    file.write_text('key_file = "${KEYS}/a"\ndefault_user = "$USER"\n')
    assert place.problems() == [
        f"{file}: key_file refers to the variable KEYS, which is not set; set it, or write $$ for a dollar sign",
        f"{file}: default_user holds a single $; write ${{NAME}} for a variable, or $$ for a dollar sign",
    ]


def test_what_a_variable_held_is_never_shown(place: Place) -> None:
    place.home.settings_file.write_text('key_file = "${KEYS}"\n')
    (said,) = place.problems({"KEYS": "hunter2"})
    assert "hunter2" not in said
    assert "key_file is '${KEYS}'; it must be an absolute path" in said
    assert "hunter2" not in str(place.problems({"KEYS": "/k", "RECOLLECTUM_TASKS__URL": "s3://me:hunter2@bucket"}))
    (said,) = place.problems({"RECOLLECTUM_API_KYE": "hunter2", "KEYS": "/k"})
    assert said == "the variable RECOLLECTUM_API_KYE is not a setting; the nearest is RECOLLECTUM_API_KEY"


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("lifecycle.active_day", "lifecycle.active_days"),
        ("active_days", "lifecycle.active_days"),
        ("activeDays", "lifecycle.active_days"),
        ("recalls.limit", "recall.limit"),
        ("encrypt", "encryption"),
        ("storage.timeout", "storage.busy_timeout_seconds"),
    ],
)
@pytest.mark.feature("C1")
def test_an_unknown_key_is_answered_with_the_nearest(place: Place, wrong: str, near: str) -> None:
    place.home.settings_file.write_text(f"{wrong} = 1\n")
    assert place.problems() == [f"{place.home.settings_file}: {wrong!r} is not a setting; the nearest is {near!r}"]


@pytest.mark.feature("C1")
def test_an_unknown_variable_of_ours_is_answered_with_the_nearest(place: Place) -> None:
    assert place.problems({"RECOLLECTUM_LIFECYCLE_ACTIVE_DAYS": "3", "UNRELATED": "x"}) == [
        "the variable RECOLLECTUM_LIFECYCLE_ACTIVE_DAYS is not a setting; "
        "the nearest is RECOLLECTUM_LIFECYCLE__ACTIVE_DAYS"
    ]
    for name in ("HOME", "SYSTEM_DIR", "USER", "API_KEY", "PASSPHRASE"):
        place.load({f"RECOLLECTUM_{name}": "/x"})


def test_an_empty_variable_is_not_set(place: Place) -> None:
    assert place.load({"RECOLLECTUM_RECALL__LIMIT": ""}).settings == Settings()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("lifecycle.active_days = -2", "lifecycle.active_days is -2; it must be a whole number from -1 to 36500"),
        ("lifecycle.active_days = 1.5", "lifecycle.active_days is 1.5; it must be a whole number from -1 to 36500"),
        ("lifecycle.active_days = true", "lifecycle.active_days is true; it must be a whole number from -1 to 36500"),
        ('lifecycle.active_days = "3"', "lifecycle.active_days is '3'; it must be a whole number from -1 to 36500"),
        ("lifecycle.active_days = [3]", "lifecycle.active_days is a list; it must be a whole number from -1 to 36500"),
        ("storage.busy_timeout_seconds = nan", "storage.busy_timeout_seconds is nan; it must be a number from 0.1 to"),
        ("storage.busy_timeout_seconds = inf", "storage.busy_timeout_seconds is inf; it must be a number from 0.1 to"),
        ('encryption = "on"', 'encryption is \'on\'; it must be "auto" or "off"'),
        ("encryption = false", 'encryption is false; it must be "auto" or "off"'),
        ("[encryption]\nx = 1", 'encryption is a table; it must be "auto" or "off"'),
        ('key_file = "keys/k"', "key_file is 'keys/k'; it must be an absolute path, a path below ~/, or empty"),
        ('key_file = "/a\\u0000b"', "key_file is '/a\\x00b'; it must be an absolute path"),
        ('default_user = "a/b"', "default_user is 'a/b'; it must be a name, or empty"),
        ("storage = 3", "storage is a section; write [storage] on a separate line"),
        ("[foo]", "'foo' is not a setting"),
        ("[lifecycle.active_days]\nx = 1", "lifecycle.active_days is a table; it must be"),
        ('"recall.limit" = 3', "'recall.limit' is not a setting"),
    ],
)
@pytest.mark.feature("C1")
def test_a_wrong_value_is_named_with_what_is_allowed(place: Place, line: str, said: str) -> None:
    place.home.settings_file.write_text(line + "\n")
    (problem,) = place.problems()
    assert problem.startswith(f"{place.home.settings_file}: {said}")


def test_wrong_variables_and_overrides_are_named(place: Place) -> None:
    assert place.problems({"RECOLLECTUM_RECALL__LIMIT": "many"}, {"recall.max": 0, "recall.min": 1}) == [
        "the variable RECOLLECTUM_RECALL__LIMIT is 'many'; it must be a whole number from 1 to 1000",
        "given for this run: recall.max is 0; it must be a whole number from 1 to 100000",
        "given for this run: 'recall.min' is not a setting; the nearest is 'recall.limit'",
    ]


def test_a_whole_number_is_taken_where_a_broken_one_is_meant(place: Place) -> None:
    place.home.settings_file.write_text("storage.busy_timeout_seconds = 3\n")
    timeout = place.load().settings.storage.busy_timeout_seconds
    assert (timeout, type(timeout)) == (3.0, float)


@pytest.mark.feature("C1")
def test_all_problems_of_all_files_come_in_one_error_a_line_each(place: Place) -> None:
    (place.system / "defaults.toml").write_text("limit = 1\n")
    place.home.settings_file.write_text("a = 1\nb = 2\nrecall.limit = 0\n")
    place.project_file.write_text("= 1\n")
    (place.system / "settings.toml").write_bytes(b"x = 1\ny = '\xff'\n")
    said = place.problems({"RECOLLECTUM_X": "1"})
    assert len(said) == 7
    assert any(line.startswith(f"{place.project_file} line 1 is not TOML: ") for line in said)
    assert f"{place.system / 'settings.toml'} line 2 is not UTF-8; save the file in that encoding" in said


@pytest.mark.parametrize(("text", "line"), [("a = 1\nb = \n", 2), ("a = 1\n\n[x", 3), ("a = 1\na = 2\n", 2)])
def test_a_slip_in_the_syntax_is_named_with_its_line(place: Place, text: str, line: int) -> None:
    place.home.settings_file.write_text(text)
    (said,) = place.problems()
    assert said.startswith(f"{place.home.settings_file} line {line} is not TOML: ")


def test_a_mark_at_the_start_and_windows_line_ends_are_read(place: Place) -> None:
    place.home.settings_file.write_bytes("\ufeffencryption = 'off'\r\n[recall]\r\nlimit = 3\r\n".encode())
    settings = place.load().settings
    assert (settings.encryption, settings.recall.limit) == ("off", 3)


@pytest.mark.feature("C1")
@pytest.mark.feature("C17")
def test_a_project_may_set_what_is_harmless(place: Place) -> None:
    place.project_file.write_text(
        'sessions.direct = "main"\nrecall.limit = 5\n[context]\ntokens = 1000\nmessages = 1\nmemories = 2\n'
    )
    loaded = place.load()
    assert asdict(loaded.settings.context) == {"tokens": 1000, "messages": 1, "memories": 2}
    assert (loaded.settings.sessions.direct, loaded.settings.recall.limit) == ("main", 5)
    assert loaded.project is not None
    assert loaded.project.root == place.work


@pytest.mark.feature("C17")
def test_a_project_may_set_nothing_else_and_is_never_silently_ignored(place: Place) -> None:
    allowed = {"recall.limit", "sessions.direct", "context.tokens", "context.messages", "context.memories"}
    assert {key for key, setting in all_settings().items() if setting.spec.project} == allowed
    for key, setting in all_settings().items():
        if key in allowed:
            continue
        value = f'"{setting.default}"' if isinstance(setting.default, str) else str(setting.default)
        place.project_file.write_text(f"{key} = {value}\n")
        assert place.problems() == [
            f"{place.project_file}: {key} may not be set by a project; set it in your own settings instead"
        ]


def test_a_project_cannot_read_the_environment(place: Place) -> None:
    place.project_file.write_text('sessions.direct = "${SECRET}"\n')
    assert place.problems({"SECRET": "main"}) == [
        f"{place.project_file}: sessions.direct refers to the environment, which a project may not; "
        "write the value itself"
    ]


def test_a_project_settings_file_cannot_be_a_way_out(place: Place, tmp_path: Path) -> None:
    (tmp_path / "outside.toml").write_text("recall.limit = 3\n")
    place.project_file.symlink_to(tmp_path / "outside.toml")
    (said,) = place.problems()
    assert "leads outside the project" in said


def test_a_hostile_file_is_one_sentence(place: Place) -> None:
    file = place.project_file
    for text in ("x = " + "[" * 100_000, "x = " + "9" * 100_000, "x" * 300_000):
        file.write_text(text)
        (said,) = place.problems()
        assert said.startswith(str(file))
        assert len(said) < len(str(file)) + 200
    file.unlink()
    file.mkdir()
    assert place.problems() == [f"{file} is not a file; move what is there out of the way"]


def test_the_home_is_not_read_as_a_project(tmp_path: Path) -> None:
    home = Home(tmp_path / ".recollectum")
    home.root.mkdir()
    home.settings_file.write_text('encryption = "off"\n')
    loaded = load(home, cwd=tmp_path, environ={}, system=tmp_path)
    assert loaded.settings.encryption == "off"
    assert loaded.project is None
