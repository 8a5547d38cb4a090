"""Whatever is typed into any argument of any command, the answer is one sentence and never a traceback."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import cast

import pytest
from typer.core import TyperArgument, TyperGroup, TyperOption

from tests.doors.cli.calls import Answer, call, spawn
from tests.home.small_disk import run_on_small_disk
from tools.reference import commands

pytestmark = pytest.mark.process

Parameter = TyperArgument | TyperOption

NONSENSE = ["", "\0", "nope", "-1", "\x1b[31m\u202e", "9" * 30, "\u00e9" * 100_000, "../../x\n"]
EVERYWHERE = ("user", "home")
SETTINGS = ("show", "get", "set", "unset", "migrate", "path")

#: Where nonsense may be meant: free texts, names that are free to choose, and filters that then find nothing.
MEANT = frozenset(
    {
        *("remember TEXT", "remember --key", "recall QUERY", "recall --session", "recall --speaker"),
        *("recall --agent", "recall --channel"),
        *(
            "context [QUERY]",
            "context --model",
            "context --agent",
            "memories profile --agent",
            "sessions checkpoints save NAME",
            "tasks save TASK",
        ),
        *("policy explain TOOL", "policy explain --mode", "policy explain --client", "policy explain --server"),
        *("policy explain --user", "policy check --user"),
        *("learnings add TEXT", "learnings add --agent", "learnings add --home", "notes global edit TEXT"),
        *("learnings list --before", *(f"learnings {verb} --agent" for verb in ("list", "sync", "path"))),
        *("review list --before", "credentials status --user", "credentials accounts NAME"),
        *("history add COMMAND", "history add --home", "history search TEXT", "history list --before"),
        *("history search --before", "state set VALUE", "state set KEY", "state set --home", "state set --interface"),
        *("state show --interface", "accounts list SERVICE", "accounts add SERVICE", "accounts add ACCOUNT"),
        "accounts add --home",
        *("chat --agent", "chat --channel", "chat --once", "chat --home"),
        *("settings set VALUE", "backup --to", "export PATH"),
        *("memories list --before", "sessions list --before", "sessions list --key", "sessions export --output"),
        *(f"sessions add {place}" for place in ("[ID] ROLE TEXT", "--channel", "--agent", "--group", "--topic")),
        *("sessions add --hook", "sessions add --native-id", "users add NAME", "users tenants set NAME"),
        # A home that can be made, and commands that look nobody up.
        *(
            "init --home",
            "remember --home",
            "sessions add --home",
            "sessions import --home",
            "encryption status --user",
        ),
        *(f"settings {one} --{flag}" for one in SETTINGS for flag in EVERYWHERE),
        # Both work without a home: one lists what could be set, the other changes the files of agents.
        *("models --home", "mcp uninstall --user", "mcp uninstall --home"),
        # An agent must not break because its memory does: it is answered with nothing.
        *("hook --user", "hook --home", "connect --home"),
    }
)
#: Where nonsense is a new home, and the command then goes on until it is told to end.
ENDLESS = frozenset({"serve --home"})
_USUAL = {"DATE": "2026-01-01", "KEY": "recall.limit", "VALUE": "5", "IDENTITY": "telegram:42", "NAME": "ada"}
_numbers = count()


def leaves() -> list[str]:
    """Every command that does something, as one types it after the program's name."""
    return [path.partition(" ")[2] for path, one in commands() if not isinstance(one, TyperGroup)]


def parameters(path: str) -> list[Parameter]:
    found = next(one for name, one in commands() if name == f"recollectum {path}")
    every = cast("list[Parameter]", found.params)
    return [one for one in every if not (isinstance(one, TyperOption) and one.is_flag) and one.name != "help"]


def lines(path: str) -> Iterator[tuple[str, str, list[str]]]:
    """Each place of a command with some nonsense, and the line that has it there and something usual elsewhere."""
    every = parameters(path)
    for one in every:
        place = one.opts[0] if isinstance(one, TyperOption) else str(one.metavar)
        if f"{path} {place}" in ENDLESS:
            continue
        for nonsense in NONSENSE[:3] if one.name in EVERYWHERE else NONSENSE:
            given = {other.name: usual(other) for other in every if other.required} | {one.name: nonsense}
            options = [f"{other.opts[0]}={given[other.name]}" for other in every if is_given(other, given, TyperOption)]
            words = [given[other.name] for other in every if is_given(other, given, TyperArgument)]
            yield f"{path} {place}", nonsense, [*path.split(), *options, "--", *words]


def is_given(one: Parameter, given: dict[str, str], kind: type[Parameter]) -> bool:
    return isinstance(one, kind) and one.name in given


def usual(one: Parameter) -> str:
    # A text of its own each time: one that is known already would be renewed, whatever else is on the line.
    return _USUAL.get(str(one.metavar), f"x{next(_numbers)}")


def problem(place: str, answer: Answer) -> str | None:
    """What is wrong with the answer, if anything."""
    if answer.code == 0:
        return None if place in MEANT else "it was accepted"
    sentences = [line for line in answer.err.splitlines() if line.startswith("recollectum: ")]
    if answer.code not in (1, 2) or len(sentences) != 1 or "Traceback" in answer.err:
        return f"not one sentence: {answer.code} {answer.err[:200]}"
    return "it came back raw" if len(answer.err) > 2000 or set("\x1b\0\u202e") & set(answer.err) else None


@pytest.mark.feature("P8")
@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("path", leaves())
def test_nonsense_in_any_place_is_one_sentence(path: str) -> None:
    answers = ((place, nonsense, call(*line)) for place, nonsense, line in lines(path))
    wrong = [f"{place} {nonsense[:9]!r}: {found}" for place, nonsense, one in answers if (found := problem(place, one))]
    assert not wrong, "\n".join(wrong)


def test_the_matrix_sees_a_silent_acceptance_a_traceback_and_a_raw_echo() -> None:
    assert problem("memories show ID", Answer(0, "", "")) == "it was accepted"
    assert problem("recall QUERY", Answer(0, "", "")) is None
    assert problem("memories show ID", Answer(1, "", "Traceback (most recent call last):\n"))
    assert problem("memories show ID", Answer(1, "", "recollectum: there is no \x1b[31m\n")) == "it came back raw"
    assert problem("memories show ID", Answer(1, "", "recollectum: there is no such memory\n")) is None


@pytest.mark.parametrize("path", leaves())
def test_a_home_that_cannot_be_is_one_sentence(path: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    words = [usual(one) for one in parameters(path) if one.required and isinstance(one, TyperArgument)]
    options = [
        f"{one.opts[0]}={usual(one)}" for one in parameters(path) if one.required and isinstance(one, TyperOption)
    ]
    answer = call(*path.split(), *options, "--home", str(tmp_path / "file" / "home"), "--", *words)
    homeless = ("hook", "connect", "models", "mcp uninstall")
    if path in homeless or (path.startswith("settings ") and path != "settings set"):
        # What is in force can be told without a home, and an agent is answered in any case.
        assert answer.code == 0
        return
    assert (answer.code, answer.err.count("\n")) in ((1, 1), (2, 1)), answer


READ_ONLY = """
import sys
from recollectum.doors.cli.main import main
home = sys.argv[1] + "/home"
for line in (["init"], ["status"], ["remember", "x"], ["settings", "set", "recall.limit", "3"]):
    code = main([*line, "--home", home])
    print(line[0], code)
"""


def test_a_read_only_home_is_one_sentence(tmp_path: Path) -> None:
    said = run_on_small_disk(tmp_path, f"import sys; sys.stderr = sys.stdout\n{READ_ONLY}", mib=16, read_only=True)
    told = [line for line in said.splitlines() if line.startswith("recollectum: ")]
    assert [line for line in said.splitlines() if not line.startswith("recollectum: ")] == [
        "init 1",
        "status 1",
        "remember 1",
        "settings 1",
    ], said
    assert len(told) == 4
    assert all("read-only" in line or "no home" in line for line in told), told


def test_bytes_that_are_not_text_are_one_sentence() -> None:
    answer = spawn("recall", "\udce9")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "recollectum: argument 2 is not UTF-8; write it in that encoding\n"
