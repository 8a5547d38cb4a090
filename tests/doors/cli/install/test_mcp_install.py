"""`recollectum mcp install`: what is written into agents' files, and that nothing else changes."""

import json
import os
import sys
import tomllib
from pathlib import Path

import pytest

from tests.doors.cli.calls import Answer, call, ok, refused

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]

FILES = {
    "claude-code": (".claude.json", ".claude/settings.json"),
    "codex": (".codex/config.toml", ".codex/hooks.json"),
    "gemini-cli": (".gemini/settings.json",),
    "opencode": (".config/opencode/opencode.json", ".config/opencode/plugin/recollectum.js"),
    "cursor": (".cursor/mcp.json", ".cursor/hooks.json"),
}
AGENTS = sorted(FILES)


def _account() -> Path:
    return Path(os.environ["HOME"])


def _write(name: str, text: str) -> Path:
    path = _account() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _install(agent: str, *flags: str) -> Answer:
    return ok("mcp", "install", agent, "--yes", *flags)


def _texts(agent: str) -> dict[str, str | None]:
    paths = [_account() / name for name in FILES[agent]]
    return {str(path): path.read_text() if path.exists() else None for path in paths}


@pytest.mark.parametrize("agent", AGENTS)
def test_install_twice_changes_nothing_and_undo_takes_all_of_it_out(agent: str) -> None:
    before = _texts(agent)
    assert _install(agent, "--user", "ada").err is not None
    installed = _texts(agent)
    assert all(text is not None for text in installed.values())
    again = _install(agent, "--user", "ada")
    assert "nothing to change" in again.err
    assert _texts(agent) == installed
    _install(agent, "--undo")
    assert _texts(agent) == before


@pytest.mark.parametrize("agent", AGENTS)
def test_a_dry_run_shows_a_diff_and_writes_nothing(agent: str) -> None:
    before = _texts(agent)
    shown = ok("mcp", "install", agent, "--dry-run").out
    assert "+" in shown
    assert "recollectum" in shown
    assert _texts(agent) == before
    assert ok("mcp", "install", agent, "--dry-run", "--json").json["changed"] is False


def test_the_command_is_absolute_and_names_the_person_and_the_home() -> None:
    _install("claude-code", "--user", "ada")
    server = json.loads((_account() / ".claude.json").read_text())["mcpServers"]["recollectum"]
    assert Path(server["command"]).is_absolute()
    assert Path(server["command"]).parent == Path(sys.executable).parent
    assert server["args"][-5:] == ["mcp", "--user", "ada", "--home", os.environ["RECOLLECTUM_HOME"]]
    settings = json.loads((_account() / ".claude/settings.json").read_text())
    assert set(settings["hooks"]) == {"SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"}


def test_codex_waits_for_the_server() -> None:
    _install("codex")
    server = tomllib.loads((_account() / ".codex/config.toml").read_text())["mcp_servers"]["recollectum"]
    assert server["required"] is True
    assert server["startup_timeout_sec"] >= 10


JSONC = """\
// mine
{
    "theme": "dark", // at night
    /* servers */
    "mcpServers": {
        "other": {"command": "x", "args": ["1"]}, // keep
    },
    "hooks": {
        "SessionStart": [
            {"hooks": [{"type": "command", "command": "echo hi"}]}
        ]
    }
}
"""

TOML = """\
# mine
model = "o9"   # the best

[mcp_servers.other]
command = "x"

# about projects
[projects."/p"]
trust_level = "trusted"
"""


def test_comments_order_and_other_settings_stay() -> None:
    path = _write(".gemini/settings.json", JSONC)
    _install("gemini-cli")
    after = path.read_text()
    for line in JSONC.splitlines():
        assert line.rstrip(",").strip() in after
    assert after.index('"theme"') < after.index('"mcpServers"') < after.index('"hooks"')
    assert path.with_name("settings.json.recollectum-backup").read_text() == JSONC
    _install("gemini-cli", "--undo")
    assert path.read_text() == JSONC


def test_a_toml_file_keeps_every_line() -> None:
    path = _write(".codex/config.toml", TOML)
    _install("codex", "--no-hooks")
    after = path.read_text()
    assert after.startswith(TOML)
    assert tomllib.loads(after)["mcp_servers"]["other"] == {"command": "x"}
    _install("codex", "--undo")
    assert path.read_text() == TOML


def test_an_older_entry_of_ours_is_replaced_in_its_place() -> None:
    old = TOML.replace("[mcp_servers.other]", '[mcp_servers.recollectum]\ncommand = "old"\n\n[mcp_servers.other]')
    path = _write(".codex/config.toml", old)
    _install("codex", "--user", "ada")
    after = path.read_text()
    assert after.index("[mcp_servers.recollectum]") < after.index("[mcp_servers.other]")
    assert '"old"' not in after
    _install("codex", "--user", "grace")
    hooks = json.loads((_account() / ".codex/hooks.json").read_text())["hooks"]["Stop"]
    assert len(hooks) == 1
    assert "grace" in json.dumps(hooks)


def test_hooks_can_be_left_out_and_are_taken_out_again() -> None:
    _install("gemini-cli")
    path = _account() / ".gemini/settings.json"
    assert "hooks" in json.loads(path.read_text())
    _install("gemini-cli", "--no-hooks")
    assert set(json.loads(path.read_text())) == {"mcpServers"}


def test_a_project_has_files_of_its_own() -> None:
    _install("claude-code", "--scope", "project")
    assert "recollectum" in json.loads(Path(".mcp.json").read_text())["mcpServers"]
    assert Path(".claude/settings.local.json").exists()
    assert not (_account() / ".claude.json").exists()


@pytest.mark.parametrize(
    ("agent", "name", "text", "line"),
    [
        ("claude-code", ".claude.json", '{\n  "a": 1\n  "b": 2\n}', "line 3"),
        ("gemini-cli", ".gemini/settings.json", '{\n  "a": "x', "line 2"),
        ("cursor", ".cursor/mcp.json", "[]", "line 1"),
        ("codex", ".codex/config.toml", "a = 1\nb = \n", "line 2"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_name_and_line(agent: str, name: str, text: str, line: str) -> None:
    path = _write(name, text)
    sentence = refused("mcp", "install", agent, "--yes")
    assert str(path) in sentence
    assert line in sentence
    assert path.read_text() == text


def test_what_would_have_to_be_rewritten_is_refused() -> None:
    path = _write(".codex/config.toml", 'mcp_servers = { other = { command = "x" } }\n')
    assert "in an editor" in refused("mcp", "install", "codex", "--yes")
    assert "mcp_servers = {" in path.read_text()
    _write(".gemini/settings.json", '{"mcpServers": 3}')
    assert "is not an object" in refused("mcp", "install", "gemini-cli", "--yes")


def test_without_a_terminal_a_yes_is_needed() -> None:
    answer = call("mcp", "install", "cursor")
    assert answer.code == 2
    assert "--yes" in answer.err
    assert not (_account() / ".cursor").exists()


def test_an_unknown_agent_is_refused_with_the_nearest_one() -> None:
    for verb in ("install", "uninstall"):
        answer = call("mcp", verb, "claude")
        assert answer.code == 2
        assert "there is no agent 'claude'; did you mean 'claude-code'? known are claude-code, codex" in answer.err
    assert "did you mean" not in call("mcp", "install", "zzz").err


def test_modes_and_links_stay() -> None:
    real = _write("dotfiles/claude.json", '{"a": 1}\n')
    real.chmod(0o640)
    (_account() / ".claude.json").symlink_to(real)
    _install("claude-code")
    assert (_account() / ".claude.json").is_symlink()
    assert "mcpServers" in json.loads(real.read_text())
    assert real.stat().st_mode & 0o777 == 0o640


PERMISSIONS = [f"mcp__recollectum__{tool}" for tool in ("recall", "context", "list", "sessions", "remember")]


def test_claude_code_may_use_what_erases_nothing_unless_told_otherwise() -> None:
    theirs = {"permissions": {"allow": ["Bash(ls)", "mcp__recollectum__forget"], "deny": ["WebFetch"]}}
    path = _write(".claude/settings.json", text := json.dumps(theirs, indent=2))
    _install("claude-code", "--no-allow")
    assert json.loads(path.read_text())["permissions"] == theirs["permissions"]
    _install("claude-code")
    allowed = json.loads(path.read_text())["permissions"]["allow"]
    assert allowed == [*theirs["permissions"]["allow"], *PERMISSIONS]
    assert "nothing to change" in _install("claude-code").err
    _install("claude-code", "--no-allow", "--no-hooks")
    assert path.read_text() == text


def test_install_ends_with_four_lines_and_shows_a_diff_only_when_asked() -> None:
    told = _install("claude-code", "--user", "ada").out.splitlines()
    assert len(told) == 4
    assert told[0] == "Claude Code uses the memory of ada: tools and hooks that recall and record."
    assert told[1].startswith("Changed: ")
    assert told[1].endswith("settings.json.")
    assert "without asking" in told[2]
    assert told[3].startswith("Restart Claude Code, then ask it: what do you remember about me?")
    assert "asks before it uses a tool" in _install("gemini-cli").out
    assert "/hooks" in _install("codex").out
    shown = _install("claude-code", "--user", "grace", "--diff").out
    assert "+++ " in shown
    assert "the previous versions are beside them" in shown


def _everything() -> dict[str, bytes]:
    """Every file of the account and of the folder, without the home."""
    home = Path(os.environ["RECOLLECTUM_HOME"])
    found = [one for root in (_account(), Path.cwd()) for one in root.rglob("*") if one.is_file()]
    return {str(one): one.read_bytes() for one in found if not one.is_relative_to(home)}


UNIT = "[Service]\nExecStart=%h/.local/bin/recollectum serve\n"


def test_uninstall_removes_every_entry_and_keeps_the_data_and_all_else() -> None:
    ok("remember", "the boat is called Petrel")
    _write(".gemini/settings.json", JSONC)
    _write(".codex/config.toml", TOML)
    _write(".claude/settings.json", '{"permissions": {"allow": ["Bash(ls)"]}, "hooks": {}}')
    before = _everything()
    for agent in AGENTS:
        _install(agent)
    for agent in ("claude-code", "gemini-cli"):
        _install(agent, "--scope", "project")
    unit = _write(".config/systemd/user/recollectum.service", UNIT)
    link = unit.parent / "default.target.wants" / unit.name
    link.parent.mkdir()
    link.symlink_to(unit)
    installed = _everything()
    assert "recollectum" in ok("mcp", "uninstall", "--dry-run").out
    assert _everything() == installed
    answer = call("mcp", "uninstall")
    assert (answer.code, "--yes" in answer.err, _everything()) == (2, True, installed)
    done = ok("mcp", "uninstall", "--yes", "--json").json
    assert (done["agents"], done["changed"]) == (["claude-code", "codex", "gemini-cli", "opencode", "cursor"], True)
    assert _everything() == before
    assert not link.is_symlink()
    assert "nothing to change" in ok("mcp", "uninstall", "--yes").err
    assert "Petrel" in ok("recall", "boat").out


def test_uninstall_leaves_what_others_wrote_under_our_names() -> None:
    theirs = _write(".claude.json", '{"mcpServers": {"recollectum": {"command": "node", "args": ["their.js"]}}}')
    _write(".codex/config.toml", '[mcp_servers.recollectum]\ncommand = "their-server"\n')
    _write(".config/opencode/plugin/recollectum.js", "// a plugin of theirs\n")
    _write(".config/systemd/user/recollectum.service", "[Service]\nExecStart=/usr/bin/their-recorder\n")
    before = _everything()
    assert "nothing to change" in ok("mcp", "uninstall", "--yes").err
    assert _everything() == before
    _install("codex")
    copy = _account() / ".codex/config.toml.recollectum-backup"
    assert copy.exists()
    ok("mcp", "uninstall", "codex", "--yes")
    # What was there before the installation is not what is left: the copy is the only one, and stays.
    assert copy.read_text() == before[str(_account() / ".codex/config.toml")].decode()
    assert theirs.read_bytes() == before[str(theirs)]


def test_uninstall_of_one_agent_leaves_the_others() -> None:
    _install("gemini-cli")
    _install("cursor")
    told = ok("mcp", "uninstall", "cursor", "--yes").out
    assert "Everything remembered is still in" in told
    assert not (_account() / ".cursor/mcp.json").exists()
    assert "recollectum" in (_account() / ".gemini/settings.json").read_text()
