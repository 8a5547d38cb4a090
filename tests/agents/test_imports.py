"""Real agents talk to a scripted model, and what they wrote is imported row for row.

Claude Code in each run, and all of those in `clis.py` with RECOLLECTUM_AGENTS=all. aider takes 690 MB and Letta 1.2 GB:
they are started where RECOLLECTUM_AIDER names the program, and RECOLLECTUM_LETTA the Python of its environment.
"""

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from recollectum import Recollectum, Vault
from recollectum.domain.message import Role
from tests.agents.clis import CLAUDE_CODE, CODEX, GEMINI_CLI, NO_NETWORK, OPENCLAW, OPENCODE, Cli, chosen
from tests.agents.fake_model import SAYS, FakeModel, fake_model
from tests.transfer.foreign_databases import opencode_rows
from tests.transfer.foreign_files import claude_code_rows, codex_rows, gemini_rows
from tests.transfer.foreign_samples import Row, texts_of

pytestmark = [pytest.mark.loopback, pytest.mark.process, pytest.mark.slow]
#: Read before a test has an environment of its own.
AIDER = os.environ.get("RECOLLECTUM_AIDER", "")
LETTA = os.environ.get("RECOLLECTUM_LETTA", "")
PROMPTS = ("My colour is teal.", "Which colour, „bitte“?")


Conversation = list[Row]


class Written(NamedTuple):
    """What an agent writes: the name that an import gives it, where it is, and what reads it by itself."""

    form: str
    #: Below the account.
    files: str
    read: Callable[[Path], list[Conversation]]
    #: The configuration that has to be there before the first start.
    settings: str | None = None


def _of_lines(rows: Callable[[Iterator[Any]], Conversation]) -> Callable[[Path], list[Conversation]]:
    """Return a reader of files that hold one conversation each, as JSON lines."""
    return lambda path: [rows(json.loads(line) for line in path.read_text().splitlines())]


def _opencode(path: Path) -> list[Conversation]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        database.row_factory = sqlite3.Row
        tables = {
            name: [dict(row) for row in database.execute(f"SELECT * FROM {name} ORDER BY id")]
            for name in ("message", "part")
        }
    for row in (*tables["message"], *tables["part"]):
        row["data"] = json.loads(row["data"])
    sessions = {row["session_id"] for row in tables["message"]}
    return [
        opencode_rows({name: [row for row in rows if row["session_id"] == one] for name, rows in tables.items()})
        for one in sessions
    ]


def _openclaw(path: Path) -> list[Conversation]:
    talks: dict[str, Conversation] = {}
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        rows = database.execute("SELECT session_id, event_json FROM transcript_events ORDER BY session_id, seq")
        for session, event in rows:
            said = json.loads(event).get("message")
            if said:
                talks.setdefault(session, []).append((said["role"], texts_of(said["content"])))
    return list(talks.values())


class Aider:
    """aider, which an environment of its own has."""

    agent = "aider"
    _flags = (
        "--no-git --no-check-update --no-analytics --no-show-model-warnings --no-pretty --no-fancy-input --yes-always"
    )

    def command(self) -> list[str]:
        """The program itself."""
        return [AIDER, *self._flags.split(), "--map-tokens", "0"]

    def ask(self, prompt: str, model: FakeModel) -> None:
        """Ask in a new chat, in the folder of the account."""
        environ = {"OPENAI_API_BASE": f"{model.url}/v1", "OPENAI_API_KEY": "x", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        line = [*self.command(), "--model", "openai/fake-model", "--message", prompt]
        account = os.environ["HOME"]
        outside = {"PYTHONPATH": "", **NO_NETWORK, **environ}
        subprocess.run(line, cwd=account, env={**os.environ, **outside}, check=True, capture_output=True, timeout=90)

    @staticmethod
    def read(path: Path) -> list[Conversation]:
        """Read the history with aider's own function, and tell the chats apart by its notices."""
        code = "import sys, json, aider.utils as a; print(json.dumps(a.split_chat_history_markdown(sys.stdin.read())))"
        python = Path(AIDER).with_name("python")
        talks: list[Conversation] = []
        for part in path.read_text().split("# aider chat started at ")[1:]:
            done = subprocess.run(
                [str(python), "-c", code],
                input=part,
                env={**os.environ, "PYTHONPATH": ""},
                capture_output=True,
                text=True,
                check=True,
            )
            said = [(one["role"], one["content"]) for one in json.loads(done.stdout)]
            first = next(place for place, (role, _) in enumerate(said) if role == "user")
            talks.append(
                [
                    (role, "\n".join(line.rstrip() for line in text.splitlines()).strip("\n"))
                    for role, text in said[first:]
                ]
            )
        return talks


class Letta:
    """The classes of Letta that write an agent file: its server needs PostgreSQL with pgvector, which CI has not."""

    agent = "letta"
    _code = """
import sys
from pathlib import Path
from letta.schemas.agent_file import AgentFileSchema, AgentSchema, MessageSchema
from letta.schemas.letta_message_content import TextContent
from letta.schemas.message import Message

path, *said = Path(sys.argv[1]), *sys.argv[2:]
none = dict.fromkeys(("groups", "blocks", "files", "sources", "tools", "mcp_servers"), [])
empty = AgentFileSchema(agents=[AgentSchema(id="agent-0", name="helper")], **none)
kept = AgentFileSchema.model_validate_json(path.read_text()) if path.exists() else empty
for role, text in zip(("user", "assistant"), said):
    content = [TextContent(text=text)]
    made = MessageSchema.from_message(Message(role=role, content=content, agent_id="agent-" + "0" * 8))
    kept.agents[0].messages.append(made.model_copy(update={"id": f"message-{len(kept.agents[0].messages)}"}))
path.write_text(kept.model_dump_json(indent=2))
"""

    def command(self) -> list[str]:
        """The program itself."""
        return [LETTA, "-W", "ignore", "-c", self._code]

    def ask(self, prompt: str, _: FakeModel) -> None:
        """Add a question and its answer to the file of an agent, as the server does when it exports one."""
        file = Path(os.environ["HOME"], "helper.af")
        line = [*self.command(), str(file), prompt, SAYS]
        subprocess.run(line, env={**os.environ, "PYTHONPATH": "", **NO_NETWORK}, check=True, timeout=90)

    @staticmethod
    def read(path: Path) -> list[Conversation]:
        """Read the agents of a file."""
        agents = json.loads(path.read_text())["agents"]
        return [[(one["role"], texts_of(one["content"])) for one in agent["messages"]] for agent in agents]


WRITTEN = {
    CLAUDE_CODE.agent: Written("Claude Code transcript", ".claude/projects/*/*.jsonl", _of_lines(claude_code_rows)),
    CODEX.agent: Written(
        "Codex transcript",
        ".codex/sessions/*/*/*/rollout-*.jsonl",
        _of_lines(codex_rows),
        ".codex/config.toml",
    ),
    GEMINI_CLI.agent: Written(
        "Gemini CLI transcript",
        ".gemini/tmp/*/chats/session-*.jsonl",
        _of_lines(gemini_rows),
        ".gemini/settings.json",
    ),
    "aider": Written("aider chat history", ".aider.chat.history.md", Aider.read),
    "letta": Written("Letta agent file", "helper.af", Letta.read),
    OPENCODE.agent: Written(
        "opencode database", ".local/share/opencode/opencode.db", _opencode, ".config/opencode/opencode.json"
    ),
    OPENCLAW.agent: Written(
        "OpenClaw database",
        ".openclaw/agents/*/agent/openclaw-agent.sqlite",
        _openclaw,
        ".openclaw/openclaw.json",
    ),
}


def _programs() -> list[Cli | Aider | Letta]:
    several = [*chosen(), OPENCLAW] if os.environ.get("RECOLLECTUM_AGENTS") == "all" else [CLAUDE_CODE]
    return [*several, *([Aider()] if AIDER else []), *([Letta()] if LETTA else [])]


def _held(vault: Vault) -> list[Conversation]:
    chats = [vault.sessions.chat(one.id).transcript(limit=1000) for one in vault.sessions.list()]
    return sorted(
        [(one.role.value, one.text) for one in chat if one.role is not Role.INFO or one.text] for chat in chats
    )


@pytest.mark.parametrize("cli", [pytest.param(one, id=one.agent) for one in _programs()])
def test_what_an_agent_wrote_is_found_and_imported_row_for_row(cli: Cli | Aider | Letta, tmp_path: Path) -> None:
    cli.command()
    written, account = WRITTEN[cli.agent], Path(os.environ["HOME"])
    if written.settings is not None:
        settings = account / written.settings
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text("{}" if settings.suffix == ".json" else "")
    with fake_model() as model:
        for prompt in PROMPTS:
            cli.ask(prompt, model)
    files = sorted(account.glob(written.files))
    wanted = sorted(talk for path in files for talk in written.read(path))
    # The reader of the test found the conversation, whatever else there is.
    spoken = [text.strip().strip('"') for talk in wanted for _, text in talk]
    assert [spoken.count(prompt) for prompt in PROMPTS] == [1, 1]
    assert spoken.count(SAYS) == len(PROMPTS)
    before = [path.read_bytes() for path in files]
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as home:
        vault = home.vault("user:ann")
        found = vault.admin.imports.preview(files)
        assert {one.form for one in found.contents} == {written.form}
        done = vault.admin.imports.run(found)
        assert _held(vault) == wanted
        again = vault.admin.imports.run(vault.admin.imports.preview(files))
        assert [one.added for one in again.files] == [0] * len(again.files)
        assert done.import_id is not None
        vault.privacy.undo.brought(done.import_id)
        assert _held(vault) == []
    assert [path.read_bytes() for path in files] == before
