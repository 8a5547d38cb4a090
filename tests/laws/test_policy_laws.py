"""Laws of policies: tiers hold, a deny never loosens, a rule that is named exists, and no bytes crash the reader."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.home.policies import parse_policy
from recollectum.policy.rules.decisions import ToolRequest, decide
from recollectum.policy.rules.matching import Ruleset, build_ruleset
from recollectum.policy.rules.model import Place, Rule, RuleFile, RuleScope, Tier, Verdict
from recollectum.policy.rules.shell_commands import UnclearCommand, parse_command

pytestmark = pytest.mark.slow

_TOOLS = st.sampled_from(("read", "write", "r*", "*", "git__*", "shell"))
_REACHES = st.builds(
    RuleScope,
    tools=st.lists(_TOOLS, min_size=1, max_size=2).map(tuple),
    modes=st.sampled_from(((), ("plan",), ("plan", "default"))),
    clients=st.sampled_from(((), ("a*",), ("bot",))),
    prefixes=st.sampled_from(((), (), (("git",),), (("git", "push"), ("rm",)))),
)
_RULES = st.builds(
    Rule,
    place=st.builds(Place, st.sampled_from("fgh"), st.integers(1, 9), st.sampled_from(Tier)),
    reach=_REACHES,
    verdict=st.sampled_from(Verdict),
    priority=st.integers(0, 5),
)
_COMMANDS = st.lists(
    st.sampled_from(
        ("git", "push", "rm", "ls", " ", "&&", ";", "|", "'", '"', "$x", "$(", ">", "x", "\n", "sudo ", "\\")
    ),
    max_size=8,
).map("".join)
_REQUESTS = st.builds(
    ToolRequest,
    tool=st.sampled_from(("read", "write", "git__log", "shell")),
    args=st.dictionaries(st.just("command"), _COMMANDS, max_size=1),
    mode=st.sampled_from(("default", "plan")),
    client=st.sampled_from(("", "ada", "bot")),
)


def _set(rules: list[Rule]) -> Ruleset:
    return build_ruleset([RuleFile(tuple(rules))])


@given(rules=st.lists(_RULES, max_size=8), request=_REQUESTS)
def test_the_rule_that_is_named_is_one_of_the_rules(rules: list[Rule], request: ToolRequest) -> None:
    decided = decide(request, _set(rules))
    assert decided.rule is None or decided.rule in rules
    if decided.verdict is not Verdict.ASK_USER:
        assert decided.rule is not None
        assert decided.rule.verdict is decided.verdict


@given(rules=st.lists(_RULES, max_size=8), request=_REQUESTS, verdict=st.sampled_from(Verdict))
def test_a_higher_tier_always_wins(rules: list[Rule], request: ToolRequest, verdict: Verdict) -> None:
    below = [replace(rule, place=replace(rule.place, tier=min(rule.place.tier, Tier.USER))) for rule in rules]
    above = Rule(place=Place("z", 1, Tier.ADMIN), reach=RuleScope(tools=("*",)), verdict=verdict)
    decided = decide(request, _set([*below, above]))
    assert decided.rule == above
    if decided.verdict is not verdict:
        # Only a command that cannot be told makes an exception, and only towards asking.
        assert (verdict, decided.verdict) == (Verdict.ALLOW, Verdict.ASK_USER)


@given(rules=st.lists(_RULES, max_size=8), request=_REQUESTS, added=_RULES)
def test_adding_a_deny_never_loosens_anything(rules: list[Rule], request: ToolRequest, added: Rule) -> None:
    before = decide(request, _set(rules)).verdict
    after = decide(request, _set([*rules, replace(added, verdict=Verdict.DENY)])).verdict
    assert after.strictness >= before.strictness


@given(rules=st.lists(_RULES, max_size=6), request=_REQUESTS, data=st.data())
def test_the_order_of_the_files_makes_no_difference(
    rules: list[Rule], request: ToolRequest, data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(rules))
    first, second = decide(request, _set(rules)), decide(request, _set(shuffled))
    assert first.verdict == second.verdict
    assert (first.rule and first.rule.place) == (second.rule and second.rule.place)


_FRAGMENTS = (
    b"[[rule]]\n",
    b"tool = ",
    b"'a'\n",
    b'"""',
    b"decision = 'deny'\n",
    b"priority = ",
    b"9\n",
    b"[",
    b"\xff",
)
_BYTES = st.one_of(st.binary(max_size=80), st.lists(st.sampled_from(_FRAGMENTS), max_size=12).map(b"".join))


@given(data=_BYTES)
def test_no_bytes_crash_the_reader(data: bytes) -> None:
    found = parse_policy(data, "p.toml", Tier.USER)
    lines = data.count(b"\n") + 1
    for one in (*found.rules, *found.checks, *found.problems):
        assert 1 <= one.place.line <= lines


@given(command=st.one_of(st.text(max_size=40), _COMMANDS))
def test_no_command_crashes_the_reader(command: str) -> None:
    try:
        found = parse_command(command)
    except UnclearCommand:
        return
    assert all(piece.words and piece.words[0].certain for piece in found)
