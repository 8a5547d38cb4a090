"""Reading a vault: its structure, or all of it to the last page and row, and what is wrong in words."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from recollectum.domain.errors import KeyProblem, RecollectumError, StorageError
from recollectum.domain.owner import Owner
from recollectum.storage.migrate import pending, shipped
from recollectum.storage.opening import VAULT
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, SqliteTx
from recollectum.storage.sqlite.verify import gaps, marked_texts, page_faults, row_faults, strays
from recollectum.storage.tables import events, jobs, memories, messages, meta, proposals, sessions
from recollectum.storage.tables.vaults import VaultEntry
from recollectum.text.similarity import fingerprint
from recollectum.upkeep.backup_grounds import Grounds
from recollectum.vault.checking import check

_UNDECODABLE = (ValueError, KeyError, TypeError, RecollectumError)
_MANY = 1 << 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a reading of one vault found."""

    owner: Owner
    vault_id: str
    #: What is wrong, and can be cured by a repair, a rebuild or a backup.
    faults: tuple[str, ...] = ()
    #: What was lost earlier and is missing for good.
    gaps: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults


def read_base(grounds: Grounds) -> tuple[str, ...]:
    """What is wrong with the catalog and the wrapped keys, read to the last page."""
    files = [(grounds.home.catalog_file, grounds.catalog_key())]
    files += [(grounds.home.keys_file, None)] if grounds.keys.enabled else []
    found: list[str] = []
    for path, key in files:
        try:
            database = SqliteDatabase(path, SqliteOptions(key=key, readers=1))
            try:
                faults = database.on_connection(page_faults) or database.on_connection(row_faults)
            finally:
                database.close()
        except (StorageError, KeyProblem) as error:
            faults = [str(error)]
        found += [f"{path.name}: {fault}" for fault in faults]
    return tuple(found)


def read_vault(
    grounds: Grounds, entry: VaultEntry, *, data: bool = True, progress: Callable[[int], None] = lambda _: None
) -> Report:
    """Look at a vault without changing it: the structure, and with `data` every page and row."""
    try:
        faults, missing = _look(grounds, entry, data=data)
    except (StorageError, KeyProblem) as error:
        faults, missing = [str(error)], []
    progress(1)
    return Report(owner=entry.owner, vault_id=entry.id, faults=tuple(faults), gaps=tuple(missing))


def _look(grounds: Grounds, entry: VaultEntry, *, data: bool) -> tuple[list[str], list[str]]:
    path = grounds.home.vault_file(entry.id)
    if not path.exists():
        return [f"{path} is missing; restore it from a backup"], []
    database = SqliteDatabase(path, SqliteOptions(key=grounds.key_of(entry), readers=1))
    try:
        named = database.on_connection(lambda connection: meta.find(SqliteTx(connection), "owner"))
        faults = [] if named == str(entry.owner) else [f"{path} is not the vault that the catalog takes it for"]
        if data:
            faults += database.on_connection(page_faults) or database.on_connection(row_faults)
        if faults or pending(database, shipped(VAULT)):
            # The rules below know the schema of this program only; an older one has been read page by page.
            return faults, []
        faults += [f"{count} {what}" for what, count in database.on_connection(strays).items()]
        faults += database.read(_index_faults)
        if data:
            faults += database.read(_meaning_faults) or _changed_texts(database.on_connection(marked_texts))
        missing = database.on_connection(gaps)
        return faults, [f"{count} {what}" for what, count in missing.items()]
    finally:
        database.close()


def _index_faults(tx: Tx) -> list[str]:
    health = check(tx)
    found: list[str] = []
    if health.missing or health.stray:
        found.append(
            f"{health.missing} missing from the index, {health.stray} stray in it; run: recollectum index rebuild"
        )
    if health.changed:
        found.append(
            f"{health.changed} rows are not as they were written; restore a backup, or run: recollectum repair"
        )
    return found


def _meaning_faults(tx: Tx) -> list[str]:
    """Rows that SQLite can read and we cannot."""
    readings: dict[str, Callable[[], Iterable[object]]] = {
        "memories": lambda: memories.everything(tx),
        "messages": lambda: messages.everything(tx),
        "sessions": lambda: sessions.page(tx, before=None, prefix=None, limit=_MANY),
        "events": lambda: events.page(tx, before=None, type=None, limit=_MANY),
        "proposals": lambda: proposals.page(tx, before=None, limit=_MANY),
        "jobs": lambda: jobs.page(tx, state=None, before=None, limit=_MANY),
    }
    found: list[str] = []
    for name, read in readings.items():
        try:
            for _ in read():
                pass
        except _UNDECODABLE as error:
            found.append(f"{name} has a row that does not decode ({type(error).__name__})")
    return found


def _changed_texts(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Texts that are not what was written: in a vault that is not encrypted, a flipped bit is seen by this alone."""
    # A fingerprint of another version of the program says nothing.
    version = fingerprint("").partition(":")[0]
    changed = sum(1 for text, mark in pairs if mark.partition(":")[0] == version and fingerprint(text) != mark)
    return [f"{changed} memories whose text is not what was written; look at them with: recollectum memories list"] * (
        changed > 0
    )
