"""Rules from a text, and one decision about them, for the tests of policies."""

from pathlib import Path

from recollectum.domain.message import Json
from recollectum.home.policies import parse_policy
from recollectum.policy.rules.decisions import ToolDecision, ToolRequest, decide
from recollectum.policy.rules.matching import Ruleset, build_ruleset
from recollectum.policy.rules.model import Tier


def rules(text: str = "", *, user: str = "", project: str = "", admin: str = "") -> Ruleset:
    """The rules of a text of each tier."""
    texts = {Tier.DEFAULT: text, Tier.PROJECT: project, Tier.USER: user, Tier.ADMIN: admin}
    return build_ruleset(parse_policy(one.encode(), f"{tier}.toml", tier) for tier, one in texts.items())


def one(tool: str, decision: str, **more: object) -> str:
    """One rule as a file has it."""
    lines = [f"tool = {tool!r}", f"decision = {decision!r}", *(f"{name} = {value!r}" for name, value in more.items())]
    return "\n".join(["[[rule]]", *lines, ""])


def shell(command: Json, found: Ruleset) -> ToolDecision:
    """What is decided about a command."""
    return decide(ToolRequest(tool="shell", args={"command": command}, cwd=Path("/work")), found)
