"""The policies of a home stand before every operation: who may do what is a rule."""

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.caller import Permission
from recollectum.domain.errors import Denied, InvalidInput
from recollectum.domain.memory import State, StateName
from recollectum.home.paths import Home
from recollectum.home.policies import load_policies
from recollectum.policy.actions import Action
from recollectum.policy.rules.decisions import ToolRequest, decide
from recollectum.vault.gate import Operation, declared_operation
from recollectum.vault.intake.draft import Draft
from recollectum.vault.policies import PolicyGate
from tests.crashes.programs import run
from tests.matrix.homes import Turning, open_home
from tests.matrix.services import declared, public_methods

pytestmark = pytest.mark.process

#: A rule of this kind is what the whole is for.
SEARCH_ONLY = """
[[rule]]
tool = ["memory.delete", "purge.*"]
clients = ["key:*", "mcp:*"]
decision = "deny"
why = "this client may search but not delete"
"""
_NOBODY = 65534
#: The services whose class is not named as one reaches them.
_CALLED = {"VaultAdmin": "admin", "GlobalNotesFile": "global_notes", "Profiles": "profile", "Quarantines": "quarantine"}
GUIDE = Path(__file__).parents[2] / "docs/guides/policies.md"


def operations() -> Iterator[tuple[str, Operation]]:
    """Every public operation by its name, with what it declares."""
    for kind in declared():
        for name, method in public_methods(kind):
            found = declared_operation(method)
            if found:
                yield f"{_CALLED.get(kind.__name__, kind.__name__.lower())}.{name}", found


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Recollectum]:
    with open_home(tmp_path, Turning()) as opened:
        opened.vault("user:alice")
        yield opened


def _write(folder: Path, text: str, name: str = "mine.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def _user(tmp_path: Path, text: str) -> Path:
    return _write(tmp_path / "home/policies", text)


def _admin(tmp_path: Path, text: str) -> Path:
    return _write(tmp_path / "system/policies", text, "admin.toml")


@pytest.mark.feature("C9")
def test_this_client_may_search_but_not_delete(tmp_path: Path, home: Recollectum) -> None:
    file = _user(tmp_path, SEARCH_ONLY)
    alice = home.login(home.keys.add("user:alice")[1]).vault("user:alice")
    saved = alice.memories.save("the boat is red").memory
    assert alice.recall("boat")
    with pytest.raises(Denied, match=r"memory\.delete is denied by mine\.toml:2 \(user\): this client may search"):
        alice.memories.forget(saved.id)
    with pytest.raises(Denied, match=r"purge\.run"):
        alice.privacy.purge.run("token")
    assert alice.memories.get(saved.id) == saved
    # The process owner is another client.
    home.vault("user:alice").memories.forget(saved.id)
    # A stranger is not told where the files lie.
    with pytest.raises(Denied) as refused:
        alice.memories.forget(saved.id)
    assert str(file.parent) not in str(refused.value)


@pytest.mark.feature("C9")
def test_a_program_is_known_by_the_name_it_came_under(tmp_path: Path, home: Recollectum) -> None:
    _user(tmp_path, SEARCH_ONLY)
    desk = home.with_client("mcp:desktop").vault("user:alice")
    saved = desk.memories.save("tea").memory
    with pytest.raises(Denied, match="process as mcp:desktop may not"):
        desk.memories.forget(saved.id)
    home.with_client("hook:editor").vault("user:alice").memories.forget(saved.id)


def test_an_agent_is_a_client_too(tmp_path: Path, home: Recollectum) -> None:
    _user(tmp_path, '[[rule]]\ntool = "memory.write"\nclients = "agent:coder"\ndecision = "deny"\n')
    with pytest.raises(Denied, match="process as agent:coder"):
        home.vault("user:alice", agent="coder").memories.save("x")
    home.vault("user:alice", agent="main").memories.save("x")


@pytest.mark.parametrize(
    "name", ["process", "process:x", "key:1", "person:user:alice", "", "mcp:", "mcp:a\nb", "MCP:x"]
)
def test_no_program_takes_a_name_that_is_proven_elsewhere(home: Recollectum, name: str) -> None:
    with pytest.raises(InvalidInput, match="a client is named by its kind"):
        home.with_client(name)


@pytest.mark.feature("C10")
def test_what_is_shipped_lets_every_action_pass(tmp_path: Path) -> None:
    shipped = load_policies(Home(tmp_path), None, None)
    for client in ("process", "key:1", "mcp:desktop", "agent:main"):
        refused = {one for one in Action if decide(ToolRequest(tool=one, client=client), shipped).verdict != "allow"}
        assert not refused


@pytest.mark.feature("C10")
def test_in_plan_mode_what_is_shipped_lets_nothing_be_changed(tmp_path: Path) -> None:
    shipped = load_policies(Home(tmp_path), None, None)
    allowed = {one for one in Action if decide(ToolRequest(tool=one, mode="plan"), shipped).verdict == "allow"}
    assert allowed == {one for one in Action if one.endswith((".read", ".search"))}


def test_there_are_few_actions_and_each_is_declared() -> None:
    assert len(Action) <= 38
    assert {action for _, one in operations() for action in one.actions} == set(Action)


def test_what_an_operation_does_on_the_way_needs_no_more_than_the_operation() -> None:
    order = list(Permission)
    for name, one in operations():
        assert all(order.index(action.permission) <= order.index(one.permission) for action in one.actions), name


@pytest.mark.feature("C9")
def test_the_guide_says_which_operations_each_action_covers() -> None:
    part = GUIDE.read_text(encoding="utf-8").partition("## Actions of memory")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([a-z.]+)` \| (\w+) \| (.+) \|$", part, re.MULTILINE)
    listed = {(action, permission): set(re.findall(r"`([\w.]+)`", named)) for action, permission, named in rows}
    covers: dict[tuple[str, str], set[str]] = {(one.value, one.permission.value): set() for one in Action}
    for name, found in operations():
        for action in found.actions:
            covers[action.value, action.permission.value].add(name)
    assert listed == covers
    assert [action for action, _, _ in rows] == list(Action)


@pytest.mark.feature("C9")
@pytest.mark.parametrize(
    ("named", "nearest"),
    [
        ("memory.save", "memory.write"),
        ("memory.forget", "memory.delete"),
        ("sessions.add", "session.write"),
        ("sessions.*", "session.*"),
        ("keys.*", "key.*"),
        ("memory.writes", "memory.write"),
        ("memory.recall", "memory.search"),
    ],
)
def test_a_rule_that_names_no_action_of_ours_is_a_mistake(
    tmp_path: Path, home: Recollectum, named: str, nearest: str
) -> None:
    _user(tmp_path, f'[[rule]]\ntool = ["{named}", "purge.run"]\ndecision = "deny"\n')
    (problem,) = load_policies(Home(tmp_path / "home"), None, None).problems
    assert str(problem).endswith(f"mine.toml:1: {named!r} is not an action; the nearest is {nearest}")
    # What it was to forbid nobody knows, so all of its noun is closed to others; the rest of the rule holds.
    desk = home.with_client("mcp:desktop").vault("user:alice")
    closed = {
        "memory": lambda: desk.memories.save("x"),
        "session": lambda: desk.sessions.open(),
        "key": lambda: home.with_client("mcp:desktop").keys.list(),
    }[nearest.partition(".")[0]]
    with pytest.raises(Denied, match="is not an action"):
        closed()
    with pytest.raises(Denied, match=r"purge\.run is denied"):
        desk.privacy.purge.run("token")
    home.vault("user:alice").memories.save("x")


@pytest.mark.feature("C9")
@pytest.mark.parametrize(
    "named", ["memory.*", "*", "github.save", "checkpoints", "write_file", "mem*", "graph__memory.save"]
)
def test_names_of_other_tools_stay_free(tmp_path: Path, named: str) -> None:
    _user(tmp_path, f'[[rule]]\ntool = "{named}"\ndecision = "deny"\n')
    of_a_server = '[[rule]]\nserver = "graph"\ntool = "memory.save"\ndecision = "deny"\n'
    _write(tmp_path / "home/policies", of_a_server, "server.toml")
    assert not load_policies(Home(tmp_path / "home"), None, None).problems


@pytest.mark.feature("C9")
def test_to_forbid_writing_forbids_every_way_to_write(tmp_path: Path, home: Recollectum) -> None:
    vault = home.vault("user:alice")
    saved = vault.memories.save("the boat is red").memory
    _user(tmp_path, '[[rule]]\ntool = "memory.write"\ndecision = "deny"\n')
    with open_home(tmp_path, Turning()) as again:
        memories = again.vault("user:alice").memories
        for write in (
            lambda: memories.save("x"),
            lambda: memories.save_many([Draft(content="x")]),
            lambda: memories.move(saved.id, "archived"),
            lambda: memories.move(saved.id, "active"),
        ):
            with pytest.raises(Denied, match=r"memory\.write is denied"):
                write()
        assert memories.forget(saved.id).state == "soft_deleted"


@pytest.mark.feature("C9")
@pytest.mark.parametrize("state", ["soft_deleted", State.SOFT_DELETED, "hard_delete_pending", "made up"])
def test_to_move_a_memory_into_the_trash_is_to_delete_it(tmp_path: Path, home: Recollectum, state: StateName) -> None:
    saved = home.vault("user:alice").memories.save("the boat is red").memory
    _user(tmp_path, '[[rule]]\ntool = "memory.delete"\ndecision = "deny"\n')
    with open_home(tmp_path, Turning()) as again:
        memories = again.vault("user:alice").memories
        for move in (lambda: memories.move(saved.id, state), lambda: memories.move(memory_id=saved.id, state=state)):
            with pytest.raises(Denied, match=r"memory\.delete is denied"):
                move()
        assert memories.move(saved.id, "archived").state == "archived"
        assert memories.move(saved.id, "active").state == "active"


def test_arguments_can_be_asked_about(tmp_path: Path, home: Recollectum) -> None:
    text = '[[safety_checker]]\ntool = "memory.write"\nclients = "mcp:*"\nchecker = "size-limit"\nlimit = 10\n'
    _user(tmp_path, text)
    desk = home.with_client("mcp:desktop").vault("user:alice")
    desk.memories.save("short")
    for call in (lambda: desk.memories.save("far too long"), lambda: desk.memories.save(content="far too long")):
        with pytest.raises(Denied, match="size-limit: the arguments have 12 characters"):
            call()


@pytest.mark.feature("C10")
def test_a_bad_admin_file_closes_what_it_may_have_closed(tmp_path: Path, home: Recollectum) -> None:
    file = _admin(tmp_path, '[[rule]]\ntool = "memory.delete"\ndecision = "denyy"\n')
    vault = home.vault("user:alice")
    saved = vault.memories.save("tea").memory
    with pytest.raises(Denied, match=f"{re.escape(str(file))}:1: decision is 'denyy'"):
        vault.memories.forget(saved.id)
    _admin(tmp_path, "[[rule]]\ntool = 'memory.delete'\ndecision = 'deny\n")
    # Nobody can tell what a file meant that is not even TOML.
    with open_home(tmp_path, Turning()) as again, pytest.raises(Denied, match=r"admin\.toml:4: it is not TOML"):
        again.vault("user:alice").recall("tea")


@pytest.fixture
def place() -> Iterator[Path]:
    """A home with rules of an admin, which an account without privileges can use."""
    folder = Path(tempfile.mkdtemp(prefix="recollectum-"))
    folder.chmod(0o755)
    _admin(folder, SEARCH_ONLY)
    with open_home(folder, Turning()) as home:
        home.vault("user:alice").memories.save("tea")
    if os.getuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, _NOBODY, _NOBODY)
    yield folder
    (folder / "system/policies").chmod(0o700)
    shutil.rmtree(folder)


@pytest.mark.feature("C10")
@pytest.mark.parametrize(("mode", "answer"), [(0o700, "1 found"), (0, "Denied: ")])
def test_an_admin_folder_that_is_closed_is_not_an_empty_one(place: Path, mode: int, answer: str) -> None:
    (place / "system/policies").chmod(mode)
    (said,) = run("tests.vault.closed_folder_program", str(place), str(_NOBODY))
    assert said.startswith(answer), said
    assert ("it cannot be listed" in said) is (mode == 0)


def test_the_owners_own_slip_shuts_out_others_and_not_the_owner(tmp_path: Path, home: Recollectum) -> None:
    _user(tmp_path, "[[rule]]\ntool = 'memory.search'\ndecision = 'denyy'\n" + SEARCH_ONLY)
    vault, desk = home.vault("user:alice"), home.with_client("mcp:desktop").vault("user:alice")
    assert vault.recall("tea") == []
    with pytest.raises(Denied, match=r"could not be read: mine\.toml:1: decision is 'denyy'"):
        desk.recall("tea")
    # The rest of the file holds, and what the slip cannot be about stays open.
    saved = desk.memories.save("tea").memory
    with pytest.raises(Denied, match="this client may search"):
        desk.memories.forget(saved.id)


@pytest.mark.parametrize(("tier", "passes"), [("user", True), ("admin", False)])
def test_who_would_be_asked_is_the_owner_but_not_for_the_admin(
    tmp_path: Path, home: Recollectum, tier: str, *, passes: bool
) -> None:
    text = '[[rule]]\ntool = "*"\ndecision = "ask_user"\n'
    (_user if tier == "user" else _admin)(tmp_path, text)
    with pytest.raises(Denied, match="needs a person's approval"):
        home.with_client("mcp:desktop").vault("user:alice").recall("tea")
    if passes:
        home.vault("user:alice").recall("tea")
    else:
        with pytest.raises(Denied, match="needs a person's approval"):
            home.vault("user:alice").recall("tea")


def test_a_denial_holds_for_the_owner_as_well(tmp_path: Path, home: Recollectum) -> None:
    _user(tmp_path, '[[rule]]\ntool = ["memory.delete", "person.*"]\ndecision = "deny"\n')
    saved = home.vault("user:alice").memories.save("tea").memory
    with pytest.raises(Denied, match=rf"{re.escape(str(tmp_path))}.*mine\.toml:1"):
        home.vault("user:alice").memories.forget(saved.id)
    with pytest.raises(Denied, match=r"person\.write"):
        home.people.add("user:eve")


def test_files_are_looked_at_again_and_not_at_every_turn(tmp_path: Path) -> None:
    now = [0.0]
    ruling = PolicyGate(Home(tmp_path / "home"), None, tmp_path / "system", tmp_path, now=lambda: now[0])

    def denied() -> bool:
        try:
            ruling.check("memory.delete", ("mcp:x",), dict)
        except Denied:
            return True
        return False

    assert not denied()
    file = _user(tmp_path, SEARCH_ONLY)
    assert not denied()
    now[0] = 1.0
    assert denied()
    file.unlink()
    assert denied()
    now[0] = 2.0
    assert not denied()


def test_a_home_without_rules_pays_next_to_nothing(tmp_path: Path) -> None:
    ruling = PolicyGate(Home(tmp_path / "home"), None, tmp_path / "system", tmp_path)
    began = time.process_time()
    for _ in range(20_000):
        ruling.check("memory.write", ("process",), dict)
    # 50 microseconds each would be seen in a write; one is measured here, so no busy machine fails this.
    assert time.process_time() - began < 1.0
