"""The global notes: one Markdown file that a person writes by hand, and that is part of every context."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from recollectum.domain.caller import Permission, Scope
from recollectum.domain.errors import Conflict, InvalidInput
from recollectum.text.cleaning import clean
from recollectum.vault.footing import Footing
from recollectum.vault.gate import Gate, operation

if TYPE_CHECKING:
    from recollectum.vault.learning_files import Read

FILE = "MEMORY.md"
#: It is read into every context, so a book is a mistake.
MOST_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class GlobalNotes:
    """What the file says now."""

    #: Empty when there is no file.
    text: str
    path: Path
    #: Of the bytes in the file: equal for equal texts.
    hash: str


class GlobalNotesFile:
    """The global notes of one owner. Nothing but an explicit `save` ever writes them."""

    def __init__(self, footing: Footing) -> None:
        self._footing = footing

    @property
    def gate(self) -> Gate:
        """The gate every operation passes."""
        return self._footing.gate

    @operation(Permission.READ, Scope.USER)
    def read(self) -> GlobalNotes:
        """What the file says; a file that cannot be read is refused in words."""
        return read(self._footing)

    @operation(Permission.WRITE, Scope.USER, reads=True)
    def save(self, text: str, *, hash: str | None = None) -> GlobalNotes:
        """Write the file; with `hash`, only if it still says what it said then."""
        # Here and below: what reads and writes files takes a while to load.
        from recollectum.vault import learning_files as files  # noqa: PLC0415

        before = _read(self._footing)
        if hash is not None and hash != _hash(before.data):
            raise Conflict(f"{before.path} changed since it was read; read it again")
        if len(clean(text).encode()) > MOST_BYTES:
            raise InvalidInput(f"global notes of {len(text)} characters are too long; use at most {MOST_BYTES:,} bytes")
        owner = files.owner_folder(self._footing.owners, self._footing.gate.owner)
        try:
            files.replace(before, clean(text), (owner.parent, owner))
        except files.ChangedMeanwhile:
            raise Conflict(f"{before.path} changed while it was written; read it again") from None
        return read(self._footing)


def read(footing: Footing) -> GlobalNotes:
    """What the file says, for whoever puts a context together."""
    found = _read(footing)
    return GlobalNotes(clean(found.text).removeprefix("\ufeff"), found.path, _hash(found.data))


def _read(footing: Footing) -> "Read":
    from recollectum.vault import learning_files as files  # noqa: PLC0415
    from recollectum.vault.note_files import Unfit  # noqa: PLC0415

    path = files.owner_folder(footing.owners, footing.gate.owner) / FILE
    try:
        return files.read(path, MOST_BYTES)
    except Unfit as error:
        raise InvalidInput(f"{path} {error}") from None


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()
