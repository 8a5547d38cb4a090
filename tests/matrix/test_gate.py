"""Every public operation declares what it needs, is asked at the gate before it begins, and is in the matrix."""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.caller import Scope
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Denied, NotFound
from recollectum.domain.session import Session, SessionKey
from recollectum.policy.actions import Action
from recollectum.vault.access.keys import Keys
from recollectum.vault.access.people import People
from recollectum.vault.admin import VaultAdmin, VaultPrivacy, VaultState
from recollectum.vault.agent_state.accounts import Accounts
from recollectum.vault.agent_state.interfaces import InterfaceState
from recollectum.vault.agent_state.shell_history import ShellHistory
from recollectum.vault.consolidation.service import Consolidation
from recollectum.vault.contacts.service import Contacts
from recollectum.vault.context.profile import Profiles
from recollectum.vault.events import Events
from recollectum.vault.extensions.service import Extensions
from recollectum.vault.gate import Gate, declared_operation, operation
from recollectum.vault.imports.service import Imports
from recollectum.vault.index import Index
from recollectum.vault.intake.served import Served
from recollectum.vault.learnings.service import Learnings
from recollectum.vault.memories.service import Memories
from recollectum.vault.notes.file_hosts import FileHosts
from recollectum.vault.notes.global_notes import GlobalNotesFile
from recollectum.vault.notes.service import Notes
from recollectum.vault.projects.service import Projects
from recollectum.vault.purge.receipts import Receipts
from recollectum.vault.purge.service import Purge
from recollectum.vault.retention.lifecycle import Lifecycle
from recollectum.vault.retention.quarantine import Quarantines
from recollectum.vault.retention.trash import Trash
from recollectum.vault.review.service import Review
from recollectum.vault.service import VaultService
from recollectum.vault.sessions.chat import Chat
from recollectum.vault.sessions.checkpoints import Checkpoints
from recollectum.vault.sessions.echoes import StoredEchoes
from recollectum.vault.sessions.service import Sessions
from recollectum.vault.sessions.summaries import Summaries
from recollectum.vault.tasks.service import Tasks
from recollectum.vault.transcripts.service import Transcripts
from recollectum.vault.undo.service import Undo
from recollectum.vault.vault import Vault
from tests.matrix.checks import needs
from tests.matrix.homes import START, Turning, open_home
from tests.matrix.operations import attempts
from tests.matrix.services import declared, public_methods, public_properties, reached, service_properties
from tests.matrix.world import Held

pytestmark = pytest.mark.slow

OF_A_VAULT = {
    Vault,
    VaultAdmin,
    VaultPrivacy,
    VaultState,
    ShellHistory,
    InterfaceState,
    Accounts,
    Imports,
    StoredEchoes,
    Summaries,
    Checkpoints,
    Tasks,
    Profiles,
    Memories,
    Sessions,
    Chat,
    Events,
    Lifecycle,
    Index,
    Notes,
    Learnings,
    FileHosts,
    GlobalNotesFile,
    Transcripts,
    Consolidation,
    Review,
    Purge,
    Contacts,
    Projects,
    Trash,
    Undo,
    Quarantines,
    Served,
}
OF_THE_HOME = {People, Keys, Receipts, Extensions}
#: What an open home offers to anybody, and what it keeps for its operator.
FOR_ANYBODY = {
    "embedder",
    "language_model",
    "vault",
    "list_owners",
    "vault_place",
    "login",
    "with_client",
    "close",
    "home",
    "loaded_settings",
    "settings",
    "idempotency",
    # Their operations have a gate.
    "people",
    "keys",
    "extensions",
    # It opens another home.
    "temporary",
}
FOR_THE_OPERATOR: dict[str, Callable[[Recollectum], object]] = {
    "as_person": lambda home: home.as_person("user:alice"),
    "chat": lambda home: home.chat("telegram:42"),
    "encryption": lambda home: home.encryption(),
    "receipts": lambda home: home.receipts.list(),
    "admin": lambda home: home.admin,
    "upgrade": lambda home: home.upgrade(dry_run=True),
}


@pytest.fixture
def home(place: Path) -> Iterator[Recollectum]:
    with open_home(place, Turning()) as opened:
        opened.vault("user:alice")
        opened.people.add("user:dave")
        yield opened


@pytest.fixture
def dave(home: Recollectum) -> Recollectum:
    """One who may know of alice's vault, for a session that is not in it, and may do nothing there."""
    home.keys.add_grant("user:dave", "user:alice", "read", scope="session", session_id="ses_none")
    return home.login(home.keys.add("user:dave")[1])


def _operations(kinds: set[type]) -> list[tuple[type, str]]:
    return [(kind, name) for kind in kinds for name, _ in public_methods(kind)]


def test_every_service_of_a_vault_has_its_gate_from_one_place() -> None:
    assert {kind for kind in OF_A_VAULT if not issubclass(kind, VaultService) or "gate" in vars(kind)} == set()


@pytest.mark.feature("P7")
def test_every_service_is_reached(home: Recollectum) -> None:
    assert reached(home, "user:alice") == declared() == OF_A_VAULT | OF_THE_HOME


@pytest.mark.feature("P7")
def test_every_operation_declares_its_action() -> None:
    silent = [
        f"{kind.__name__}.{name}"
        for kind in declared()
        for name, method in public_methods(kind)
        if declared_operation(method) is None
    ]
    assert not silent, f"these declare no action: {silent}"


def test_a_service_has_no_other_door() -> None:
    assert {kind.__name__: public_properties(kind) - service_properties(kind) for kind in declared()} == {
        kind.__name__: {"gate"} for kind in declared()
    }


def _nobodys(dave: Recollectum) -> dict[type, object]:
    """An instance of each service of alice's vault, at a gate that lets nothing pass."""
    vault = dave.vault("user:alice")
    session = Session(id="ses_other", key=SessionKey(), created_at=START, updated_at=START)
    chat = Chat(vars(vault)["_runtime"], session)
    parts = (
        vault,
        vault.admin,
        vault.privacy,
        vault.state,
        vault.state.history,
        vault.state.interfaces,
        vault.state.accounts,
        vault.memories,
        vault.sessions,
        vault.sessions.echoes,
        vault.sessions.summaries,
        vault.sessions.checkpoints,
        vault.admin.profile,
        vault.admin.served,
        vault.admin.events,
        vault.admin.lifecycle,
        vault.admin.imports,
        vault.admin.index,
        vault.admin.notes,
        vault.learnings,
        vault.admin.file_hosts,
        vault.admin.global_notes,
        vault.admin.transcripts,
        vault.admin.consolidation,
        vault.admin.review,
        vault.privacy.purge,
        vault.memories.contacts,
        vault.projects,
        vault.tasks,
        vault.privacy.trash,
        vault.privacy.undo,
        vault.privacy.quarantine,
        chat,
        dave.people,
        dave.keys,
        dave.receipts,
        dave.extensions,
    )
    return {type(part): part for part in parts}


@pytest.mark.feature("P7")
def test_the_gate_is_asked_before_anything_else(dave: Recollectum) -> None:
    instances = _nobodys(dave)
    for kind, name in _operations(declared()):
        # Without its arguments: nothing of the method may run before the gate has refused.
        with pytest.raises(Denied):
            getattr(instances[kind], name)()


@pytest.mark.feature("P7")
def test_every_operation_of_a_vault_is_in_the_matrix_with_what_it_declares() -> None:
    held = Held(memories={"active": "mem_1"}, sessions=["ses_1"], messages=["msg_1"])
    needed = {attempt.name: needs(attempt) for attempt in attempts(held)}
    declares = {
        f"{kind.__name__.lower()}.{name}": (found.permission.value, found.scope.value)
        for kind, name in _operations(OF_A_VAULT)
        if (found := declared_operation(getattr(kind, name)))
    }
    assert declares == needed


@pytest.mark.feature("P7")
def test_everything_of_the_home_needs_its_operator() -> None:
    for kind, name in _operations(OF_THE_HOME):
        found = declared_operation(getattr(kind, name))
        assert found is not None, name
        assert found.permission == "admin", name
        # Keys of its own owners are all that a key with admin manages; which they are, the keys' own tests say.
        of_keys = kind is Keys and name in ("add", "rotate", "list", "revoke")
        # What agents are handed is for a key with admin too.
        of_extensions = kind is Extensions and name in ("list", "get", "merged")
        assert found.scope == ("user" if of_keys or of_extensions else "global"), name


def test_every_method_of_an_open_home_is_accounted_for() -> None:
    names = {name for name, _ in public_methods(Recollectum)} | public_properties(Recollectum)
    assert names == FOR_ANYBODY | FOR_THE_OPERATOR.keys()


@pytest.mark.parametrize("name", FOR_THE_OPERATOR)
def test_what_is_the_operators_is_refused_to_others(home: Recollectum, dave: Recollectum, name: str) -> None:
    for view in (dave, home.as_person("user:alice")):
        with pytest.raises(Denied):
            FOR_THE_OPERATOR[name](view)


def test_the_operator_is_not_refused(home: Recollectum) -> None:
    home.people.add_identity("user:alice", "telegram:42")
    for call in FOR_THE_OPERATOR.values():
        call(home)


def test_logging_in_takes_no_more_than_a_key_gives(home: Recollectum, dave: Recollectum) -> None:
    key = home.keys.add("user:alice")[1]
    assert [str(owner) for owner in dave.login(key).list_owners()] == ["user:alice"]
    with pytest.raises(Denied):
        dave.login("rk_made_up")


def test_a_vault_that_may_not_be_seen_is_not_there(home: Recollectum, dave: Recollectum) -> None:
    home.vault("user:bob")
    for owner in ("user:bob", Owner.parse("user:bob"), "user:nobody"):
        with pytest.raises(NotFound):
            dave.vault(owner)
        assert dave.vault_place(owner) is None
    assert [str(owner) for owner in dave.list_owners()] == ["user:alice"]
    assert [str(owner) for owner in home.list_owners()] == ["user:alice", "user:bob"]


def test_a_session_may_be_named_by_word() -> None:
    """The gate finds the session's id however it is handed in."""
    for kind, name in _operations({Sessions}):
        found = declared_operation(getattr(kind, name))
        if found and found.scope == "session":
            assert next(iter(list(inspect.signature(getattr(kind, name)).parameters)[1:])) == "session_id"


def test_a_service_that_forgets_or_declares_is_told_apart(home: Recollectum) -> None:
    class Careless:
        gate = Gate(home.as_person("user:alice").caller, Owner.parse("user:bob"))

        def forgets(self) -> str:
            return "done"

        @operation(Action.MEMORY_READ, Scope.USER)
        def declares(self) -> str:
            return "done"

    assert declared_operation(Careless.forgets) is None
    assert Careless().forgets() == "done"
    with pytest.raises(Denied):
        Careless().declares()
