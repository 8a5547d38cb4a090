"""Nothing that was said, asked, named or kept secret is in any log, whatever is run and however it fails."""

import io
import json
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup

from recollectum import Recollectum
from recollectum.domain.errors import Conflict, Denied, InvalidInput, ModelMissing, NotFound, StepRefused
from recollectum.doors.cli.main import main, program
from recollectum.doors.cli.terminal import errors
from recollectum.vault.purge.request import PurgeRequest
from recollectum.vault.vault import Vault
from tests.doors.hook.calls import event, no_attendant_left, patient
from tests.matrix.homes import Turning, open_home
from tests.matrix.operations import attempts
from tests.matrix.world import Held

pytestmark = pytest.mark.process

CANARY = "zqxcanaryzqx"
KEY = f"k_{CANARY}"
TOKEN = "ghp_" + "zQxA1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q"


@pytest.fixture
def everything(tmp_path: Path) -> Iterator[Path]:
    """A file that gets what anybody logs in this process, at the lowest level."""
    path = tmp_path / "all.log"
    handler = logging.FileHandler(path)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield path
    root.removeHandler(handler)
    root.setLevel(before)
    handler.close()


def _hits(*places: Path) -> list[str]:
    files = [one for place in places for one in ([place] if place.is_file() else place.rglob("*")) if one.is_file()]
    assert files
    return [str(one) for one in files if CANARY.encode() in one.read_bytes().lower()]


def _fill(vault: Vault) -> Held:
    chat = vault.sessions.open(channel="x")
    said = [chat.add("user", f"{CANARY} said {place}") for place in range(2)]
    memory = vault.memories.save(f"{CANARY} remembered", key=KEY).memory
    return Held(memories={"active": memory.id}, sessions=[chat.id], messages=[one.id for one in said])


#: What an operation may be refused for here, each in words of our own: nothing is followed, there is no embedder.
_EXPECTED = (NotFound, InvalidInput, ModelMissing, StepRefused, Conflict)


@pytest.mark.feature("C8")
def test_no_operation_logs_what_it_is_about(tmp_path: Path, everything: Path) -> None:
    settings = {"log.level": "debug", "default_user": CANARY}
    worked: list[str] = []
    errors: list[str] = []
    _write_rule(tmp_path / "home/policies")
    with open_home(tmp_path, Turning(), settings=settings) as home:
        vault = home.vault(f"user:{CANARY}")
        held = _fill(vault)
        vault.recall(CANARY)
        vault.context(CANARY)
        _ends(home, vault)
        for one in attempts(held):
            try:
                one.run(vault)
                worked.append(one.name)
            except _EXPECTED as error:
                errors.append(f"{one.name}: {error}")
        vault.privacy.trash.sweep(agreed=True)
        _refused_by_a_rule(home)
    # Anything else than the refusals above has failed the test already.
    assert len(worked) > 3 * len(errors), errors
    assert [one for one in errors if CANARY in one.lower()] == []
    written = (tmp_path / "home/logs/recollectum.jsonl").read_text()
    # It did tell of them.
    told = {"purge.run", "retention.sweep", "consolidation.done", "policy.refused", "memory.delete"}
    assert told <= set(written.replace('"', " ").split())
    assert '"rule":"mine.toml:1 (user)"' in written
    assert _hits(tmp_path / "home/logs", everything) == []


def _write_rule(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text('[[rule]]\ntool = "memory.delete"\nclients = "mcp:*"\ndecision = "deny"\n')


def _refused_by_a_rule(home: Recollectum) -> None:
    with pytest.raises(Denied, match=r"mine\.toml:1"):
        home.with_client(f"mcp:{CANARY}").vault(f"user:{CANARY}").memories.forget(f"mem_{CANARY}")


def _ends(home: Recollectum, vault: Vault) -> None:
    """The operations that log by themselves."""
    chat = vault.sessions.open(channel="y")
    chat.add("user", f"I live in {CANARY}.")
    vault.admin.consolidation.run(chat.id)
    leave = vault.privacy.purge.preview(PurgeRequest.sessions(chat.id))
    vault.privacy.purge.run(leave.token)
    assert home.receipts.list()


Cli = Callable[..., dict[str, Any]]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs a line that has to succeed, with its log at the loudest; what it answers as JSON."""
    monkeypatch.setenv("RECOLLECTUM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RECOLLECTUM_LOG__LEVEL", "debug")
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTION", "off")
    monkeypatch.setenv("RECOLLECTUM_REDACTION__KEEP", "credentials")
    monkeypatch.setenv("RECOLLECTUM_STORAGE__RESERVE_MIB", "0")

    def call(*words: str, given: str = "", code: int = 0) -> dict[str, Any]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8"))
        capsys.readouterr()
        done = main(["--json", "--verbose", *words])
        told = capsys.readouterr()
        assert done == code, (words, told.err)
        return {"raw": told.out} if "export" in words else json.loads(told.out) if told.out.startswith("{") else {}

    return call


@pytest.mark.feature("C8")
def test_a_day_of_commands_leaves_no_word_of_it_in_a_log(tmp_path: Path, everything: Path, cli: Cli) -> None:
    home = tmp_path / "home"
    cli("init")
    cli("users", "add", CANARY)
    key = cli("keys", "create", "--user", CANARY)
    cli("credentials", "set", "SERVICE_KEY", given=f"sk-{CANARY}\n")
    saved = cli("remember", f"{CANARY} likes tea, token {TOKEN}")
    memory = saved["memory"]["id"]
    assert cli("recall", CANARY)["hits"]
    cli("context", CANARY)
    cli("memories", "edit", memory, f"{CANARY} likes coffee")
    cli("sessions", "add", "--channel", CANARY, "user", f"I live in {CANARY}.")
    session = cli("sessions", "list")["sessions"][0]["id"]
    cli("consolidate", session)
    exported = tmp_path / f"{CANARY}.jsonl"
    exported.write_text(cli("sessions", "export", session)["raw"])
    cli("purge", "session", session, "--yes")
    cli("sessions", "import", str(exported), code=1)  # it was erased for good
    made = Path(cli("backup", "--to", str(tmp_path / "stick"))["backup"])
    cli("restore", str(made), "--replace")
    cli("restore", str(made), "--into", str(tmp_path / "other"))
    (home / "policies").mkdir(exist_ok=True)
    (home / "policies/mine.toml").write_text(f'[[rule]]\ntool = "{CANARY}"\ndecision = "deny"\n')
    cli("policy", "check")
    cli("policy", "explain", CANARY)
    with no_attendant_left():
        assert patient(event("UserPromptSubmit", CANARY, prompt=f"what about {CANARY}")).code == 0
        assert patient(f"not JSON {CANARY}".encode()).code == 0
    cli("doctor", code=3)  # there are hints
    cli("purge", "memory", memory, "--yes")
    secrets = [key["secret"], key["secret"].partition("_")[2][:20], TOKEN, CANARY]
    assert _hits(everything) == []
    folders = [home / "logs", home / "run", tmp_path / "other/logs"]
    logs = [one for folder in folders if folder.exists() for one in folder.rglob("*") if one.is_file()]
    written = b"".join(one.read_bytes() for one in logs)
    assert {b"purge.run", b"restore.done", b"consolidation.done"} <= set(written.replace(b'"', b" ").split())
    assert b'"kind":"home"' in written
    assert [one for one in secrets if one.lower().encode() in written.lower()] == []


def _leaves(group: TyperGroup, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from _leaves(command, (*path, name))
        else:
            yield (*path, name)


#: These stay, or read what they are not given.
_NOT_RUN = {("chat",), ("serve",), ("mcp",), ("hook",), ("bench", "recall"), ("demo",)}
#: How a command ends: done, refused, not understood, or with findings. A fault of ours says so beside it.
_CODES = {0, 1, 2, 3}


def test_no_command_logs_what_is_on_its_line(
    tmp_path: Path, everything: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("RECOLLECTUM_HOME", str(home))
    monkeypatch.setenv("RECOLLECTUM_LOG__LEVEL", "debug")
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTION", "off")
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["init"]) == 0
    assert main(["remember", f"{CANARY} on the line"]) == 0
    assert main(["recall", CANARY]) == 0
    for words in _leaves(program()):
        if words in _NOT_RUN or words[0] in ("serve", "daemon", "mcp", "hook", "console", "watch"):
            continue
        for more in ([], [CANARY], [CANARY, "--yes"], ["--home", str(home), CANARY, CANARY]):
            if words[-1] != "watch":
                code = main(["--verbose", *words, *more])
                told = capsys.readouterr().err
                assert code in _CODES, (words, more, told)
                assert "fault in Recollectum" not in told, (words, more, told)
    assert _hits(everything) == []
    assert not (home / "logs").exists() or _hits(home / "logs") == []


def test_a_fault_of_ours_is_a_place_and_not_a_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "home"
    home.mkdir()

    def fails() -> int:
        raise ValueError(CANARY)

    assert errors.run_guarded(fails, ["--home", str(home), CANARY]) == errors.FAILED
    told = capsys.readouterr().err
    assert "this is a fault in Recollectum: ValueError at cli/test_log_canaries.py:" in told
    assert CANARY not in told
    assert "Traceback" not in told
    assert "cli.unexpected" in (home / "logs/recollectum.jsonl").read_text()
    assert _hits(home / "logs") == []
