"""One rule that denies an action refuses every command, every line of a chat and every hook event that takes it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.doors.cli.chat.slash_commands import COMMANDS
from recollectum.doors.cli.chat.tools import TOOLS
from recollectum.doors.hook.events import Moment
from recollectum.doors.hook.log import log_file
from recollectum.doors.hook.responder import HookRequest, make_responder
from recollectum.home.paths import Home
from recollectum.policy.actions import Action
from tests.laws.cli_paths import ABOUT_THE_HOME, APART, EVENTS, HOOKS, chat_lines, commands
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.matrix.over_cli_checks import command_line
from tests.matrix.world import NOW, World, build
from tools.reference import commands as every_command

pytestmark = [pytest.mark.feature("C9"), pytest.mark.process, pytest.mark.slow]
_SAID = (
    {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "I live in Lyon"}},
    {"type": "assistant", "uuid": "u2", "message": {"role": "assistant", "content": "Noted."}},
)


@pytest.fixture(scope="module")
def furnished() -> Iterator[tuple[Path, World]]:
    """A home with files to read, a conversation to go on with, and a checkpoint in it."""
    with quick_folder() as folder:
        world = build(folder)
        at = {"sessionId": "talk-1", "timestamp": "2026-08-20T10:00:00Z"}
        (folder / "said.jsonl").write_text("".join(json.dumps({**one, **at}) + "\n" for one in _SAID))
        (folder / "graph.jsonl").write_text('{"type":"entity","name":"a","entityType":"b","observations":[]}\n')
        (folder / "receipt.json").write_text("{}")
        with command_line(folder, None) as line:
            session = world.held["user:alice"].sessions[0]
            (folder / "exported.jsonl").write_text(line("sessions", "export", session, "--user", "alice").out)
            line("chat", "--model", "scripted", "--user", "alice", stdin=b"hello\n/checkpoint here\n")
        yield folder, world


def _deny(folder: Path, action: Action) -> None:
    rules = folder / "home/policies"
    rules.mkdir(exist_ok=True)
    (rules / "law.toml").write_text(f'[[rule]]\ntool = "{action}"\ndecision = "deny"\nwhy = "the law"\n')


def test_every_command_says_what_it_does(furnished: tuple[Path, World]) -> None:
    folder, world = furnished
    there = {name.partition(" ")[2] for name, one in every_command() if not getattr(one, "commands", None)}
    listed = commands(world.held["user:alice"], str(folder)).keys()
    assert there == listed | ABOUT_THE_HOME | APART
    assert not listed & ABOUT_THE_HOME


@pytest.mark.parametrize("action", Action)
def test_one_rule_refuses_every_command_to_an_action(furnished: tuple[Path, World], action: Action) -> None:
    folder, world = furnished
    before = _state(folder)
    _deny(folder, action)
    with command_line(folder, None) as line:
        for name, (words, actions) in commands(world.held["user:alice"], str(folder)).items():
            if action in actions:
                said = line(*name.split(), *words, "--user", "alice")
                assert said.code != 0, name
                assert f"{action} is denied by" in said.err, (name, said.err)
    (folder / "home/policies/law.toml").unlink()
    assert _state(folder) == before


def test_every_line_of_a_chat_says_what_it_does() -> None:
    offered = {f"/{name}" for name in COMMANDS} | {one.name for one in TOOLS}
    assert offered == chat_lines("mem_none").keys()


def test_one_rule_refuses_every_line_of_a_chat_to_an_action(furnished: tuple[Path, World]) -> None:
    folder, world = furnished
    for name, (typed, actions) in chat_lines(world.held["user:alice"].memories["active"]).items():
        for action in actions:
            before = _memories(folder)
            _deny(folder, action)
            with command_line(folder, None) as line:
                said = line("chat", "--model", "scripted", "--user", "alice", stdin=f"{typed}\n".encode())
            assert f"{action} is denied by" in said.out + said.err, (name, said)
            (folder / "home/policies/law.toml").unlink()
            assert _memories(folder) == before, name


def test_every_moment_of_a_hook_says_what_it_does() -> None:
    assert HOOKS.keys() == set(Moment) == EVENTS.keys()


@pytest.mark.parametrize("moment", Moment)
def test_a_denied_hook_answers_harmlessly_and_stores_nothing(furnished: tuple[Path, World], moment: Moment) -> None:
    folder, _ = furnished
    for_answer, behind = HOOKS[moment]
    if moment is Moment.ASKED:
        # What is served is renewed, though nothing that was said is stored; so it is served once before.
        _hooked(folder, moment, "before")
    for action in (*for_answer, *behind):
        _deny(folder, action)
        before = _state(folder)
        answered = _hooked(folder, moment, str(action))
        if action in for_answer:
            assert answered == {}
        if action is Action.SESSION_WRITE:
            assert _state(folder) == before
        assert f"{action} is denied" in log_file(Home(folder / "home")).read_text(encoding="utf-8"), action
        (folder / "home/policies/law.toml").unlink()
    # Without the rule the same event is answered, or leaves something.
    before = _state(folder)
    answered = _hooked(folder, moment, "allowed")
    assert answered or _state(folder) != before


def _hooked(folder: Path, moment: Moment, conversation: str) -> dict[str, object]:
    fields: dict[str, object] = {
        "hook_event_name": EVENTS[moment],
        "session_id": f"{moment}-{conversation}",
        "prompt": "where is the zebra?",
        "transcript_path": str(folder / "said.jsonl"),
    }
    with open_home(folder, Turning(NOW)) as home:
        answering = make_responder(home)
        try:
            return answering.answer(HookRequest(agent="claude-code", fields=fields, user="alice"))
        finally:
            answering.close()


def _memories(folder: Path) -> str:
    with open_home(folder, Turning(NOW)) as home:
        return repr(_pages(home))


def _pages(home: Recollectum) -> list[object]:
    vault = home.vault("user:alice")
    return [vault.memories.list(state=state, limit=1000) for state in ("active", "archived", "soft_deleted")]


def _state(folder: Path) -> str:
    with open_home(folder, Turning(NOW)) as home:
        sessions = home.vault("user:alice").sessions
        said = [sessions.chat(one.id).messages(limit=1000) for one in sessions.list(limit=1000)]
        return repr((_pages(home), said, home.people.list(), home.keys.list()))
