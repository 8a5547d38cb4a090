"""Shows and changes which host keeps the files of a vault."""

from recollectum.domain.access.caller import Scope
from recollectum.policy.actions import Action
from recollectum.vault.gate import operation
from recollectum.vault.service import VaultService


class FileHosts(VaultService):
    """The host that keeps notes, transcripts and LEARNINGS.md of one vault, where several use one database."""

    @operation(Action.NOTE_READ, Scope.USER)
    def find_other(self) -> str | None:
        """Return the name of the other host that keeps the files; None when this one does, or nobody yet."""
        return self._runtime.files.elsewhere(found=False)

    # Files are read with the rights of this process, so write permission for a vault is not enough.
    @operation(Action.FILE_FOLLOW, Scope.USER, also=(Action.NOTE_WRITE, Action.TRANSCRIPT_WRITE))
    def take(self) -> str | None:
        """Keep the files on this host from now on; return the name of the other host that kept them before.

        The next sync compares the vault with the folders at the same paths here. A line that a LEARNINGS.md of this
        host lacks forgets nothing.
        """
        return self._runtime.files.take_over()
