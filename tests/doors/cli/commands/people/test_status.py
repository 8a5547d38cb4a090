"""Init, status and encryption: what is said about the home, its key and the project."""

import os
import re
import stat
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollectum.home.locks import Lock
from recollectum.home.paths import Home
from recollectum.models.embedding.packages import MODEL_PACKAGES
from tests.doors.cli.calls import call, ok, refused

pytestmark = pytest.mark.process

CODE = re.compile(r"^    ((?:[0-9A-Z]{4}-){8}[0-9A-Z])$", re.MULTILINE)


@pytest.fixture(autouse=True)
def ada(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default user of these tests, whose home is encrypted by a key file."""
    monkeypatch.setenv("RECOLLECTUM_USER", "ada")


@pytest.mark.feature("G1")
def test_init_makes_everything_once_and_says_who_holds_the_key() -> None:
    first = ok("init").out
    root = Path(os.environ["RECOLLECTUM_HOME"])
    assert f"Made the home {root}.\nMade a vault for ada.\n" in first
    assert "a copy of the data without this file cannot be read; programs running as you can read it" in first
    assert len(CODE.findall(first)) == 1
    assert "Write it on paper" in first
    # Three lines to type next, after the search that is on.
    assert first.splitlines()[-5].startswith("Search: ")
    assert first.splitlines()[-4] == "Next:"
    assert [line.split()[:2] for line in first.splitlines()[-3:]] == [
        ["recollectum", "remember"],
        ["recollectum", "recall"],
        ["recollectum", "mcp"],
    ]
    assert root.stat().st_mode & 0o777 == 0o700
    again = ok("init").out
    assert "exists already, with a vault for ada; nothing was changed" in again
    assert not CODE.findall(again)
    ok("users", "add", "bob")
    assert "Made a vault for bob" in ok("init", "--user", "bob").out


def test_an_unencrypted_home_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTION", "off")
    said = ok("init")
    assert "The home is not encrypted: anyone who has the files can read them." in said.out
    assert not CODE.findall(said.out)
    assert "not encrypted" in ok("encryption", "status").out
    assert "not encrypted" in ok("status").out
    assert refused("encryption", "new-code")


def test_status_says_what_there_is() -> None:
    ok("init")
    memory = ok("remember", "tea").word
    ok("remember", "cake")
    ok("memories", "forget", memory)
    ok("sessions", "add", "user", "hi")
    found = ok("status", "--check", "--json").json
    vault = found["vault"]
    assert vault["memories"] == {"active": 1, "archived": 0, "soft_deleted": 1, "hard_delete_pending": 0}
    assert (vault["sessions"], vault["messages"], vault["clock_held"]) == (1, 1, False)
    assert vault["bytes"] == Path(vault["file"]).stat().st_size > 0
    assert vault["check"] == {"missing": 0, "stray": 0, "changed": 0}
    assert found["encryption"]["kind"] == "key_file"
    assert not [line for line in ok("status").out.splitlines() if line.startswith("clock")]
    assert found["encryption"]["recovery_code_made_at"] is not None
    assert found["reserve_bytes"] == 8 * 2**20
    told = ok("status", "--check").out
    assert "1 active, 0 archived, 1 soft deleted" in told
    assert re.search(r"^check +sound$", told, re.MULTILINE)


def test_status_tells_two_vaults_apart() -> None:
    ok("init")
    ok("users", "add", "bob")
    ok("remember", "tea", "--user", "bob")
    files = {ok("status", "--user", user, "--json").json["vault"]["file"] for user in ("ada", "bob")}
    assert len(files) == 2


def test_status_of_a_user_without_a_vault_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    ok("init")
    monkeypatch.setenv("RECOLLECTUM_USER", "eve")
    assert "none yet" in ok("status").out
    assert [one["owner"] for one in ok("users", "list", "--json").json["users"]] == ["user:ada"]


@pytest.mark.feature("C17")
def test_status_names_what_the_project_adds() -> None:
    ok("init")
    assert ok("status", "--json").json["project"] is None
    project = Path.cwd() / ".recollectum"
    (project / "skills").mkdir(parents=True)
    (project / "skills" / "cook.md").write_text("stew")
    (project / "settings.toml").write_text("[recall]\nlimit = 3\n")
    home_skills = Path(os.environ["RECOLLECTUM_HOME"]) / "skills"
    home_skills.mkdir()
    (home_skills / "bake.md").write_text("bread")
    assert ok("status", "--json").json["project"]["trusted"] is False
    assert "it is not trusted, so nothing in it takes effect" in ok("status").out
    assert ok("settings", "get", "recall.limit").word == "10"
    seen = ok("projects", "trust", ".", "--yes", "--json").json["trusted"]
    assert seen["overrides"]["skills"] == ["cook.md"]
    assert ok("settings", "get", "recall.limit").word == "3"
    found = ok("status", "--json").json["project"]
    assert found["folder"] == str(Path.cwd())
    assert found["settings_file"] == str(project / "settings.toml")
    assert found["overrides"]["skills"] == ["cook.md"]
    assert found["problems"] == []
    assert re.search(r"^project skills +cook.md$", ok("status").out, re.MULTILINE)


@pytest.mark.feature("C17")
def test_a_hostile_project_is_named_and_status_still_answers() -> None:
    ok("init")
    policies = Path.cwd() / ".recollectum" / "policies"
    policies.mkdir(parents=True)
    (policies / "evil.toml").symlink_to("/etc/passwd")
    ok("projects", "trust", ".", "--yes")
    found = ok("status", "--json").json["project"]
    assert "leads outside the project" in found["problems"][0]
    assert "policies" not in found["overrides"]
    (policies.parent / "settings.toml").write_text('key_file = "/tmp/stolen"\n')
    assert "key_file may not be set by a project" in refused("status")


def lose_the_key() -> None:
    Path(ok("encryption", "status", "--json").json["encryption"]["path"]).unlink()


def test_a_lost_key_comes_back_with_the_code() -> None:
    (code,) = CODE.findall(ok("init").out)
    ok("remember", "tea")
    lose_the_key()
    assert "recollectum encryption recover" in refused("recall", "tea")
    assert "held in a file" in ok("encryption", "status").out
    assert "typing mistake" in refused("encryption", "recover", stdin=b"0000" * 8 + b"1\n")
    back = ok("encryption", "recover", stdin=f"{code.lower()}\n".encode()).out
    assert back.startswith("The key is back.\n")
    assert "tea" in ok("recall", "tea").out


def test_a_new_code_ends_the_old_one() -> None:
    (old,) = CODE.findall(ok("init").out)
    (new,) = CODE.findall(ok("encryption", "new-code").out)
    lose_the_key()
    assert "not the one of this home" in refused("encryption", "recover", stdin=f"{old}\n".encode())
    ok("encryption", "recover", stdin=f"{new}\n".encode())


def test_a_short_passphrase_is_accepted_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    ok("init")
    told = ok("encryption", "passphrase", stdin=b"abc\n")
    assert "held by a passphrase" in told.out
    assert "this passphrase has 3 characters" in told.err
    monkeypatch.setenv("RECOLLECTUM_PASSPHRASE", "abc")
    assert "characters" not in ok("status").err
    assert "characters" not in ok("encryption", "passphrase", stdin=b"four words and more\n").err


def test_a_short_passphrase_of_a_new_home_is_accepted_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_PASSPHRASE", "twelve less")
    assert "this passphrase has 11 characters" in ok("init").err


def test_a_passphrase_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = CODE.findall(ok("init").out)
    ok("remember", "tea")
    assert "held by a passphrase" in ok("encryption", "passphrase", stdin=b"four words and more\n").out
    assert "none was given" in refused("recall", "tea")
    with monkeypatch.context() as patch:
        patch.setenv("RECOLLECTUM_PASSPHRASE", "four words and more")
        assert "tea" in ok("recall", "tea").out
        patch.setenv("RECOLLECTUM_PASSPHRASE", "wrong")
        assert "the one given is wrong" in refused("recall", "tea")
    line = ("encryption", "recover", "--passphrase")
    assert "the passphrase is empty" in refused(*line, stdin=f"{code}\n\n".encode())
    assert "held by a passphrase" in ok(*line, stdin=f"{code}\nfive new words and more\n".encode()).out
    monkeypatch.setenv("RECOLLECTUM_PASSPHRASE", "five new words and more")
    assert "tea" in ok("recall", "tea").out


def test_an_empty_vault_store_is_at_its_schema() -> None:
    ok("init")
    assert ok("upgrade", "--dry-run").out == "every vault is at this schema\n"
    assert call("upgrade").code == 0


@pytest.mark.parametrize("line", ["init", "status", "recall tea", "remember tea", "backup", "doctor", "users list"])
def test_a_folder_with_other_things_is_no_place_for_a_home(tmp_path: Path, line: str) -> None:
    folder = tmp_path / "work"
    folder.mkdir(0o755)
    folder.chmod(0o755)
    (folder / "letter.txt").touch()
    assert "is not a home and contains other files, such as 'letter.txt'" in refused(
        "--home", str(folder), *line.split()
    )
    assert [path.name for path in folder.iterdir()] == ["letter.txt"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


@pytest.mark.parametrize(
    ("provider", "model", "shown"),
    [
        ("auto", "", "recollectum-embed (local)"),
        ("local", "gte-small", "gte-small (local)"),
        ("none", "", None),
        ("local", "nonesuch", None),
    ],
)
def test_status_and_doctor_name_the_model_that_computes_vectors(
    monkeypatch: pytest.MonkeyPatch, provider: str, model: str, shown: str | None
) -> None:
    monkeypatch.setenv("RECOLLECTUM_EMBEDDING__PROVIDER", provider)
    monkeypatch.setenv("RECOLLECTUM_EMBEDDING__MODEL", model)
    ok("init")
    assert ok("status", "--json").json["embedding_model"] == shown
    without = "because embedding.provider is none" if provider == "none" else "see: recollectum doctor"
    (line,) = (line for line in ok("status").out.splitlines() if line.startswith("search "))
    assert (f"semantic, by {shown}, and by words" if shown else "words only, ") in line
    assert shown or line.endswith(without)
    said = [one["words"] for one in call("doctor", "--json").json["findings"] if one["topic"] == "search"]
    assert len(said) == 1
    named = shown.removesuffix(" (local)") + " on this machine" if shown else model or "embedding.provider is none"
    assert named in said[0]


def test_without_a_model_status_doctor_and_init_say_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_EMBEDDING__PROVIDER", "auto")
    for package in MODEL_PACKAGES:
        monkeypatch.setitem(sys.modules, package.module, None)
    more = "for semantic search run: pip install 'recollectum[local]'"
    for line in ("init", "status", "doctor"):
        assert "words only" in ok(line).out
        assert more in ok(line).out


def test_a_daemon_that_runs_is_no_warning() -> None:
    ok("init")
    home = Home(Path(os.environ["RECOLLECTUM_HOME"]))
    with Lock(home.locks / "daemon.lock", clock=lambda: datetime(2026, 1, 1, tzinfo=UTC)):
        found = ok("doctor").out
        assert f"fine     daemon: process {os.getpid()} runs\n" in found
    with Lock(home.locks / "restore.lock", clock=lambda: datetime(2026, 1, 1, tzinfo=UTC)):
        assert "warning  locks: restore.lock has been held by" in call("doctor").out
    assert "daemon" not in ok("doctor").out
