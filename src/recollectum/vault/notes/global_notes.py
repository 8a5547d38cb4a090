"""Reads and saves the owner's hand-written MEMORY.md, which is part of every context."""

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import Conflict, InvalidInput
from recollectum.domain.records import dataclass
from recollectum.policy.actions import Action
from recollectum.text.cleaning import clean
from recollectum.vault.gate import operation
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.service import VaultService

if TYPE_CHECKING:
    from recollectum.vault.files.owner_files import FileSnapshot

GLOBAL_NOTES_FILE = "MEMORY.md"
#: It is part of every context, so a very long file is a mistake.
MAX_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class GlobalNotes:
    """The current content of the file."""

    #: Empty when there is no file.
    text: str
    path: Path
    #: A digest of the file's bytes: equal for equal texts.
    hash: str


class GlobalNotesFile(VaultService):
    """The global notes of one owner. Only an explicit `save` writes them."""

    @operation(Action.NOTE_READ, Scope.USER)
    def read(self) -> GlobalNotes:
        """Return the content of the file; raise when it cannot be read."""
        return read_global_notes(self._runtime)

    @operation(Action.NOTE_WRITE, Scope.USER, reads=True)
    def save(self, text: str, *, hash: str | None = None) -> GlobalNotes:
        """Write the file; with `hash`, only if the content still has that digest."""
        # Imported in each method: the module that reads and writes files is slow to import.
        from recollectum.vault.files import owner_files as files  # noqa: PLC0415

        before = _read(self._runtime)
        if hash is not None and hash != _hash(before.data):
            raise Conflict(f"{before.path} changed since it was read; read it again")
        if len(clean(text).encode()) > MAX_BYTES:
            raise InvalidInput(f"global notes of {len(text)} characters are too long; use at most {MAX_BYTES:,} bytes")
        owner = files.owner_folder(self._runtime.home.owners, self._runtime.gate.owner)
        try:
            files.replace(before, clean(text), (owner.parent, owner))
        except files.FileChangedError:
            raise Conflict(f"{before.path} changed while it was written; read it again") from None
        return read_global_notes(self._runtime)


def read_global_notes(runtime: VaultRuntime) -> GlobalNotes:
    """Return the content of the file, for building a context."""
    found = _read(runtime)
    return GlobalNotes(clean(found.text).removeprefix("\ufeff"), found.path, _hash(found.data))


def _read(runtime: VaultRuntime) -> "FileSnapshot":
    from recollectum.vault.files import owner_files as files  # noqa: PLC0415
    from recollectum.vault.files.text_files import UnreadableFile  # noqa: PLC0415

    path = files.owner_folder(runtime.home.owners, runtime.gate.owner) / GLOBAL_NOTES_FILE
    try:
        return files.read(path, MAX_BYTES)
    except UnreadableFile as error:
        raise InvalidInput(f"{path} {error}") from None


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()
