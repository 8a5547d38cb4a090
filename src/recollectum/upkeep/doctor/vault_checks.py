"""Checks keys, orphan files and vaults: integrity, schema, index drift, duplicates and failed jobs."""

from collections.abc import Callable, Iterable, Iterator

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import KeyProblem, RecollectumError, StorageError
from recollectum.domain.memory import State
from recollectum.domain.records import dataclass
from recollectum.home.keys.holders import HolderKind
from recollectum.recall.index.verification import check_index
from recollectum.storage.engine import Inspection, VaultPlace
from recollectum.storage.port import Tx
from recollectum.storage.tables.catalog import catalog_changes, vault_marks
from recollectum.storage.tables.catalog.vault_marks import VaultMark
from recollectum.storage.tables.catalog.vaults import VaultEntry
from recollectum.storage.tables.content import memories, messages, sessions
from recollectum.storage.tables.learning import jobs, proposals
from recollectum.storage.tables.trail import events, health
from recollectum.text.terms.similarity import fingerprint
from recollectum.upkeep.abandoned_vaults import ABANDONED, holds_nothing
from recollectum.upkeep.doctor.home_checks import HealthFinding, Severity, fine
from recollectum.upkeep.home_admin import HomeAdmin
from recollectum.vault.sessions.echoes import count_echoes

_UNDECODABLE = (ValueError, KeyError, TypeError, RecollectumError)
_MANY = 1 << 40


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultReport:
    """The result of reading one vault."""

    owner: Owner
    vault_id: str
    #: Faults that a repair, a rebuild or a backup can cure.
    faults: tuple[str, ...] = ()
    #: What was lost earlier, for good.
    gaps: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether there are no faults."""
        return not self.faults


def read_base(admin: HomeAdmin) -> tuple[str, ...]:
    """Return the faults of the catalog and the wrapped keys, after reading every page."""
    return tuple(admin.engine.upkeep.base_faults(admin.catalog_key()))


def read_vault(admin: HomeAdmin, entry: VaultEntry, *, data: bool = True) -> VaultReport:
    """Check a vault without changing it: the structure, and with `data` every page and row."""
    try:
        faults, missing = _look(admin, entry, data=data)
    except (StorageError, KeyProblem) as error:
        faults, missing = [str(error)], []
    return VaultReport(owner=entry.owner, vault_id=entry.id, faults=tuple(faults), gaps=tuple(missing))


def _look(admin: HomeAdmin, entry: VaultEntry, *, data: bool) -> tuple[list[str], list[str]]:
    place = admin.engine.place_of(entry.id)
    if place is None:
        return [f"the vault of {entry.owner} ({entry.id}) is missing; restore it from a backup"], []
    with admin.engine.upkeep.inspect(entry.id, admin.key_of(entry)) as found:
        named = found.owner()
        faults = [] if named == str(entry.owner) else [f"{place.words} is not the vault that the catalog names"]
        if data:
            faults += found.faults()
        elif not entry.encrypted:
            # A page that is not authenticated can lose rows in silence: the rules below count through the indexes.
            faults += found.index_faults()
        if faults or found.pending_steps():
            # The rules below fit only this program's schema; an older one has been read page by page.
            return faults, []
        faults += [f"{count} {what}" for what, count in found.read(health.strays).items()]
        faults += found.read(_index_faults)
        if data:
            faults += found.read(_meaning_faults) or _changed_texts(found.read(health.marked_texts))
        missing = [f"{count} {what}" for what, count in found.read(health.gaps).items()]
        if found.read(health.was_repaired):
            return faults, missing
        # What was erased on request is no fault; everything else that is missing is.
        return faults + ([] if found.read(health.was_purged) else missing), []


def _index_faults(tx: Tx) -> list[str]:
    checked = check_index(tx)
    found: list[str] = []
    if checked.missing or checked.stray:
        found.append(
            f"{checked.missing} missing from the index, {checked.stray} stray in it; run: recollectum index rebuild"
        )
    if checked.changed:
        found.append(
            f"{checked.changed} rows differ from what was written; restore a backup, or run: recollectum repair"
        )
    return found


def _meaning_faults(tx: Tx) -> list[str]:
    """Return the rows that SQLite can read but we cannot decode."""
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
    """Return the texts that differ from what was written: in an unencrypted vault only this detects a flipped bit."""
    # A fingerprint of another program version says nothing.
    version = fingerprint("").partition(":")[0]
    changed = sum(1 for text, mark in pairs if mark.partition(":")[0] == version and fingerprint(text) != mark)
    return [f"{changed} memories whose text is not what was written; look at them with: recollectum memories list"] * (
        changed > 0
    )


_MANY_DUPLICATES = 0.05


def age(admin: HomeAdmin, entry: VaultEntry, *, fix: bool) -> Iterator[HealthFinding]:
    """Check whether the file of a vault is older than last seen, or was when it was opened."""
    lacked = admin.catalog.read(lambda tx: vault_marks.find_missing(tx, entry.id))
    lacks = _lacks_now(admin, entry)
    if lacked is None and lacks is None:
        return
    events, texts = (sum(pair) for pair in zip(lacked or (0, 0), lacks or (0, 0), strict=True))
    fixed = fix and lacks is None
    if fixed:
        admin.catalog.write(lambda tx: vault_marks.settle(tx, entry.id))
    words = (
        f"the vault of {entry.owner} is older than last seen: {events} events and {texts} pieces of text are missing"
    )
    cure = "put the newer file back or restore a backup; to continue without them: recollectum doctor --fix"
    yield HealthFinding(topic="older vault", severity=Severity.PROBLEM, words=words, cure=cure, fixed=fixed)


def catalog_age(admin: HomeAdmin, *, fix: bool) -> Iterator[HealthFinding]:
    """Check whether the catalog was older than last seen when it was opened."""
    missing = admin.catalog.read(catalog_changes.find_missing)
    if not missing:
        return
    if fix:
        admin.catalog.write(catalog_changes.settle)
    words = (
        f"the catalog is older than last seen: {missing} changes of people, keys, grants or vaults are missing; "
        "a revoked key could work again, so no key is accepted"
    )
    cure = (
        "put the newer catalog back or restore a backup; to go on without them, look through `recollectum keys "
        "list`, `grants list` and `users list`, then: recollectum doctor --fix"
    )
    yield HealthFinding(topic="older catalog", severity=Severity.PROBLEM, words=words, cure=cure, fixed=fix)


def _lacks_now(admin: HomeAdmin, entry: VaultEntry) -> VaultMark | None:
    """Return what the file of a vault lacks now; None when nothing, or when it cannot be read, which others report."""
    seen = admin.catalog.read(lambda tx: vault_marks.find(tx, entry.id))
    if seen is None or admin.engine.place_of(entry.id) is None:
        return None
    try:
        with admin.engine.upkeep.inspect(entry.id, admin.key_of(entry)) as found:
            return seen.lacking(found.read(vault_marks.of_vault))
    except RecollectumError:
        return None


def key(admin: HomeAdmin) -> Iterator[HealthFinding]:
    """Check who holds the key, and whether there is a recovery code."""
    holder = admin.keys.holder()
    if holder.kind is HolderKind.OFF:
        words = "the home is not encrypted: anyone who has the files, or a backup of them, can read them"
        cure = "set encryption to auto before you make a home"
        yield HealthFinding(topic="key", severity=Severity.WARNING, words=words, cure=cure)
        return
    yield fine("key", f"the key is {holder.words}")
    if holder.recovery_code_made_at is None:
        words = "there is no recovery code: if the key is lost, all data is lost"
        cure = "make one and write it on paper: recollectum encryption new-code"
        yield HealthFinding(topic="recovery code", severity=Severity.WARNING, words=words, cure=cure)
    else:
        yield fine("recovery code", f"made on {holder.recovery_code_made_at:%Y-%m-%d}")


def orphans(admin: HomeAdmin, *, fix: bool) -> Iterator[HealthFinding]:
    """Check for vault files that the catalog does not know; a killed creation of a vault leaves one."""
    known = {entry.id for entry in admin.entries()}
    for vault_id in admin.engine.vault_ids():
        place = admin.engine.place_of(vault_id)
        if vault_id not in known and place:
            yield _orphan(admin, vault_id, place, fix=fix)


def base(admin: HomeAdmin) -> Iterator[HealthFinding]:
    """Check the catalog and the wrapped keys, reading every page."""
    for fault in read_base(admin):
        cure = "restore it from a backup: recollectum restore FOLDER"
        yield HealthFinding(topic="home", severity=Severity.PROBLEM, words=fault, cure=cure)


def vault(admin: HomeAdmin, entry: VaultEntry, *, deep: bool) -> Iterator[HealthFinding]:
    """Check one vault; with `deep` every page and row is read."""
    report = read_vault(admin, entry, data=deep)
    topic = f"vault of {entry.owner}"
    closer = "" if deep else f"look closer with: recollectum doctor --deep --user {entry.owner}; then "
    for fault in report.faults:
        cure = f"{closer}salvage it: recollectum repair --user {entry.owner}; or restore a backup"
        yield HealthFinding(topic=topic, severity=Severity.PROBLEM, words=fault, cure=cure)
    for gap in report.gaps:
        yield HealthFinding(topic=topic, severity=Severity.NOTE, words=f"{gap}, lost in earlier damage")
    if report.sound:
        with admin.engine.upkeep.inspect(entry.id, admin.key_of(entry)) as inside:
            yield from _inside(inside, topic, entry.owner)


def _inside(vault: Inspection, topic: str, owner: Owner) -> Iterator[HealthFinding]:
    steps = vault.pending_steps()
    if steps:
        words = f"{len(steps)} schema steps of this version are due; opening the vault applies them, after a backup"
        yield HealthFinding(topic=topic, severity=Severity.NOTE, words=words, cure="recollectum upgrade")
        return
    found = vault.read(health.worth)
    words = f"sound, {found.live} live {'memory' if found.live == 1 else 'memories'}; recall counts are not recorded"
    yield fine(topic, words)
    if found.duplicates:
        words = f"{found.duplicates} memories duplicate another ({found.duplicates / found.live:.0%})"
        severity = Severity.WARNING if found.duplicates > found.live * _MANY_DUPLICATES else Severity.NOTE
        yield HealthFinding(topic=topic, severity=severity, words=words, cure="forget those you do not want")
    if echoes := vault.read(count_echoes):
        words = f"{echoes} messages hold text that Recollectum itself had inserted"
        cure = f"cut it out with: recollectum sessions clean --user {owner}"
        yield HealthFinding(topic=topic, severity=Severity.WARNING, words=words, cure=cure)
    if found.slight:
        words = f"{found.slight} memories have an importance below 0.2 ({found.slight / found.live:.0%})"
        yield HealthFinding(topic=topic, severity=Severity.NOTE, words=words)
    if found.failed_jobs:
        words = f"{found.failed_jobs} consolidations have failed for good"
        cure = "try them again with: recollectum consolidate"
        yield HealthFinding(topic=topic, severity=Severity.WARNING, words=words, cure=cure)
    waiting = vault.read(memories.counts).get(State.HARD_DELETE_PENDING, 0)
    if waiting:
        words = f"{waiting} forgotten memories are due to be destroyed"
        yield HealthFinding(topic=topic, severity=Severity.NOTE, words=words, cure="recollectum lifecycle run")


def _orphan(admin: HomeAdmin, vault_id: str, place: VaultPlace, *, fix: bool) -> HealthFinding:
    empty = holds_nothing(admin.engine, admin.keys, vault_id)
    if not empty:
        why = "cannot be read" if empty is None else "holds something"
        words = f"{place.words} has no owner in the catalog and {why}"
        cure = "keep it; the catalog may be older than the file: restore a later backup of the catalog"
        return HealthFinding(topic="orphan files", severity=Severity.WARNING, words=words, cure=cure)
    words = f"{place.words} has no owner and is empty; creating a vault was interrupted"
    # A vault that is being created at this moment looks the same.
    removed = fix and admin.clock() - place.changed_at >= ABANDONED
    if removed:
        admin.engine.destroy_vault(vault_id)
        admin.keys.destroy_key(vault_id)
    cure = "remove it with: recollectum doctor --fix, an hour after it was made"
    return HealthFinding(topic="orphan files", severity=Severity.NOTE, words=words, cure=cure, fixed=removed)
