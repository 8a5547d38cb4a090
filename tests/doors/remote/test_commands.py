"""The commands of a machine that uses a server: the same output, the same JSON, and one sentence for the rest."""

import json
import os
import re
import stat
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.doors.cli.calls import call, ok, refused
from tests.doors.http.served import Served, serving
from tests.vault.transcript_files import append, lines

pytestmark = pytest.mark.loopback
#: What differs between two vaults that were given the same: ids, times, and who wrote.
_VARIES = re.compile(
    r"\"crc\":\"\w+\"|(?:mem|ses|msg|key|evt|imp)_[0-9a-z]{26}|"
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::[\d.]+)?(?:\+00:00| UTC|Z)?"
)


_numbers = count()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("server") / "home") as made:
        yield made


@pytest.fixture
def name() -> str:
    """The person of one test."""
    return f"ada{next(_numbers)}"


@pytest.fixture
def server(running: Served, name: str) -> Served:
    """The server of the module, with the key of the test's own person."""
    return running.with_key(running.new_key(f"user:{name}"))


def use(server: Served, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("RECOLLECTUM_URL", f"http://127.0.0.1:{server.port}")
    patch.setenv("RECOLLECTUM_API_KEY", str(server.secret))


def _plain(text: str) -> str:
    # A server counts nothing for its clients.
    counted = text.replace("1 of 2;", "the newest 1; there are more;")
    return re.sub(r"key:\w+|process", "WRITER", _VARIES.sub("X", counted))


def _day() -> list[str]:
    """What one person does in a day, with every command that a server answers; the outputs in order."""
    said: list[str] = []

    def do(*line: str, stdin: bytes = b"") -> str:
        answer = ok(*line, stdin=stdin)
        said.append(_plain(answer.out + answer.err))
        return answer.out

    tea = do("remember", "I drink oolong tea", "--key", "tea", "--importance", "0.9", "--ttl", "30d").strip()
    do("remember", "I drink oolong tea", "--key", "tea", "--importance", "0.9", "--ttl", "30d", "--json")
    do("remember", "My card is 4111 1111 1111 1111", "--json")
    do("memories", "list")
    do("memories", "list", "--json", "--limit", "1")
    do("memories", "show", tea)
    do("memories", "edit", tea, "I drink green tea", "--version", "1", "--json")
    do("memories", "history", tea, "--json")
    do("memories", "diff", tea)
    do("memories", "archive", tea)
    do("memories", "restore", tea, "--json")
    do("sessions", "add", "user", "Where is the station?", "--channel", "telegram", "--json")
    do("sessions", "add", "assistant", "Two streets away.", "--channel", "telegram")
    session = json.loads(do("sessions", "list", "--json"))["sessions"][0]["id"]
    do("sessions", "list")
    do("sessions", "show", session, "--json")
    do("sessions", "export", session)
    do("sessions", "export", session, "--format", "gemini")
    do("recall", "what tea", "--min-score", "0")
    do("recall", "what tea", "--min-score", "0", "--json", "--explain")
    do("recall", "quantum lattice")
    # The mark of a fence is random.
    said[-1] = re.sub(r"[0-9a-f]{8,}", "MARK", said[-1])
    for line in (("context", "tea", "--ledger"), ("context", "tea", "--session", session, "--json")):
        do(*line)
        said[-1] = re.sub(r"[0-9a-f]{8,}|tokens\D+\d+|\d+", "N", said[-1])
    do("sessions", "end", session)
    do("memories", "forget", tea, "--json")
    return said


def test_every_command_of_a_day_says_the_same_as_at_home(
    server: Served, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("RECOLLECTUM_STORAGE__RESERVE_MIB", "0")
    monkeypatch.setenv("RECOLLECTUM_USER", name)
    ok("init")
    here = _day()
    use(server, monkeypatch)
    there = _day()
    for mine, theirs in zip(here, there, strict=True):
        assert theirs == mine
    assert len(server.home.vault(f"user:{name}").memories.list()) == 1


def test_refusals_are_one_sentence_without_an_effect(
    server: Served, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    use(server, monkeypatch)
    missing = "mem_" + "0" * 26
    assert "memory" in refused("memories", "show", missing)
    saved = ok("remember", "I drink tea").word
    assert "version 1, not 3" in refused("memories", "edit", saved, "new", "--version", "3")
    assert "does not know the folder" in refused("remember", "x", "--project", "./here")
    assert "whole minutes" in refused("remember", "x", "--ttl", "90s")
    assert refused("recall", "x", "--limit", "0")
    assert "server.hosts" not in refused("recall", "x", "--user", "bob")
    assert [one.content for one in server.home.vault(f"user:{name}").memories.list()] == ["I drink tea"]


@pytest.mark.parametrize(
    "line",
    [
        ["status"],
        ["init"],
        ["doctor"],
        ["backup"],
        ["serve"],
        ["users", "list"],
        ["settings", "show"],
        ["memories", "supersede", "x", "y"],
        ["purge", "memory", "mem_x"],
        ["notes", "list"],
        ["chat"],
    ],
)
def test_other_commands_say_that_they_need_the_home(monkeypatch: pytest.MonkeyPatch, line: list[str]) -> None:
    monkeypatch.setenv("RECOLLECTUM_URL", "https://memory.example.org")
    monkeypatch.setenv("RECOLLECTUM_API_KEY", "rk_" + "x" * 40)
    told = refused(*line)
    assert "needs the home itself, but this machine uses the server https://memory.example.org" in told
    assert "unset RECOLLECTUM_URL" in told


def test_connect_stores_the_key_for_this_account_alone(
    server: Served, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    url = f"http://localhost:{server.port}"
    assert "does not know this key" in refused("connect", url, stdin=b"rk_" + b"x" * 40)
    assert "not an API key" in refused("connect", url, stdin=b"")
    assert ok("connect").out.startswith("no server is used")
    made = ok("connect", f"{url}/", stdin=f"{server.secret}\n".encode())
    assert made.out.startswith(f"{url}, as {name} (read, write), Recollectum ")
    assert str(server.secret) not in made.out + made.err
    (file,) = Path(os.environ["RECOLLECTUM_HOME"]).iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    ok("remember", "I drink tea")
    assert ok("connect", "--json").json["person"] == name
    # The key in the variable belongs to another server or home: it does not go to this one.
    monkeypatch.setenv("RECOLLECTUM_API_KEY", "rk_" + "y" * 40)
    assert "I drink tea" in ok("memories", "list").out
    monkeypatch.delenv("RECOLLECTUM_API_KEY")
    # A stored key goes to no other address than its own.
    monkeypatch.setenv("RECOLLECTUM_URL", f"http://127.0.0.1:{server.port}")
    assert "there is no key for it" in refused("memories", "list")
    monkeypatch.setenv("RECOLLECTUM_URL", url)
    assert "I drink tea" in ok("memories", "list").out
    monkeypatch.delenv("RECOLLECTUM_URL")
    file.chmod(0o644)
    assert "other accounts can read the key" in refused("memories", "list")
    file.chmod(0o600)
    assert "leave it with: recollectum connect --off" in refused("status")
    assert ok("connect", "--off").out == "the server and its key are forgotten\n"
    assert not file.exists()


def test_an_export_has_every_memory_and_conversation(
    server: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    use(server, monkeypatch)
    ok("remember", "I drink tea")
    ok("sessions", "add", "user", "Where is the station?")
    made = ok("export", str(tmp_path / "mine"), "--json").json["bundle"]
    assert (made["owners"], made["files"]) == ([f"user:{name}"], 3)
    assert "I drink tea" in (tmp_path / "mine" / "memories.jsonl").read_text()
    (talk,) = (tmp_path / "mine" / "conversations").iterdir()
    assert b"station" in talk.read_bytes()
    assert "exists already" in refused("export", str(tmp_path / "mine"))
    assert "leave --owner and --all out" in refused("export", str(tmp_path / "all"), "--all", code=2)


def test_one_erases_oneself_and_nobody_else(server: Served, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    server.new_key("user:bob")
    use(server, monkeypatch)
    ok("remember", "I drink tea")
    assert f"your key is of {name}" in refused("purge", "user", "bob", "--yes")
    assert "memories" in ok("purge", "user", name, "--dry-run").out
    assert len(server.home.vault(f"user:{name}").memories.list()) == 1
    assert "add --yes" in call("purge", "user", name).err
    receipt = ok("purge", "user", name, "--yes", "--json").json["receipt"]
    assert receipt["state"] == "done"
    assert "does not know this key" in refused("memories", "list")


def _imports(folder: Path) -> list[str]:
    """What importing says: a transcript of ours, one of Claude Code, memories of another program, and again."""
    folder.mkdir(exist_ok=True)
    ok("sessions", "add", "user", "Where is the station?", "--channel", "train")
    session = ok("sessions", "list", "--json").json["sessions"][0]["id"]
    ours = folder / "ours.jsonl"
    ok("sessions", "export", session, "--output", str(ours))
    other = folder / "claude" / "talk.jsonl"
    append(other, lines(range(450)))
    memories = folder / "memories.json"
    memories.write_text(json.dumps([{"id": "m1", "memory": "I drink oolong tea"}, {"id": "m2", "memory": "I run"}]))
    answers = [
        ok("sessions", "import", str(ours)),
        ok("import", str(other), str(memories), "--dry-run"),
        ok("import", str(other), str(memories), "--yes"),
        ok("import", str(other), str(memories), "--yes", "--json"),
        ok("import", str(other), "--mine", "--yes"),
        ok("memories", "list"),
    ]
    return [_plain(one.out + one.err) for one in answers]


def test_imports_read_files_here_and_say_the_same_as_at_home(
    server: Served, monkeypatch: pytest.MonkeyPatch, name: str, tmp_path: Path
) -> None:
    monkeypatch.setenv("RECOLLECTUM_STORAGE__RESERVE_MIB", "0")
    monkeypatch.setenv("RECOLLECTUM_USER", name)
    ok("init")
    here = _imports(tmp_path / "files")
    use(server, monkeypatch)
    for place in (tmp_path / "files").rglob("*.jsonl"):
        place.unlink()
    there = _imports(tmp_path / "files")
    for mine, theirs in zip(here, there, strict=True):
        assert theirs == mine
    vault = server.home.vault(f"user:{name}")
    assert sum(one.message_count for one in vault.sessions.list()) >= 451
    assert {one.trust.value for one in vault.memories.list()} == {"imported"}


def test_a_transcript_moves_from_one_home_to_the_server_whole(
    server: Served, monkeypatch: pytest.MonkeyPatch, name: str, tmp_path: Path
) -> None:
    monkeypatch.setenv("RECOLLECTUM_STORAGE__RESERVE_MIB", "0")
    ok("init")
    append(tmp_path / "talk.jsonl", lines(range(450)))
    ok("import", str(tmp_path / "talk.jsonl"), "--mine", "--yes")
    (session,) = ok("sessions", "list", "--json").json["sessions"]
    ok("sessions", "export", session["id"], "--output", str(tmp_path / "moved.jsonl"))
    use(server, monkeypatch)
    done = ok("sessions", "import", str(tmp_path / "moved.jsonl"), "--json").json["imports"][0]
    assert (done["added"], done["known"]) == (450, 0)
    again = ok("sessions", "import", str(tmp_path / "moved.jsonl"), "--json").json["imports"][0]
    assert (again["added"], again["known"], again["import_id"]) == (0, 450, None)
    (moved,) = server.home.vault(f"user:{name}").sessions.list()
    assert (moved.id, moved.message_count) == (session["id"], 450)


_REFUSED: list[object] = [
    {},
    {"session": {"id": "x"}},
    {"session": {"id": "ses_" + "0" * 26, "key": "agent:main:main", "created_at": "then", "updated_at": "now"}},
    {"session": [], "messages": []},
    {"session": {}, "messages": [{}] * 2001},
    {"session": {}, "unknown": 1},
    {"session": {}, "import_id": "../../x"},
]


@pytest.mark.parametrize("body", _REFUSED)
def test_an_import_that_cannot_be_is_refused_whole(server: Served, name: str, body: object) -> None:
    assert server.ask("POST", "/v1/imports", body).status == 422
    assert not server.home.vault(f"user:{name}").sessions.list()
