"""Three people on three machines and one server with HTTPS: every command of the team guide, and who sees what."""

import json
import os
import re
import shlex
import ssl
import stat
import urllib.parse
import urllib.request
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from tests.doors.cli.calls import Answer, call, spawn
from tests.doors.hook.calls import event, patient
from tests.doors.server.certificates import CertificateFiles, make_certificate
from tests.doors.server.daemons import Running, daemon

pytestmark = [pytest.mark.loopback, pytest.mark.process, pytest.mark.slow]
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "team.md"
PEOPLE = ("ada", "ben", "cleo", "eve")
PLACE = "https://memory.example.org:8443"


def _lines(heading: str) -> list[list[str]]:
    """The commands below a heading of the guide, as words after the name of the program."""
    part = GUIDE.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", part, re.DOTALL)
    found = [shlex.split(line) for block in blocks for line in block.splitlines() if line.strip()]
    assert found
    assert all(words[0] == "recollectum" for words in found)
    return [words[1:] for words in found]


@contextmanager
def machine(folder: Path) -> Generator[None]:
    """Work on another machine: another account, another home, another folder."""
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.setenv("RECOLLECTUM_HOME", str(folder / ".recollectum"))
        patch.setenv("RECOLLECTUM_STORAGE__RESERVE_MIB", "0")
        patch.chdir(work)
        yield


@dataclass(frozen=True, slots=True)
class Team:
    """A server, and the machines of its people."""

    folder: Path
    files: CertificateFiles
    keys: Mapping[str, str]
    running: Running

    @property
    def url(self) -> str:
        return f"https://localhost:{self.running.told['listening']['port']}"

    def at(self, person: str, *words: str, stdin: bytes = b"") -> Answer:
        """What a command says on the machine of a person."""
        places = {PLACE: self.url, "ca.pem": str(self.files.authority)}
        with machine(self.folder / person):
            return call(*(places.get(word, word) for word in words), stdin=stdin)

    def ok(self, person: str, *words: str, stdin: bytes = b"") -> Answer:
        answer = self.at(person, *words, stdin=stdin)
        assert answer.code == 0, (words, answer.err)
        return answer


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    """The server of the guide, with a fourth person who has nothing to do with the others."""
    folder = tmp_path_factory.mktemp("team")
    files, keys = make_certificate(folder / "certificate"), dict[str, str]()
    *before, serve = _lines("The server")
    stranger = (["users", "add", "eve"], ["keys", "create", "--user", "eve"])
    with machine(folder / "server"):
        for words in (*before, *stranger):
            answer = call(*words)
            assert answer.code == 0, (words, answer.err)
            if words[:2] == ["keys", "create"]:
                keys[words[-1]] = answer.word
        given = {"8443": "0", "server.pem": str(files.certificate), "server.key": str(files.key)}
        with daemon(*(given.get(word, word) for word in serve[1:])) as running:
            made = Team(folder, files, keys, running)
            for person in PEOPLE:
                _connect(made, person)
            yield made


def _connect(team: Team, person: str) -> None:
    words, shown = _lines("Every other machine")[:2]
    made = team.ok(person, *words, stdin=team.keys[person].encode())
    assert made.out.startswith(f"{team.url}, as {person} (read, write), ")
    assert team.ok(person, *shown).out == made.out
    stored = team.folder / person / ".recollectum" / "connection.json"
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600


def test_it_says_that_it_listens_everywhere_with_https(team: Team) -> None:
    told = team.running.told["listening"]
    assert (told["host"], told["tls"]) == ("0.0.0.0", True)
    assert "memory.example.org" in told["names"]


def test_every_command_of_a_day_works_and_stays_with_its_person(team: Team) -> None:
    notes = team.folder / "ben" / "work" / "notes.jsonl"
    notes.parent.mkdir(parents=True, exist_ok=True)
    notes.write_text('{"content": "The office moves in May"}\n')
    said = {tuple(words): team.ok("ben", *words).out for words in _lines("Every other machine")[2:]}
    assert "Friday" in said["recall", "when is the release"]
    assert "Friday" in said["context", "release"]
    assert "Friday" in said["memories", "list"]
    assert "agent:main:main" in said["sessions", "list"]
    mine = notes.parent / "mine"
    assert "Friday" in (mine / "memories.jsonl").read_text()
    exported = b"".join(one.read_bytes() for one in (mine / "conversations").iterdir())
    assert b"Who tests the release?" in exported
    assert b"office moves" in exported + (mine / "memories.jsonl").read_bytes()
    for person in ("ada", "cleo", "eve"):
        listed = team.ok(person, "memories", "list", "--json").json["memories"]
        talks = team.ok(person, "sessions", "list", "--json").json["sessions"]
        hits = team.ok(person, "recall", "when is the release", "--min-score", "0", "--json").json["hits"]
        assert (listed, talks, hits) == ([], [], [])
        assert team.at(person, "memories", "list", "--user", "ben").code == 1
    (kept,) = team.ok("ben", "recall", "release Friday", "--json").json["hits"][:1]
    forgotten = kept["source"]["memory_id"]
    assert team.at("eve", "memories", "show", forgotten).code == 1
    assert team.at("eve", "memories", "forget", forgotten).code == 1
    assert "restored until" in team.ok("ben", "memories", "forget", forgotten).out
    assert "Friday" not in team.ok("ben", "memories", "list").out
    assert not list((team.folder / "ben").rglob("*.db"))


def test_what_is_about_the_home_says_so_in_one_sentence(team: Team) -> None:
    for words in (["backup"], ["doctor"], ["settings", "show"], ["users", "list"]):
        refused = team.at("ben", *words)
        assert (refused.code, refused.err.count("\n")) == (1, 1)
        assert f"needs the home itself, but this machine uses the server {team.url}" in refused.err


def test_agents_use_the_server_as_their_person(team: Team) -> None:
    (install,) = _lines("Agents")
    team.ok("cleo", *install)
    written = [one.read_text() for one in (team.folder / "cleo").rglob("*.json") if one.name != "connection.json"]
    assert any("mcpServers" in text for text in written)
    assert not [text for text in written if team.keys["cleo"] in text]
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "desktop", "version": "1"}}
    remember = {"name": "remember", "arguments": {"content": "The harbour dinner is on the twelfth of May."}}
    said = (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": remember},
    )
    asked = event("UserPromptSubmit", prompt="when is the harbour dinner?")
    with machine(team.folder / "cleo"):
        done = spawn("mcp", stdin="".join(json.dumps(one) + "\n" for one in said).encode())
        assert '"isError":true' not in done.out, done.out
        assert "twelfth of May" in patient(asked).context
    with machine(team.folder / "eve"):
        assert "twelfth of May" not in patient(asked).context
    assert "twelfth of May" in team.ok("cleo", "memories", "list").out


def test_the_console_takes_the_key_over_https(team: Team) -> None:
    context = ssl.create_default_context(cafile=str(team.files.authority))
    jar = CookieJar()
    browser = urllib.request.build_opener(
        urllib.request.ProxyHandler({}),
        urllib.request.HTTPSHandler(context=context),
        urllib.request.HTTPCookieProcessor(jar),
    )
    form = urllib.parse.urlencode({"key": team.keys["eve"]}).encode()
    with browser.open(f"{team.url}/login", form, timeout=30) as page:
        assert page.status == 200
        assert "Search" in page.read().decode()
    (cookie,) = jar
    assert cookie.secure
    assert team.keys["eve"] not in str(cookie.value)


def test_a_vault_is_shared_by_a_grant_and_no_further(team: Team) -> None:
    grant, shown = _lines("Share a vault")
    team.ok("cleo", "remember", "Cleo likes plums")
    assert team.at("ben", *shown).code == 1
    with machine(team.folder / "server"):
        assert call(*grant).code == 0
    assert "plums" in team.ok("ben", *shown).out
    assert team.at("ben", "remember", "forged", "--user", "cleo").code == 1
    assert team.at("eve", *shown).code == 1


def test_a_person_leaves_with_a_receipt_and_a_lost_key_ends(team: Team) -> None:
    purge, off = _lines("Leave")
    assert "your key is of eve" in team.at("eve", *purge).err
    receipt = team.ok("cleo", *purge, "--json").json["receipt"]
    assert receipt["state"] == "done"
    gone = team.at("cleo", "memories", "list")
    assert (gone.code, "does not know this key" in gone.err) == (1, True)
    team.ok("cleo", *off)
    assert not (team.folder / "cleo" / ".recollectum" / "connection.json").exists()
    with machine(team.folder / "server"):
        keys = json.loads(call("keys", "list", "--json").out)["keys"]
        (lost,) = [one["id"] for one in keys if one["person"] == "user:eve" and not one["revoked"]]
        assert call("keys", "revoke", lost).code == 0
    assert "does not know this key" in team.at("eve", "recall", "x").err
    assert os.environ.get("RECOLLECTUM_URL") is None
