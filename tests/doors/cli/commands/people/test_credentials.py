"""`recollectum credentials` takes secrets in unseen, says where they are, and never shows one."""

import json
import os
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.home.credentials.store import Credentials
from tests.doors.cli.calls import Answer, call, ok, refused, spawn
from tests.doors.cli.terminals import Terminal
from tests.home.credentials.stores import CANARY, files_with

pytestmark = pytest.mark.process

TOKEN = {
    "access_token": CANARY,
    "refresh_token": f"r-{CANARY}",
    "expires_in": 3600,
    "scope": "a b",
    "token_type": "Bearer",
}


@pytest.fixture
def sealed(monkeypatch: pytest.MonkeyPatch) -> Path:
    """An encrypted home of ada's."""
    monkeypatch.setenv("RECOLLECTUM_USER", "ada")
    monkeypatch.setenv("RECOLLECTUM_STORAGE__RESERVE_MIB", "0")
    ok("init")
    return Path(os.environ["RECOLLECTUM_HOME"])


def secret_of(name: str) -> str | None:
    with Recollectum() as recollectum:
        return Credentials(recollectum.home, recollectum.encryption(), environ=os.environ).secret(name)


@pytest.mark.feature("C6")
def test_a_key_from_stdin_is_kept_listed_and_deleted_and_never_shown(sealed: Path) -> None:
    answers: list[Answer] = []
    for flags in ([], ["--json"]):
        for words in (
            *(["set", "OPENAI_API_KEY"], ["set", "github", "--kind", "oauth", "--account", "ada"], ["list"]),
            *(["status"], ["accounts", "github"], ["use", "github", "ada"], ["use", "github", "eve"]),
            *(
                ["delete", "OPENAI_API_KEY"],
                ["delete", "OPENAI_API_KEY", "--yes"],
                ["delete", "OPENAI_API_KEY", "--yes"],
            ),
        ):
            stdin = json.dumps(TOKEN) if "oauth" in words else f"{CANARY}\n"
            answers.append(call("credentials", *words, *flags, stdin=stdin.encode()))
            if words == ["set", "OPENAI_API_KEY"]:
                assert secret_of("OPENAI_API_KEY") == CANARY
    assert [one.code for one in answers] == [0, 0, 0, 0, 0, 0, 1, 2, 0, 1] * 2
    assert CANARY not in str(answers)
    assert files_with(sealed.parent, CANARY) == []
    assert secret_of("OPENAI_API_KEY") is None


def test_the_list_says_what_there_is(sealed: Path) -> None:
    assert ok("credentials", "list", "--json").json == {"credentials": []}
    assert ok("credentials", "list").err == "no credentials\n"
    ok("credentials", "set", "OPENAI_API_KEY", stdin=CANARY.encode())
    (row,) = ok("credentials", "list").out.splitlines()
    assert row.split("\t")[:5] == ["OPENAI_API_KEY", "default", "api_key", "file", "yes"]


@pytest.mark.parametrize(
    "words",
    [
        ["X", CANARY],
        ["X", CANARY, CANARY],
        [f"X={CANARY}"],
        ["X", f"--value={CANARY}"],
        ["--kind", "api_key", "X", CANARY],
    ],
)
@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_secret_on_the_line_is_refused_and_not_quoted_back(sealed: Path, words: list[str], flags: list[str]) -> None:
    answer = call("credentials", "set", *words, *flags)
    assert (answer.code, answer.out) == (2, "")
    assert CANARY not in answer.err
    assert ok("credentials", "list", "--json").json == {"credentials": []}


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        *(
            ("api_key", f"{CANARY} and more"),
            ("api_key", f"{CANARY}\n{CANARY}"),
            ("api_key", ""),
            ("api_key", "\udcff"),
        ),
        *(
            ("oauth", CANARY),
            ("oauth", f'{{"access_token": ["{CANARY}"]}}'),
            ("oauth", f'{{"refresh_token": "{CANARY}"}}'),
        ),
        *(("oauth", f'{{"access_token": "{CANARY}", "expires_in": "{CANARY}"}}'), ("api_key", CANARY * 99_999)),
        ("oauth", f'{{"access_token": "a", "expires_at": "{CANARY}"}}'),
    ],
)
def test_what_cannot_be_kept_is_one_sentence_without_it(sealed: Path, kind: str, given: str) -> None:
    said = refused("credentials", "set", "X", "--kind", kind, stdin=given.encode("utf-8", "surrogateescape"))
    assert CANARY not in said


def test_a_changed_file_is_one_sentence_in_a_process_of_its_own_too(sealed: Path) -> None:
    ok("credentials", "set", "X", stdin=CANARY.encode())
    (sealed / "credentials.json").write_text("{}")
    for words in (["list"], ["status"], ["set", "X"], ["delete", "X", "--yes"]):
        assert "is damaged or was changed" in refused("credentials", *words, stdin=CANARY.encode())
    answer = spawn("credentials", "set", "X", stdin=CANARY.encode())
    assert (answer.code, answer.out, answer.err.count("\n")) == (1, "", 1)
    assert CANARY not in answer.err


@pytest.mark.feature("C6")
def test_status_says_in_plain_words_how_safe_the_holder_is(sealed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = ok("credentials", "status").out
    assert "A secret is sealed by AES-256-GCM in" in said
    assert "a copy of the data without this file cannot be read; programs running as you can read it" in said
    ok("credentials", "set", "X", stdin=CANARY.encode())
    assert ok("credentials", "status", "--json").json["safety"]["in_file"] == 1
    # The key is lost: what can be said without it is said.
    for key in Path(os.environ["XDG_CONFIG_HOME"]).rglob("*.key"):
        key.unlink()
    assert "A secret is sealed by AES-256-GCM in" in ok("credentials", "status").out
    monkeypatch.setenv("RECOLLECTUM_HOME", str(sealed / "nowhere"))
    assert "there is no home" in refused("credentials", "status")


@pytest.mark.usefixtures("home")
def test_a_home_without_encryption_says_where_the_key_of_the_file_is() -> None:
    ok("credentials", "set", "X", stdin=CANARY.encode())
    said = ok("credentials", "status").out
    assert "its key is in a file at" in said
    assert "/keys/credentials-" in said


@pytest.mark.feature("C8")
def test_an_older_file_is_imported_once_and_is_gone(sealed: Path, tmp_path: Path) -> None:
    old = tmp_path / "mcp-oauth-tokens.json"
    old.write_text(json.dumps([{"serverName": "docs", "token": {"accessToken": CANARY, "tokenType": "Bearer"}}]))
    answer = ok("credentials", "import", str(old))
    assert "1 credential kept, 0 of them known before" in answer.out
    assert "may still have its bytes" in answer.out
    assert CANARY not in answer.out + answer.err
    assert not old.exists()
    assert "there is no token file" in refused("credentials", "import", str(old))


def test_only_the_operator_may(sealed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = ok("keys", "create", "--json").json["secret"]
    monkeypatch.setenv("RECOLLECTUM_API_KEY", key)
    assert "only the process owner may" in refused("credentials", "list")
    assert "only the process owner may" in refused("credentials", "set", "X", stdin=CANARY.encode())


def test_on_a_terminal_the_secret_is_asked_for_and_not_echoed(sealed: Path) -> None:
    with Terminal("credentials", "set", "X") as terminal:
        terminal.wait_for("API key: ")
        terminal.press(f"{CANARY}\n")
        assert terminal.end() == 0
        assert CANARY not in terminal.shown
    assert secret_of("X") == CANARY
