"""For each action, one rule that denies it refuses every operation that declares it, and nothing is changed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Denied
from recollectum.domain.message import ToolUse
from recollectum.policy.actions import Action, ActionChoice, ActionWith
from recollectum.vault.gate import Operation, declared_operation
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.matrix.operations import Attempt, Run, attempts
from tests.matrix.services import declared
from tests.matrix.test_single_pass import OF_THE_HOME
from tests.matrix.world import NOW, Held, World, build

pytestmark = [pytest.mark.feature("C9"), pytest.mark.slow]
#: A save by a tool that says it was used.
_SPOKEN = "said by a tool"
_STATES = ("active", "archived", "soft_deleted")


@pytest.fixture(scope="module")
def furnished() -> Iterator[tuple[Path, World]]:
    with quick_folder() as folder:
        yield folder, build(folder)


def _declarations() -> dict[str, Operation]:
    """Every operation as the matrix calls it."""
    return {
        f"{kind.__name__.lower()}.{name}": found
        for kind in declared()
        for name in vars(kind)
        if (found := declared_operation(getattr(kind, name)))
    }


def _calls(held: Held) -> Iterator[Attempt]:
    """Every operation of a vault, and those of which an argument decides what they do."""
    yield from attempts(held)
    memory, use = held.memories["active"], ToolUse(tool="remember", agent="main", channel="mcp")
    yield _write("memories.save", lambda v: v.memories.save("x", said_by=use), _SPOKEN)
    for state in _STATES:
        yield _write("memories.move", lambda v, s=state: v.memories.move(memory, s), f"to {state}")


def _write(name: str, run: Run, place: str) -> Attempt:
    return Attempt(name=name, permission="write", run=run, place=place)


def _actions_of(attempt: Attempt, declares: dict[str, Operation]) -> set[Action]:
    """What the attempt does, as its operation declares it."""
    found = declares[attempt.name]
    if isinstance(found.action, ActionChoice):
        # What the matrix moves, it moves to the archive.
        to = attempt.place.removeprefix("to ") if attempt.place.startswith("to ") else "archived"
        return {found.action.choose({"state": to})}
    return {
        found.action,
        *(one if isinstance(one, Action) else one.action for one in found.also if _is_given(one, attempt)),
    }


def _is_given(one: Action | ActionWith, attempt: Attempt) -> bool:
    return isinstance(one, Action) or attempt.place == _SPOKEN


def _deny(folder: Path, action: Action) -> None:
    rules = folder / "home/policies"
    rules.mkdir(exist_ok=True)
    (rules / "law.toml").write_text(f'[[rule]]\ntool = "{action}"\ndecision = "deny"\nwhy = "the law"\n')


@pytest.mark.parametrize("action", Action)
def test_one_rule_refuses_every_operation_that_declares_the_action(
    furnished: tuple[Path, World], action: Action
) -> None:
    folder, world = furnished
    declares = _declarations()
    with open_home(folder, Turning(NOW)) as home:
        before = _everything(home)
    _deny(folder, action)
    refused = 0
    with open_home(folder, Turning(NOW)) as home:
        for attempt in _calls(world.held["user:alice"]):
            if action in _actions_of(attempt, declares):
                with pytest.raises(Denied, match=rf"{action} is denied by .*law\.toml:1 \(user\): the law"):
                    attempt.run(home.vault("user:alice"))
                refused += 1
        for name, call in OF_THE_HOME.items():
            if action in declares[name].actions:
                with pytest.raises(Denied, match=rf"{action} is denied"):
                    call(home)
                refused += 1
    (folder / "home/policies/law.toml").unlink()
    assert refused
    with open_home(folder, Turning(NOW)) as home:
        assert _everything(home) == before


def _everything(home: Recollectum) -> str:
    """What the vault and the catalog hold."""
    vault = home.vault("user:alice")
    kept = [vault.memories.list(state=state, limit=1000) for state in _STATES]
    said = [vault.sessions.chat(one.id).messages(limit=1000) for one in vault.sessions.list(limit=1000)]
    return repr((kept, said, vault.admin.events.list(limit=1000), home.people.list(), home.keys.list()))
