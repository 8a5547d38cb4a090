"""A prefix of a command: what surely begins with it may be allowed, what may begin with it is forbidden."""

import pytest

from recollectum.policy.rules.matching import Ruleset, matches_name, may_begin_with
from recollectum.policy.rules.model import Place, Problem, Tier
from recollectum.policy.rules.shell_commands import UnclearCommand, parse_command
from tests.policy.rules.policies import one, rules, shell

_GIT = rules(one("shell", "allow", command_prefix="git") + one("shell", "allow", command_prefix="ls"))


@pytest.mark.feature("C9")
@pytest.mark.parametrize(
    "command",
    [
        "git",
        "git status",
        "  git   log --oneline",
        "git add 'a; b'",
        "git log | git shortlog",
        "git status && ls -la",
        'git commit -m "a && b"',
        "git log 2>/dev/null",
        "git log 2>&1",
        "g'i't status",
        "git status;\nls",
    ],
)
def test_commands_that_surely_begin_with_it_are_allowed(command: str) -> None:
    assert shell(command, _GIT).verdict == "allow"


@pytest.mark.feature("C9")
@pytest.mark.parametrize(
    "command",
    [
        "git status && rm -rf /",
        "git log a\\\\\nrm x",
        "git status; rm -rf /",
        "git status | sh",
        "git status & rm x",
        "git status\nrm x",
        "gitk",
        "git-evil",
        "/tmp/git status",
        "rm -rf / # git",
        "git log > ~/.bashrc",
        "git log >> x",
        "git apply < x",
        "git $(rm -rf /)",
        "git `rm x`",
        'git "$(rm x)"',
        "git 'unclosed",
        'git "unclosed',
        "git \\",
        "$GIT status",
        "GIT_PAGER=evil git log",
        "LD_PRELOAD=x ls",
        "git <(rm x)",
        "git <<EOF\nx\nEOF",
        "eval git status",
        "{git,x}",
        "bash -c 'git status'",
        "if git status; then rm x; fi",
        "(rm x)",
        "git status || rm x",
        "git\x00 status",
        "",
        "git status |& rm x",
        "env git status",
        "sudo git status",
        "ls; sh",
        "git status # all",
        "> git",
        "A=1",
        "~/git",
    ],
)
def test_whatever_else_it_would_run_is_asked_for(command: str) -> None:
    assert shell(command, _GIT).verdict == "ask_user"


@pytest.mark.feature("C9")
@pytest.mark.parametrize(
    "command",
    [
        "rm x",
        "ls && rm x",
        "/bin/rm x",
        "\\rm x",
        "r''m x",
        "sudo rm x",
        "env -i A=1 rm x",
        "FOO=1 rm x",
        "rm > y x",
        "find . -exec rm {} +",
        "ls | xargs rm",
        "r\\\nm x",
        "(rm x)",
        "nohup timeout 5 /usr/bin/rm x",
    ],
)
def test_what_may_begin_with_a_forbidden_prefix_is_denied(command: str) -> None:
    found = rules(one("shell", "deny", command_prefix="rm", priority=9) + one("shell", "allow"))
    assert shell(command, found).verdict == "deny"


def test_a_word_that_a_variable_fills_may_be_the_forbidden_one() -> None:
    found = rules(one("shell", "deny", command_prefix="git push", priority=9) + one("shell", "allow"))
    assert shell("git push origin", found).verdict == "deny"
    assert shell("git $WHAT origin", found).verdict == "deny"
    assert shell("git pull", found).verdict == "allow"


def test_what_cannot_be_told_is_never_allowed_and_stays_denied_where_it_is() -> None:
    assert shell("x $(y)", rules(one("*", "allow"))).verdict == "ask_user"
    assert shell("x $(y)", rules(one("*", "deny"))).verdict == "deny"


def test_a_command_in_words_needs_no_shell() -> None:
    assert shell(["git", "log", "a && rm x"], _GIT).verdict == "allow"
    assert shell(["rm", "git"], _GIT).verdict == "ask_user"
    assert shell(["bash", "-c", "git"], rules(one("*", "allow"))).verdict == "ask_user"
    assert shell(7, rules(one("*", "allow"))).verdict == "ask_user"


def test_the_strictest_part_decides_and_is_named() -> None:
    found = rules(one("shell", "allow", command_prefix="ls") + one("shell", "deny", command_prefix="rm"))
    decided = shell("ls && rm x && curl y", found)
    assert decided.verdict == "deny"
    assert decided.rule is not None
    assert decided.rule.place.line == 5


def test_pieces_keep_their_text_and_their_words() -> None:
    found = parse_command("a 'b c' && d=1 e \"$f\" | g > h")
    assert [piece.text for piece in found] == ["a 'b c'", 'd=1 e "$f"', "g > h"]
    assert [[word.text for word in piece.words] for piece in found] == [["a", "b c"], ["e", "$f"], ["g"]]
    assert [(piece.assigns, piece.redirects) for piece in found] == [(False, False), (True, False), (False, True)]
    with pytest.raises(UnclearCommand, match="not closed"):
        parse_command("a 'b")


@pytest.mark.parametrize(
    ("name", "wanted", "matches"),
    [
        ("abxc", "*ab*c", True),
        ("xbyb", "*b*yb", True),
        ("xyz", "*b*z", False),
        # The end is not a part that was matched already.
        ("abcd", "ab*cd*d", False),
        ("abc", "ab*b*c", False),
        ("abcdd", "ab*cd*d", True),
    ],
)
def test_each_star_stands_for_anything_between_the_parts_in_their_order(
    name: str, wanted: str, *, matches: bool
) -> None:
    assert matches_name(name, wanted) is matches


@pytest.mark.parametrize(
    ("command", "prefix", "may"),
    [
        ("rm x", ["/bin/rm"], True),
        ("/usr/bin/rm x", ["rm"], True),
        ("ls x", ["rm"], False),
        # Only a wrapper runs what stands behind it.
        ("echo rm x", ["rm"], False),
        ("sudo rm x", ["rm"], True),
    ],
)
def test_a_command_may_begin_with_words_under_another_path_or_in_a_wrapper(
    command: str, prefix: list[str], *, may: bool
) -> None:
    (piece,) = parse_command(command)
    assert may_begin_with(piece, prefix) is may


def test_the_doubt_about_a_tool_is_that_of_the_highest_tier_that_names_it() -> None:
    def problem(tier: Tier, *tools: str, restricts: bool = True) -> Problem:
        return Problem(Place(f"{tier}.toml", 1, tier), "unreadable", may_restrict=restricts, tools=tools)

    low, high = problem(Tier.PROJECT, "t"), problem(Tier.ADMIN, "t")
    for order in ((low, high), (high, low)):
        assert Ruleset(problems=order).doubt("t") is high
    assert Ruleset(problems=(problem(Tier.ADMIN, "other"), low)).doubt("t") is low
    assert Ruleset(problems=(problem(Tier.ADMIN, "t", restricts=False),)).doubt("t") is None
