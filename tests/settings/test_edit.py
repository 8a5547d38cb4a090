"""One value is changed, and every other line of the file stays as it was."""

from pathlib import Path

import pytest

from recollectum.domain.errors import SettingsError
from recollectum.home.paths import Home
from recollectum.settings.edit import set_value, unset_value
from recollectum.settings.load import load
from recollectum.settings.model import Settings

FILE = """\
# My settings.
encryption = "off"   # for now

# How long things rest.
[lifecycle]  # days
active_days = 30 # a month
  grace_days=2

[recall]
# nothing here yet

[context]
tokens = 1_000
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.root.mkdir()
    home.settings_file.write_text(FILE)
    return home


def loaded(home: Home) -> Settings:
    return load(home, cwd=home.root, environ={}, system=home.root / "no").settings


def change(home: Home) -> tuple[list[str], list[str]]:
    """The lines that went, and those that came."""
    before, after = FILE.splitlines(), home.settings_file.read_text().splitlines()
    return [line for line in before if line not in after], [line for line in after if line not in before]


@pytest.mark.parametrize(
    ("key", "text", "went", "came"),
    [
        ("encryption", "auto", ['encryption = "off"   # for now'], ['encryption = "auto"   # for now']),
        ("lifecycle.active_days", "31", ["active_days = 30 # a month"], ["active_days = 31 # a month"]),
        ("lifecycle.grace_days", "3", ["  grace_days=2"], ["  grace_days=3"]),
        ("context.tokens", "2000", ["tokens = 1_000"], ["tokens = 2000"]),
        ("lifecycle.archive_days", "5", [], ["archive_days = 5"]),
        ("recall.limit", "5", [], ["limit = 5"]),
        ("isolation", "agent", [], ['isolation = "agent"']),
        ("storage.readers", "2", [], ["[storage]", "readers = 2"]),
        ("storage.busy_timeout_seconds", "2", [], ["[storage]", "busy_timeout_seconds = 2.0"]),
    ],
)
def test_setting_changes_one_line(home: Home, key: str, text: str, went: list[str], came: list[str]) -> None:
    set_value(home, key, text)
    assert change(home) == (went, came)
    section, _, name = key.rpartition(".")
    table: object = getattr(loaded(home), section) if section else loaded(home)
    assert str(getattr(table, name)) in (text, f"{text}.0")


def test_a_new_value_stands_with_its_section(home: Home) -> None:
    set_value(home, "lifecycle.archive_days", "5")
    set_value(home, "isolation", "agent")
    lines = home.settings_file.read_text().splitlines()
    assert lines[lines.index("  grace_days=2") + 1] == "archive_days = 5"
    assert lines[:3] == ['isolation = "agent"', "# My settings.", 'encryption = "off"   # for now']


def test_a_file_is_made_where_there_is_none(tmp_path: Path) -> None:
    home = Home(tmp_path / "new")
    set_value(home, "recall.limit", "3")
    set_value(home, "encryption", "off")
    assert home.settings_file.read_text() == 'encryption = "off"\n[recall]\nlimit = 3\n'
    assert (loaded(home).recall.limit, loaded(home).encryption) == (3, "off")


@pytest.mark.parametrize(
    ("key", "went"), [("encryption", 'encryption = "off"   # for now'), ("context.tokens", "tokens = 1_000")]
)
def test_unsetting_removes_one_line(home: Home, key: str, went: str) -> None:
    unset_value(home, key)
    assert change(home) == ([went], [])
    unset_value(home, key)
    assert change(home) == ([went], [])


def test_unsetting_what_is_not_a_setting_cures_the_file_or_is_refused(home: Home) -> None:
    home.settings_file.write_text(FILE + "tokns = 3\n")
    unset_value(home, "context.tokns")
    assert home.settings_file.read_text() == FILE
    with pytest.raises(SettingsError, match=r"'context.tokns' is not a setting; the nearest is 'context.tokens'"):
        unset_value(home, "context.tokns")


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("recalls.limit", "3", "the nearest is 'recall.limit'"),
        ("recall.limit", "0", "recall.limit is '0'; it must be a whole number from 1 to 1000"),
        ("recall.limit", "3\nmax = 5", "it must be a whole number"),
        ("encryption", 'off"\nisolation = "agent', "it must be"),
        ("key_file", "/a\nb", "it must be an absolute path"),
        ("key_file", "/a$b", "holds a single"),
        ("key_file", "/${A}\udcff", "control character"),
        ("default_user", "", None),
    ],
)
def test_a_wrong_value_leaves_the_file_alone(home: Home, key: str, text: str, said: str | None) -> None:
    if said is None:
        set_value(home, key, text)
        return
    with pytest.raises(SettingsError, match=said):
        set_value(home, key, text)
    assert home.settings_file.read_text() == FILE


def test_a_file_with_another_mistake_is_not_written(home: Home) -> None:
    for broken in (FILE + "wrong = 1\n", FILE + "tokens = 3\n"):
        home.settings_file.write_text(broken)
        with pytest.raises(SettingsError, match=r"wrong|line \d+ is not TOML"):
            set_value(home, "recall.limit", "3")
        assert home.settings_file.read_text() == broken


@pytest.mark.parametrize("text", ["recall = 4\n", "[recall]\nlimit = \\\n4\n", "[[recall]]\nlimit = 4\n"])
def test_what_is_not_a_table_of_settings_is_refused_and_left_alone(home: Home, text: str) -> None:
    home.settings_file.write_text(text)
    with pytest.raises(SettingsError):
        set_value(home, "recall.limit", "3")
    assert home.settings_file.read_text() == text


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("recall = { limit = 4 } # x\n", "recall = { limit = 3 } # x\n"),
        ("recall = { max = 4 }\n", "recall = { max = 4, limit = 3}\n"),
        ("[recall]\nmax = 4\n[recall.limit]\n", "[recall]\nmax = 4\nlimit = 3\n"),
    ],
)
def test_other_forms_of_a_table_are_changed_in_their_form(home: Home, text: str, after: str) -> None:
    home.settings_file.write_text(text)
    set_value(home, "recall.limit", "3")
    assert home.settings_file.read_text() == after


def test_a_line_inside_a_text_is_not_mistaken_for_a_value(home: Home) -> None:
    text = 'key_file = """/x/\\\nrecall.limit = 4 # \\\n"""\n'
    home.settings_file.write_text(text)
    assert loaded(home).key_file == "/x/recall.limit = 4 # "
    set_value(home, "recall.limit", "3")
    assert home.settings_file.read_text() == f"{text}\n[recall]\nlimit = 3\n"
    assert loaded(home).key_file == "/x/recall.limit = 4 # "


@pytest.mark.parametrize(
    "text", ["recall.limit = 4\n", 'recall . "limit" = 4 # x\n', '["recall"]\n"limit" = 4\n', "[ recall ]\nlimit = 4"]
)
def test_other_spellings_of_a_key_are_found(home: Home, text: str) -> None:
    home.settings_file.write_text(text)
    set_value(home, "recall.limit", "3")
    assert home.settings_file.read_text() == text.replace("4", "3").removesuffix("\n") + "\n"
    assert loaded(home).recall.limit == 3


def test_windows_line_ends_are_kept(home: Home) -> None:
    home.settings_file.write_bytes(b"[recall]\r\nlimit = 4 # x\r\n")
    set_value(home, "recall.max", "9")
    assert home.settings_file.read_bytes() == b"[recall]\r\nlimit = 4 # x\r\nmax = 9\r\n"


def test_a_reference_is_kept_as_one(home: Home) -> None:
    set_value(home, "key_file", "${KEYS}/k")
    set_value(home, "recall.limit", "${LIMIT}")
    settings = load(home, cwd=home.root, environ={"KEYS": "/k", "LIMIT": "4"}, system=home.root / "no").settings
    assert (settings.key_file, settings.recall.limit) == ("/k/k", 4)


def test_an_old_file_is_moved_first_so_that_nothing_is_hidden(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.root.mkdir()
    home.legacy_settings_file.write_text('{"retentionDays": 5}')
    set_value(home, "recall.limit", "3")
    assert (loaded(home).lifecycle.active_days, loaded(home).recall.limit) == (5, 3)
    assert sorted(path.name for path in home.root.iterdir()) == ["settings.json.migrated", "settings.toml"]


def test_a_link_to_dotfiles_stays_a_link(home: Home, tmp_path: Path) -> None:
    home.settings_file.rename(tmp_path / "dotfile.toml")
    home.settings_file.symlink_to(tmp_path / "dotfile.toml")
    set_value(home, "recall.limit", "3")
    assert home.settings_file.is_symlink()
    assert "limit = 3" in (tmp_path / "dotfile.toml").read_text()
