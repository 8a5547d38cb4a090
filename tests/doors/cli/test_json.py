"""Every command answers --json with one object that has the keys the guide promises."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.doors.json_values import to_json
from tests.docs.pages import ROOT
from tests.doors.cli.benchmark.labelled_sets import write_set
from tests.doors.cli.calls import call, ok
from tests.doors.cli.generations import add_previous_generation
from tests.doors.cli.test_nonsense import leaves
from tests.doors.server.daemons import daemon
from tests.home.extensions.samples import files, write_folder

pytestmark = pytest.mark.process

GUIDE = ROOT / "docs" / "guides" / "command-line.md"
_ROW = re.compile(r"^\| `recollectum (?P<path>[^`]+)` \| (?P<keys>.+) \|$", re.MULTILINE)


def promised() -> dict[str, list[str]]:
    """The keys in the guide's table, by command; what stands in brackets or after `each with` is about their values."""
    rows = _ROW.finditer(GUIDE.read_text(encoding="utf-8"))
    return {
        row["path"]: re.findall(r"`(\w[\w@ ]*)`", re.sub(r"\(.*?\)|, each with .*", "", row["keys"])) for row in rows
    }


def lines(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """One line for every command, in an order in which each finds what it needs."""
    memory = ok("remember", "the sky is blue").word
    ok("memories", "edit", memory, "the sky is grey")
    session = ok("sessions", "add", "user", "hello", "--json").json["message"]["session_id"]
    ok("users", "add", "eve")
    key = ok("keys", "create", "--json").json["key"]["id"]
    old = ok("keys", "create", "--json").json["key"]["id"]
    grant = ok("users", "grants", "add", "--to", "eve", "--owner", "ada", "--permission", "read").word
    file = str(tmp_path / "talk.jsonl")
    for path, words in (
        *(("init", []), ("status", ["--check"]), ("upgrade", []), ("remember", ["tea"]), ("recall", ["tea"])),
        *((f"memories {verb}", [memory]) for verb in ("show", "history", "diff", "archive", "restore", "forget")),
        *(("memories list", []), ("memories as-of", ["2026-01-01"]), ("memories restore", [memory])),
        *(("memories edit", [memory, "the sky is black"]), ("memories supersede", [memory, "the sky is white"])),
        *(("sessions list", []), ("sessions show", [session]), ("sessions add", ["user", "hi"])),
        *(
            ("sessions export", [session, "--output", file]),
            ("sessions import", [file]),
            ("import", [file, "--yes"]),
            ("sessions end", [session]),
        ),
        ("sessions clean", ["--yes"]),
        *(
            ("sessions delete", [session, "--yes"]),
            ("lifecycle preview", []),
            ("lifecycle run", []),
            ("lifecycle restore", []),
        ),
        *((f"settings {verb}", ["recall.limit"]) for verb in ("get", "unset")),
        *(("settings set", ["recall.limit", "7"]), ("settings show", []), ("settings migrate", [])),
        *(("settings path", []), ("users list", []), ("users add", ["bob"]), ("users show", ["bob"])),
        *(("users link", ["bob", "telegram:42"]), ("users unlink", ["bob", "telegram:42"]), ("users tenants list", [])),
        *(("users tenants set", ["acme"]), ("keys create", []), ("keys list", []), ("keys revoke", [key])),
        *(("keys rotate", [old]), ("daemon run", ["retention"]), ("daemon status", [])),
        *(("daemon hosts list", []), ("daemon hosts take", [])),
        *(("mcp install", ["claude-code", "--yes"]), ("mcp uninstall", ["--yes"])),
        *(("users grants add", ["--to", "eve", "--owner", "ada", "--permission", "read"]), ("users grants list", [])),
        *(("users grants withdraw", [grant]), ("events", []), ("encryption status", []), ("encryption new-code", [])),
    ):
        yield path, [*path.split(), *words, "--json"]
    (tmp_path / "graph.jsonl").write_text(
        '{"type": "entity", "name": "Ada", "entityType": "person", "observations": ["likes tea"]}\n', encoding="utf-8"
    )
    yield "mcp import-graph", ["mcp", "import-graph", str(tmp_path / "graph.jsonl"), "--json"]
    yield from conversation_lines()
    yield from learning_lines(tmp_path)
    yield from file_lines(tmp_path)
    yield from index_lines(tmp_path)
    yield from people_lines()
    yield from extension_lines(tmp_path)
    yield from undo_lines()
    yield from project_lines(tmp_path)
    yield from purge_lines()
    yield from upkeep_lines(tmp_path)


def conversation_lines() -> Iterator[tuple[str, list[str]]]:
    """Commands about conversations and what comes of them."""
    begun = ok("sessions", "add", "user", "hello again", "--json").json["message"]["session_id"]
    ok("sessions", "add", "user", "I am allergic to peanuts.", "--channel", "signal")
    yield "consolidate", ["consolidate", "--all", "--json"]
    yield "review grow", ["review", "grow", "--json"]
    yield "review list", ["review", "list", "--json"]
    first, *_ = ok("review", "list", "--json").json["proposals"]
    ok("sessions", "add", "user", "I live in Lisbon.", "--channel", "matrix")
    ok("consolidate", "--all")
    second, *_ = ok("review", "list", "--json").json["proposals"]
    for verb, proposal in (("show", first), ("approve", first), ("reject", second)):
        yield f"review {verb}", ["review", verb, proposal["id"], "--json"]
    yield "chat", ["chat", "--model", "scripted", "--once", "hi", "--json"]
    yield "context", ["context", "sky", "--json"]
    yield "memories profile", ["memories", "profile", "--json"]
    for verb, words in (("save", [begun, "here"]), ("list", []), ("resume", ["here"]), ("delete", ["here"])):
        yield f"sessions checkpoints {verb}", ["sessions", "checkpoints", verb, *words, "--json"]
    workspace = Path("workspace")
    workspace.mkdir()
    (workspace / "file").write_text("content")
    for verb, words in (
        ("save", ["t", "--data", "{}", "--workspace", str(workspace)]),
        ("load", ["t", "loaded"]),
        ("list", []),
        ("show", ["t"]),
        ("delete", ["t", "--yes"]),
        ("retain", ["--days", "3", "--yes"]),
    ):
        yield f"tasks {verb}", ["tasks", verb, *words, "--json"]
    yield "sessions checkpoints fork", ["sessions", "checkpoints", "fork", begun, "1", "--json"]


def project_lines(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """Commands about projects."""
    for name in ("shop", "store"):
        (tmp_path / name).mkdir()
    ok("projects", "add", str(tmp_path / "shop"))
    yield "projects add", ["projects", "add", str(tmp_path / "shop"), "--json"]
    yield "projects list", ["projects", "list", "--json"]
    yield "projects show", ["projects", "show", "shop", "--json"]
    yield "projects rename", ["projects", "rename", "shop", "shop", "--json"]
    (tmp_path / "shop" / ".recollectum").mkdir()
    yield "projects trust", ["projects", "trust", str(tmp_path / "shop"), "--yes", "--json"]
    yield "projects distrust", ["projects", "distrust", str(tmp_path / "shop"), "--json"]
    yield "projects link", ["projects", "link", "shop", str(tmp_path / "store"), "--json"]
    (tmp_path / "boat").mkdir()
    ok("projects", "add", str(tmp_path / "boat"))
    yield "purge project", ["purge", "project", "boat", "--yes", "--json"]
    yield "projects forget", ["projects", "forget", "shop", "--yes", "--json"]


def learning_lines(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """Commands about what agents go by."""
    learning = ok("learnings", "add", "likes tea", "--category", "preference", "--json").json["learning"]["id"]
    yield "learnings add", ["learnings", "add", "likes cake", "--category", "preference", "--json"]
    for verb, words in (("list", []), ("sync", []), ("path", []), ("remove", [learning])):
        yield f"learnings {verb}", ["learnings", verb, *words, "--json"]
    gone = ok("history", "add", "ls -l").word
    for verb, words in (("add", ["make the-whole-thing"]), ("list", []), ("search", ["ls"]), ("clear", [gone])):
        yield f"history {verb}", ["history", verb, *words, "--json"]
    for verb, words in (("set", ["theme", "dark"]), ("show", []), ("get", ["theme"]), ("unset", ["theme"])):
        yield f"state {verb}", ["state", verb, *words, "--json"]
    ada = ["google", "ada@example.com"]
    for verb, words in (("add", ada), ("list", []), ("use", ada), ("remove", ada)):
        yield f"accounts {verb}", ["accounts", verb, *words, "--json"]
    for verb, words in (("edit", ["be brief"]), ("show", []), ("path", [])):
        yield f"notes global {verb}", ["notes", "global", verb, *words, "--json"]
    cases = tmp_path / "cases.toml"
    cases.write_text('[[case]]\ntool = "memory.search"\nexpect = "allow"\n', encoding="utf-8")
    for verb, words in (("check", []), ("explain", ["memory.search"]), ("test", [str(cases)])):
        yield f"policy {verb}", ["policy", verb, *words, "--json"]


def file_lines(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """Commands about files that are followed, and about credentials."""
    (tmp_path / "notes").mkdir()
    for verb, words in (("add", [str(tmp_path / "notes")]), ("sync", []), ("list", [])):
        yield f"notes {verb}", ["notes", verb, *words, "--json"]
    yield "notes remove", ["notes", "remove", str(tmp_path / "notes"), "--json"]
    for verb, words in (("follow", [str(tmp_path / "notes")]), ("sync", []), ("list", [])):
        yield f"sessions transcripts {verb}", ["sessions", "transcripts", verb, *words, "--json"]
    yield "sessions transcripts unfollow", ["sessions", "transcripts", "unfollow", str(tmp_path / "notes"), "--json"]
    ok("credentials", "set", "mail", "--account", "ada", stdin=b"a-secret-of-mine\n")
    (tmp_path / "tokens.json").write_text("[]", encoding="utf-8")
    for verb, words in (
        *(("list", []), ("accounts", ["mail"]), ("use", ["mail", "ada"]), ("status", [])),
        *(("import", [str(tmp_path / "tokens.json")]), ("delete", ["mail", "--yes"])),
    ):
        yield f"credentials {verb}", ["credentials", verb, *words, "--json"]


def extension_lines(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """Commands about what others wrote."""
    # Without rules: those of a whole sample would deny other lines.
    weather = {name: text for name, text in files().items() if not name.startswith("policies/")}
    source = str(write_folder(tmp_path / "weather", weather))
    for verb, words in (
        *(("install", [source, "--yes"]), ("list", []), ("show", ["weather"]), ("mcp", []), ("files", [])),
        *(("disable", ["weather"]), ("enable", ["weather"]), ("update", ["weather", "--yes"])),
        *(("trust", ["weather", "--yes"]), ("uninstall", ["weather", "--yes"])),
    ):
        yield f"extensions {verb}", ["extensions", verb, *words, "--json"]


def people_lines() -> Iterator[tuple[str, list[str]]]:
    """Commands about people."""
    ok("remember", "Grace is my girlfriend.")
    ok("remember", "Grace's number is +49 151 2345678.")
    yield "contacts list", ["contacts", "list", "--json"]
    yield "contacts resolve", ["contacts", "resolve", "my girlfriend", "--json"]
    for name in ("kim", "kimberly"):
        ok("users", "add", name)
    merge = ok("users", "merge", "kim", "kimberly", "--yes", "--json").json["merge"]["id"]
    yield "users merges", ["users", "merges", "--json"]
    yield "users unmerge", ["users", "unmerge", merge, "--json"]
    yield "users merge", ["users", "merge", "kim", "kimberly", "--yes", "--json"]


def upkeep_lines(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """Commands about the whole home."""
    made = ok("backup", "--to", str(tmp_path / "stick"), "--json").json["backup"]
    yield "backup", ["backup", "--to", str(tmp_path / "stick"), "--json"]
    yield "restore", ["restore", made, "--into", str(tmp_path / "other"), "--json"]
    yield "export", ["export", str(tmp_path / "bundle.zip"), "--json"]
    yield "repair", ["repair", "--yes", "--json"]
    yield "doctor", ["doctor", "--json"]
    yield "models", ["models", "--json"]


def undo_lines() -> Iterator[tuple[str, list[str]]]:
    """Commands about the way back."""
    memory = ok("remember", "forgotten by mistake").word
    yield "undo list", ["undo", "list", "--json"]
    yield "undo last", ["undo", "last", "--json"]
    undone = ok("undo", "list", "--json").json["steps"][0]["event"]
    yield "undo event", ["undo", "event", str(undone), "--json"]
    ok("undo", "last")
    yield "memories trash list", ["memories", "trash", "list", "--json"]
    yield "memories trash restore", ["memories", "trash", "restore", "--since", "2026-01-01", "--yes", "--json"]
    assert ok("memories", "show", memory, "--json").json["memory"]["state"] == "active"
    yield "undo diff", ["undo", "diff", "--since", "2026-01-01", "--json"]
    ok("sessions", "add", "user", "from a bad place", "--channel", "bad")
    yield "sessions imports", ["sessions", "imports", "--json"]
    (brought, *_) = ok("sessions", "imports", "--json").json["imports"]
    yield "undo import", ["undo", "import", brought["id"], "--json"]
    made = ok("quarantine", "put", "agent:main", "--yes", "--json").json["quarantine"]["id"]
    yield "quarantine list", ["quarantine", "list", "--json"]
    yield "quarantine release", ["quarantine", "release", made, "--json"]
    yield "quarantine put", ["quarantine", "put", "tool:browser", "--yes", "--json"]
    yield "lifecycle reports", ["lifecycle", "reports", "--json"]
    yield "lifecycle retention", ["lifecycle", "retention", "--json"]


def purge_lines() -> Iterator[tuple[str, list[str]]]:
    """Commands that erase for good, and their receipts."""
    memory = ok("remember", "soon gone").word
    session = ok("sessions", "add", "user", "gone too", "--channel", "fax", "--json").json["message"]["session_id"]
    ok("users", "add", "dora")
    ok("remember", "of somebody else", "--user", "dora")
    for verb, words in (
        *(
            ("memory", [memory]),
            ("session", [session]),
            ("source", ["imported"]),
            ("older-than", ["1"]),
            ("history", []),
        ),
        ("user", ["dora"]),
    ):
        yield f"purge {verb}", ["purge", verb, *words, "--yes", "--json"]
    yield "purge finish", ["purge", "finish", "--json"]
    yield "purge receipts list", ["purge", "receipts", "list", "--json"]
    first, *_ = ok("purge", "receipts", "list", "--json").json["receipts"]
    yield "purge receipts show", ["purge", "receipts", "show", first["id"], "--json"]
    for verb in ("key", "verify"):
        yield f"purge receipts {verb}", ["purge", "receipts", verb, "--json"]


def index_lines(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """Commands about search."""
    yield "bench recall", ["bench", "recall", str(write_set(tmp_path / "set")), "--json"]
    for verb in ("update", "status", "rebuild", "verify"):
        yield f"index {verb}", ["index", verb, "--json"]
    add_previous_generation("user:ada")
    yield "index rollback", ["index", "rollback", "--json"]


def daemon_answers() -> Iterator[tuple[str, dict[str, object]]]:
    """What is answered by a daemon that runs, or about it."""
    with daemon() as running:
        yield "serve", dict(running.told)
        yield "console", ok("console", "--json").json
        yield "connect", ok("connect", "--json").json
        yield "daemon stop", ok("daemon", "stop", "--json").json


@pytest.mark.loopback
def test_every_answer_has_the_promised_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RECOLLECTUM_USER", "ada")
    monkeypatch.setenv("RECOLLECTUM_EMBEDDING__PROVIDER", "local")
    code = ok("init", "--json").json["recovery_code"]
    answers = {path: ok(*line).json for path, line in lines(tmp_path)}
    code = answers["encryption new-code"]["recovery_code"]
    answers["encryption recover"] = ok("encryption", "recover", "--json", stdin=f"{code}\n".encode()).json
    answers["credentials set"] = ok("credentials", "set", "other", "--json", stdin=b"another-secret\n").json
    answers |= dict(daemon_answers())
    answers["encryption rekey"] = ok("encryption", "rekey", "--all", "--master", "--yes", "--json").json
    answers["encryption passphrase"] = ok("encryption", "passphrase", "--json", stdin=b"four words and more\n").json
    # A hook speaks as the agent that calls it, and moves need a database: their own tests have one.
    assert set(answers) == set(leaves()) - {"hook", "move", "encryption move-keys"}
    assert {path: list(answer) for path, answer in answers.items()} == promised()


@pytest.mark.usefixtures("home")
def test_stdout_is_one_document_in_ascii_with_iso_times() -> None:
    ok("remember", "\u00e9 \u202e \x9b31m", "--ttl", "30d")
    answer = ok("memories", "list", "--json")
    assert answer.out.isascii()
    (memory,) = answer.json["memories"]
    assert memory["content"] == "\u00e9 \u202e \x9b31m"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00", memory["expires_at"])
    assert memory["superseded_by"] is None


@pytest.mark.usefixtures("home")
def test_the_keys_of_a_memory_are_the_ones_of_the_library() -> None:
    memory = ok("remember", "tea", "--key", "drink", "--json").json["memory"]
    with Recollectum() as r:
        kept = r.vault("user:ada").memories.find("drink")
    assert memory == json.loads(json.dumps(to_json(kept)))


def test_a_value_without_a_json_form_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        to_json(object())


@pytest.mark.usefixtures("home")
def test_an_empty_answer_is_an_empty_list() -> None:
    for line, key in [(["recall", "nothing"], "hits"), (["sessions", "list"], "sessions"), (["keys", "list"], "keys")]:
        assert call(*line, "--json").json[key] == []
