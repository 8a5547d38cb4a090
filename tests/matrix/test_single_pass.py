"""One public call passes the gate exactly once, whatever the operation does on the way."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import RecollectumError
from recollectum.domain.message import ToolUse
from recollectum.policy.actions import Action
from recollectum.vault.gate import Gate, Operation
from recollectum.vault.intake.draft import Draft
from recollectum.vault.purge.request import PurgeRequest
from tests.matrix.homes import Turning, open_home
from tests.matrix.operations import attempts
from tests.matrix.services import public_methods
from tests.matrix.world import NOW, World, build

pytestmark = pytest.mark.slow

#: Operations of the home, with arguments that reach their work.
OF_THE_HOME: dict[str, Callable[[Recollectum], object]] = {
    "people.add": lambda home: home.people.add("user:zoe"),
    "people.get": lambda home: home.people.get("user:alice"),
    "people.list": lambda home: home.people.list(),
    "people.add_identity": lambda home: home.people.add_identity("user:alice", "telegram:42"),
    "people.resolve": lambda home: home.people.resolve("telegram:42"),
    "people.remove_identity": lambda home: home.people.remove_identity("user:alice", "telegram:42"),
    "people.preview_merge": lambda home: home.people.preview_merge("user:carol", "user:dave"),
    "people.merge": lambda home: home.people.merge("user:carol", "user:dave", "made up"),
    "people.unmerge": lambda home: home.people.unmerge("mrg_none"),
    "people.list_merges": lambda home: home.people.list_merges(),
    "people.list_tenants": lambda home: home.people.list_tenants(),
    "people.save_tenant": lambda home: home.people.save_tenant("acme", {"active": 10}),
    "keys.add": lambda home: home.keys.add("user:alice"),
    "keys.list": lambda home: home.keys.list(),
    "keys.rotate": lambda home: home.keys.rotate("key_none"),
    "keys.revoke": lambda home: home.keys.revoke("key_none"),
    "keys.add_grant": lambda home: home.keys.add_grant("user:carol", "user:alice", "read"),
    "keys.list_grants": lambda home: home.keys.list_grants(),
    "keys.revoke_grant": lambda home: home.keys.revoke_grant("grt_none"),
    "extensions.list": lambda home: home.extensions.list(),
    "extensions.get": lambda home: home.extensions.get("none"),
    "extensions.merged": lambda home: home.extensions.merged(),
    "extensions.preview": lambda home: home.extensions.preview("none"),
    "extensions.preview_trust": lambda home: home.extensions.preview_trust("none"),
    "extensions.install": lambda home: home.extensions.install("none", "made up"),
    "extensions.trust": lambda home: home.extensions.trust("none", "made up"),
    "extensions.update": lambda home: home.extensions.update("none", "made up"),
    "extensions.switch": lambda home: home.extensions.switch("none", enabled=True),
    "extensions.delete": lambda home: home.extensions.delete("none"),
    "extensions.source_of": lambda home: home.extensions.source_of("none"),
    "receipts.list": lambda home: home.receipts.list(),
    "receipts.get": lambda home: home.receipts.get("rcp_none"),
    "receipts.key": lambda home: home.receipts.key(),
    "receipts.parse": lambda home: home.receipts.parse("{}"),
    "receipts.finish": lambda home: home.receipts.finish(),
}


@pytest.fixture
def world(place: Path) -> World:
    return build(place)


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[Operation]:
    """What has passed the gate."""
    found: list[Operation] = []
    check = Gate.check

    def watched(self: Gate, operation: Operation, *args: object, **kwargs: object) -> None:
        found.append(operation)
        check(self, operation, *args, **kwargs)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(Gate, "check", watched)
    return found


@pytest.mark.feature("P7")
def test_each_operation_of_a_vault_passes_once(place: Path, world: World, passed: list[Operation]) -> None:
    tried = 0
    with open_home(place, Turning(NOW)) as home:
        held = world.held["user:alice"]
        for attempt in attempts(held):
            vault = home.vault("user:alice")
            del passed[:]
            # What it is asked for may be refused, after the gate.
            with suppress(RecollectumError):
                attempt.run(vault)
            # A conversation is opened by its id, and then asked.
            assert len(passed) == (2 if attempt.name.startswith("chat.") else 1), str(attempt)
            tried += 1
        del passed[:]
        use = ToolUse(tool="remember", agent="main", channel="mcp")
        home.vault("user:alice").memories.save_many([Draft(content="x")], said_by=use)
        assert [one.action for one in passed] == [Action.MEMORY_WRITE]
    assert tried > 100


@pytest.mark.feature("P7")
def test_each_operation_of_the_home_passes_once(place: Path, world: World, passed: list[Operation]) -> None:
    assert world
    with open_home(place, Turning(NOW)) as home:
        services = {
            "people": home.people,
            "keys": home.keys,
            "receipts": home.receipts,
            "extensions": home.extensions,
        }
        named = {f"{name}.{method}" for name, one in services.items() for method, _ in public_methods(type(one))}
        assert named == OF_THE_HOME.keys() | {"receipts.verify"}
        for name, call in OF_THE_HOME.items():
            del passed[:]
            with suppress(RecollectumError):
                call(home)
            assert len(passed) == 1, name


@pytest.mark.feature("P7")
def test_a_purge_passes_once_at_each_of_its_steps(place: Path, world: World, passed: list[Operation]) -> None:
    with open_home(place, Turning(NOW)) as home:
        purge = home.vault("user:alice").privacy.purge
        leave = purge.preview(PurgeRequest.sessions(world.held["user:alice"].sessions[0]))
        receipt = purge.run(leave.token)
        assert home.receipts.verify(receipt)
    assert [one.action for one in passed] == [Action.PURGE_RUN, Action.PURGE_RUN, Action.RECEIPT_READ]
