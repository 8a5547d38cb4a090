"""The real command lines of agents, as npm has them, set up by our own `mcp install` for a scripted model."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.agents.fake_model import FakeModel
from tests.tools.npm import node, node_package

_PATIENCE_S = 90
#: Less than what any agent gives a hook.
_HOOK_MS = 2500
#: Nobody but this machine is to be reached: everything else is sent to a port where nobody listens.
NO_NETWORK = {
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1,localhost",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cli:
    """One agent: where it comes from, how it is set up for the model, and how it is asked something."""

    agent: str
    package: str
    version: str
    #: Below the package: a script of Node, or a program without a suffix.
    program: str
    #: Writes what the agent has to know of the model, and says which variables it needs.
    set_up: Callable[[Path, FakeModel], Mapping[str, str]]
    #: What stands before the prompt.
    line: Sequence[str]
    after: Sequence[str] = ()
    #: Below the account: where its hooks stand.
    hooks: str
    #: Another package of the same version that it would fetch for itself.
    besides: str | None = None

    def command(self) -> list[str]:
        """The program itself, fetched with everything that it needs."""
        if self.besides is not None:
            node_package(self.besides, self.version)
        program = node_package(self.package, self.version) / self.program
        return [str(program)] if not program.suffix else [str(node()), str(program)]

    def ask(self, prompt: str, model: FakeModel) -> str:
        """Ask in a new session; what the agent says."""
        account = Path(os.environ["HOME"])
        environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("RECOLLECTUM_")},
            # The server and the hooks are found by what was written into the configuration, not by these.
            "RECOLLECTUM_EMBEDDING__PROVIDER": "none",
            "RECOLLECTUM_ENCRYPTION": "off",
            "PATH": f"{node().parent}{os.pathsep}{os.environ['PATH']}",
            **NO_NETWORK,
            **self.set_up(account, model),
        }
        done = subprocess.run(
            [*self.command(), *self.line, prompt, *self.after],
            env=environ,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-2000:]
        return done.stdout

    def wait_for_hooks(self) -> None:
        """Give the hooks longer than people wait: that the usual time is enough, the tests of the hook show."""
        path = Path(os.environ["HOME"]) / self.hooks
        before = path.read_text()
        listed, plain = f'"--agent", "{self.agent}"', f"--agent {self.agent}"
        after = before.replace(listed, f'{listed}, "--within", "{_HOOK_MS}"')
        after = after.replace(plain, f"{plain} --within {_HOOK_MS}")
        assert after != before
        path.write_text(after)


def _claude_code(_: Path, model: FakeModel) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "sk-ant-not-real",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        # Else its tools are offered one by one, by a search that the scripted model does not make.
        "ENABLE_TOOL_SEARCH": "false",
    }


def _codex(account: Path, model: FakeModel) -> Mapping[str, str]:
    path = account / ".codex" / "config.toml"
    provider = f'[model_providers.fake]\nname = "fake"\nbase_url = "{model.url}/v1"\nwire_api = "responses"\n\n'
    before = path.read_text()
    if "model_providers" not in before:
        path.write_text(f'model = "fake-model"\nmodel_provider = "fake"\n\n{provider}{before}')
    return {}


def _gemini_cli(account: Path, model: FakeModel) -> Mapping[str, str]:
    path = account / ".gemini" / "settings.json"
    auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    path.write_text(json.dumps({**json.loads(path.read_text()), **auth}))
    return {"GEMINI_API_KEY": "not-real", "GOOGLE_GEMINI_BASE_URL": model.url}


def _opencode(account: Path, model: FakeModel) -> Mapping[str, str]:
    path = account / ".config" / "opencode" / "opencode.json"
    options = {"baseURL": f"{model.url}/v1", "apiKey": "not-real"}
    fake: dict[str, object] = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"fake-model": {}}}
    more: dict[str, object] = {"provider": {"fake": fake}, "model": "fake/fake-model"}
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}))
    _give_plugin_kit(path.parent)
    return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}


def _openclaw(account: Path, model: FakeModel) -> Mapping[str, str]:
    fake: dict[str, object] = {
        "baseUrl": f"{model.url}/v1",
        "apiKey": "not-real",
        "api": "openai-completions",
        "models": [{"id": "fake-model", "name": "fake"}],
    }
    known = {
        "models": {"providers": {"fake": fake}},
        "agents": {"defaults": {"model": {"primary": "fake/fake-model"}}},
    }
    (account / ".openclaw" / "openclaw.json").write_text(json.dumps(known))
    return {}


def _give_plugin_kit(folder: Path) -> None:
    """What plugins are written with. It fetches it before its first start, and waits for ever where it cannot."""
    if (folder / "node_modules").exists():
        return
    installed = node_package(_PLUGIN_KIT, OPENCODE.version).parents[1]
    shutil.copytree(installed, folder / "node_modules", symlinks=True)
    shutil.copy(installed.parent / "package-lock.json", folder)
    (folder / "package.json").write_text(json.dumps({"dependencies": {_PLUGIN_KIT: OPENCODE.version}}))


_PLUGIN_KIT = "@opencode-ai/plugin"
CLAUDE_CODE = Cli(
    agent="claude-code",
    package="@anthropic-ai/claude-code",
    version="2.1.325",
    program="cli-wrapper.cjs",
    set_up=_claude_code,
    line=("-p",),
    after=("--allowedTools", "mcp__recollectum__remember,mcp__recollectum__recall"),
    hooks=".claude/settings.json",
)
CODEX = Cli(
    agent="codex",
    package="@openai/codex",
    version="0.166.0",
    program="bin/codex.js",
    set_up=_codex,
    # A person would trust the hooks once, on a terminal.
    line=(
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
    ),
    hooks=".codex/hooks.json",
)
GEMINI_CLI = Cli(
    agent="gemini-cli",
    package="@google/gemini-cli",
    version="0.61.0",
    program="bundle/gemini.js",
    set_up=_gemini_cli,
    line=("--skip-trust", "-y", "-p"),
    hooks=".gemini/settings.json",
)
OPENCODE = Cli(
    agent="opencode",
    package="opencode-ai",
    version="1.18.33",
    # Its own script would be put in place by npm, which runs nobody's scripts here.
    program="../opencode-linux-x64/bin/opencode",
    set_up=_opencode,
    line=("run",),
    hooks=".config/opencode/plugin/recollectum.js",
    besides=_PLUGIN_KIT,
)


#: It has no hooks of ours; it is started for what it writes. Unpacked it is 647 MB.
OPENCLAW = Cli(
    agent="openclaw",
    package="openclaw",
    version="2026.9.6",
    program="openclaw.mjs",
    set_up=_openclaw,
    line=("agent", "--local", "--agent", "main", "--message"),
    hooks="",
)


def chosen() -> list[Cli]:
    """Two, which are fetched and run in well under a minute; with RECOLLECTUM_AGENTS=all every one."""
    # Packed they are 164, 23, 165 and 147 MB.
    some, others = [CLAUDE_CODE, GEMINI_CLI], [CODEX, OPENCODE]
    return some + others if os.environ.get("RECOLLECTUM_AGENTS") == "all" else some
