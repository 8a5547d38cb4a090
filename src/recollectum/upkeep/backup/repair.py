"""Repairs a damaged vault: its readable rows become a new vault, and the old one is kept unchanged."""

from collections.abc import Mapping
from pathlib import Path

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import StorageError
from recollectum.domain.records import dataclass
from recollectum.home.locks import Lock
from recollectum.recall.index.verification import rebuild_index
from recollectum.storage.engine import SalvageCounts
from recollectum.storage.shared.key_place import CHANGES
from recollectum.storage.tables.catalog import vault_marks
from recollectum.upkeep.doctor.vault_checks import read_vault
from recollectum.upkeep.home_admin import HomeAdmin


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairResult:
    """What a repair saved and lost."""

    owner: Owner
    #: The faults found; when empty, nothing was done.
    faults: tuple[str, ...]
    tables: tuple[SalvageCounts, ...] = ()
    #: Rows that were read but belonged to a lost row.
    dropped: Mapping[str, int] | None = None
    #: Sessions that replace lost ones, so that their messages can still be read.
    stand_ins: int = 0
    #: Chunks of the index that were rebuilt.
    pieces: int = 0
    #: Where the damaged file is kept.
    evidence: Path | None = None
    #: Tables and ids of rows that were saved, but differ from what was written.
    doubtful: tuple[str, ...] = ()

    @property
    def saved(self) -> int:
        """Rows in the new file, before orphaned ones were dropped."""
        return sum(one.saved for one in self.tables)

    @property
    def lost(self) -> int:
        """Rows that could not be saved; a lower bound where a table was not counted exactly."""
        return sum(one.lost for one in self.tables) + sum((self.dropped or {}).values())


def repair(admin: HomeAdmin, owner: Owner, *, force: bool = False) -> RepairResult:
    """Salvage the vault of an owner, if it is damaged or `force` is set; refuse while another program has it open."""
    (entry,) = admin.entries([owner])
    if admin.engine.place_of(entry.id) is None:
        raise StorageError(f"the vault of {owner} is missing, so there is nothing to salvage; restore it from a backup")
    faults = tuple(read_vault(admin, entry).faults)
    if not faults and not force:
        return RepairResult(owner=owner, faults=())
    with Lock(admin.home.locks / f"{entry.id}.repair.lock"), admin.keys.place.lock(CHANGES):
        made = admin.engine.upkeep.repair_vault(
            entry.id,
            owner,
            admin.key_of(entry),
            release=lambda: admin.opened.release(entry.id),
            rebuild=rebuild_index,
        )
        # What is lost is in the result; the repaired file is the newest there is.
        admin.catalog.write(lambda tx: vault_marks.remove(tx, entry.id))
    return RepairResult(
        owner=owner,
        faults=faults or ("nothing; the repair was forced",),
        tables=made.tables,
        dropped=made.dropped,
        stand_ins=made.stand_ins,
        pieces=made.pieces,
        evidence=made.evidence,
        doubtful=made.doubtful,
    )
