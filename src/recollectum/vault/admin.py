"""Groups the services of a vault that programs seldom need: `admin`, `privacy` and `state`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import InvalidInput
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories, sessions
from recollectum.vault.gate import operation
from recollectum.vault.memories.history import Totals
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.service import Service, VaultService

if TYPE_CHECKING:
    from recollectum.vault.agent_state.accounts import Accounts
    from recollectum.vault.agent_state.interfaces import InterfaceState
    from recollectum.vault.agent_state.shell_history import ShellHistory
    from recollectum.vault.consolidation.service import Consolidation
    from recollectum.vault.context.profile import Profiles
    from recollectum.vault.events import Events
    from recollectum.vault.imports.service import Imports
    from recollectum.vault.index import Index
    from recollectum.vault.intake.served import Served
    from recollectum.vault.notes.file_hosts import FileHosts
    from recollectum.vault.notes.global_notes import GlobalNotesFile
    from recollectum.vault.notes.service import Notes
    from recollectum.vault.purge.service import Purge
    from recollectum.vault.retention.lifecycle import Lifecycle
    from recollectum.vault.retention.quarantine import Quarantines
    from recollectum.vault.retention.trash import Trash
    from recollectum.vault.review.service import Review
    from recollectum.vault.transcripts.service import Transcripts
    from recollectum.vault.undo.service import Undo


class VaultAdmin(VaultService):
    """Services for running a vault: consolidation, events, files, imports, index, life cycle, profile, review."""

    consolidation: Service["Consolidation"] = Service(
        "consolidation.service.Consolidation", "Turns conversations into memories."
    )
    file_hosts: Service["FileHosts"] = Service("notes.file_hosts.FileHosts", "The host that keeps the vault's files.")
    events: Service["Events"] = Service("events.Events", "The audit events, in order.")
    global_notes: Service["GlobalNotesFile"] = Service(
        "notes.global_notes.GlobalNotesFile", "The file shown in every context."
    )
    imports: Service["Imports"] = Service("imports.service.Imports", "What other programs keep, brought in.")
    index: Service["Index"] = Service("index.Index", "The index that recall searches.")
    lifecycle: Service["Lifecycle"] = Service(
        "retention.lifecycle.Lifecycle", "The steps of the life cycle that are due."
    )
    notes: Service["Notes"] = Service("notes.service.Notes", "Folders of the person's own files.")
    profile: Service["Profiles"] = Service("context.profile.Profiles", "Who the person is, in a few points.")
    review: Service["Review"] = Service("review.service.Review", "The proposals that a person decides about.")
    served: Service["Served"] = Service("intake.served.Served", "What memory served last, which is not stored again.")
    transcripts: Service["Transcripts"] = Service(
        "transcripts.service.Transcripts", "Files of other agents that are followed."
    )

    @operation(Action.MEMORY_READ, Scope.USER)
    def totals(self) -> Totals:
        """Return how much the vault holds; memories by the state that recall sees."""

        def load(tx: Tx, reading: ClockReading) -> Totals:
            conversations, said = sessions.totals(tx)
            return Totals(memories=memories.counts_seen(tx, reading), sessions=conversations, messages=said)

        return self._runtime.read(load)

    @operation(Action.MEMORY_READ, Scope.USER)
    def clock(self) -> ClockReading:
        """Return the vault's time, and whether the wall clock is in doubt."""
        return self._runtime.read(lambda _, reading: reading)


class VaultState(VaultService):
    """What agents keep for the person besides conversations and memories."""

    history: Service["ShellHistory"] = Service(
        "agent_state.shell_history.ShellHistory", "The commands of shells, by project."
    )
    interfaces: Service["InterfaceState"] = Service(
        "agent_state.interfaces.InterfaceState", "What user interfaces keep between runs."
    )
    accounts: Service["Accounts"] = Service("agent_state.accounts.Accounts", "The person's accounts at services.")


class VaultPrivacy(VaultService):
    """Services that undo changes, quarantine sources and erase for good."""

    quarantine: Service["Quarantines"] = Service(
        "retention.quarantine.Quarantines", "What is quarantined, by its source."
    )
    trash: Service["Trash"] = Service("retention.trash.Trash", "What was deleted and can still be restored.")
    undo: Service["Undo"] = Service("undo.service.Undo", "Undoes changes, and shows what changed since a time.")

    def __init__(self, runtime: VaultRuntime, purging: "Callable[[VaultRuntime], Purge] | None") -> None:
        super().__init__(runtime)
        self._purging = purging

    @property
    def purge(self) -> "Purge":
        """Erases for good, with a signed receipt."""
        if self._purging is None:
            raise InvalidInput("this vault was opened without a home; open it through one to purge")
        return self._purging(self._runtime)
