"""What is decided: tiers, priorities, modes, clients, servers; and the decision names its rule."""

import pytest

from recollectum.policy.rules.decisions import ToolRequest, decide
from recollectum.policy.rules.model import Tier
from tests.policy.rules.policies import one, rules


def verdict(found: object, tool: str = "t", **more: str) -> str:
    return str(decide(ToolRequest(tool=tool, **more), found).verdict)  # type: ignore[arg-type]


@pytest.mark.feature("C9")
def test_the_decision_names_its_rule_by_file_line_and_tier() -> None:
    found = rules(user="# mine\n\n" + one("other", "deny") + one("read_*", "allow", priority=7))
    decided = decide(ToolRequest(tool="read_file"), found)
    assert decided.rule is not None
    assert (decided.rule.place.file, decided.rule.place.line, decided.rule.place.tier) == ("user.toml", 6, Tier.USER)
    assert decided.why == "decided by user.toml:6 (user)"


def test_what_no_rule_is_about_is_asked_for() -> None:
    decided = decide(ToolRequest(tool="x"), rules())
    assert (decided.verdict, decided.rule) == ("ask_user", None)


@pytest.mark.feature("C10")
def test_a_higher_tier_goes_before_any_priority() -> None:
    assert verdict(rules(one("t", "deny", priority=999), user=one("t", "allow"))) == "allow"
    assert verdict(rules(user=one("t", "allow", priority=999), admin=one("t", "deny"))) == "deny"
    assert verdict(rules(one("t", "allow", priority=999), project=one("t", "deny"))) == "deny"
    assert verdict(rules(project=one("t", "deny", priority=999), user=one("t", "allow"))) == "allow"


@pytest.mark.feature("C9")
def test_within_a_tier_the_priority_decides_and_of_equals_the_strictest() -> None:
    assert verdict(rules(one("t", "deny", priority=1) + one("t", "allow", priority=2))) == "allow"
    assert verdict(rules(one("t", "allow") + one("t", "ask_user") + one("t", "deny"))) == "deny"
    assert verdict(rules(one("t", "allow") + one("t", "ask_user"))) == "ask_user"


@pytest.mark.feature("C9")
def test_a_rule_holds_in_its_modes_only() -> None:
    found = rules(one("t", "allow", modes=["auto_edit", "yolo"]))
    assert verdict(found) == "ask_user"
    assert verdict(found, mode="yolo") == "allow"


@pytest.mark.feature("C9")
def test_a_client_may_search_but_not_delete() -> None:
    denied = 'tool = ["memory.delete", "purge.run"]\nclients = ["mcp:*"]\ndecision = "deny"\n'
    found = rules(one("memory.*", "allow"), user=f"[[rule]]\n{denied}")
    assert verdict(found, "memory.search", client="mcp:desktop") == "allow"
    assert verdict(found, "memory.delete", client="mcp:desktop") == "deny"
    assert verdict(found, "purge.run", client="mcp:desktop") == "deny"
    assert verdict(found, "memory.delete", client="cli") == "allow"


@pytest.mark.parametrize(
    ("wanted", "name", "fits"),
    [
        ("read_file", "read_file", True),
        ("read_file", "read_files", False),
        ("*", "", True),
        ("a*b*c", "a__b__c", True),
        ("a*b*c", "acb", False),
        ("ab*ba", "aba", False),
        ("*__read", "git__read", True),
        ("Read", "read", False),
    ],
)
def test_a_star_in_the_name_of_a_tool_stands_for_anything(wanted: str, name: str, fits: bool) -> None:  # noqa: FBT001
    assert (verdict(rules(one(wanted, "allow")), name) == "allow") is fits


@pytest.mark.feature("C9")
def test_a_tool_of_a_server_never_passes_for_one_of_ours() -> None:
    found = rules(one("read_file", "allow"))
    assert verdict(found, "read_file") == "allow"
    assert verdict(found, "read_file", server="stranger") == "ask_user"


def test_a_rule_for_a_server_covers_its_tools_however_they_are_named() -> None:
    found = rules('[[rule]]\nserver = "github"\ntool = "list_*"\ndecision = "allow"\n')
    assert verdict(found, "list_issues", server="github") == "allow"
    assert verdict(found, "github__list_issues") == "allow"
    assert verdict(found, "mcp__github__list_issues") == "allow"
    assert verdict(found, "list_issues") == "ask_user"
    assert verdict(found, "evil__list_issues") == "ask_user"


@pytest.mark.feature("C10")
def test_what_a_lost_rule_may_forbid_is_asked_for_until_it_is_mended() -> None:
    found = rules(one("t", "allow"), user=one("t", "deny", prio=1))
    decided = decide(ToolRequest(tool="t"), found)
    assert decided.verdict == "ask_user"
    assert "user.toml:1: 'prio' is not part of a rule" in decided.why
    assert verdict(rules(one("t", "allow"), user=one("u", "allow", prio=1))) == "allow"
    assert verdict(rules(user=one("t", "deny", prio=1), admin=one("t", "allow"))) == "allow"
