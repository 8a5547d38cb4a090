"""Checks a home from outside: permissions, disk space, locks, logs, unfinished work and the database server."""

import json
import shutil
import stat
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path

from recollectum.domain.ids import Clock
from recollectum.domain.records import dataclass
from recollectum.home.daemon import find_daemon, find_holder
from recollectum.home.locks import HUNG, Lock
from recollectum.home.paths import Home
from recollectum.settings.model import Settings
from recollectum.storage.engine import EngineUpkeep
from recollectum.storage.opening import damaged_log_copies, private_files
from recollectum.storage.port import Database
from recollectum.storage.tables.erasure import receipts
from recollectum.upkeep.abandoned_vaults import ABANDONED
from recollectum.upkeep.home_admin import HomeAdmin
from recollectum.vault.purge.backups import why_partial


class Severity(StrEnum):
    """The severity of a finding."""

    FINE = "fine"
    NOTE = "note"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthFinding:
    """One check of the doctor and its result, in plain words."""

    topic: str
    severity: Severity
    words: str
    #: What to do about it.
    cure: str | None = None
    #: Whether `--fix` did it.
    fixed: bool = False


def fine(topic: str, words: str) -> HealthFinding:
    """Return a finding without a problem."""
    return HealthFinding(topic=topic, severity=Severity.FINE, words=words)


def worst(findings: list[HealthFinding]) -> Severity:
    """Return the worst severity that is left."""
    order = list(Severity)
    left = [one.severity for one in findings if not one.fixed]
    return max(left, key=order.index, default=Severity.FINE)


_LITTLE_ROOM = 256 * 2**20
_LARGE_LOG = 64 * 2**20
_OLD_BACKUP = timedelta(days=30)
#: A daemon and a hook worker hold their locks for as long as they live.
_HELD_BY_SERVICES = frozenset({"daemon.lock", "hook.lock"})
_UNFINISHED = (".*.unfinished*", ".*-restoring", ".*-repairing")


def permissions(home: Home) -> Iterator[HealthFinding]:
    """Check who else may read the files; before the home is opened, because opening it restricts them."""
    open_to_others = [path for path in _private(home) if _others_may(path)]
    for path in open_to_others:
        yield HealthFinding(
            topic="permissions",
            severity=Severity.PROBLEM,
            words=f"{path} could be read by other accounts",
            cure=f"chmod go-rwx {path}; opening the home does the same for its own files",
        )
    if not open_to_others:
        yield fine("permissions", "only this account can read the home")


def room(home: Home, settings: Settings) -> Iterator[HealthFinding]:
    """Check that there is disk space for writing, and a reserve for deleting."""
    free = shutil.disk_usage(home.root).free
    severity = Severity.WARNING if free < _LITTLE_ROOM else Severity.FINE
    cure = "free some space; on a full disk only deleting works" if free < _LITTLE_ROOM else None
    yield HealthFinding(topic="disk", severity=severity, words=f"{free / 2**20:.0f} MiB are free", cure=cure)
    wanted = settings.storage.reserve_mib
    held = home.reserve_file.stat().st_size if home.reserve_file.exists() else 0
    if wanted and held < wanted * 2**20:
        words = "the reserve that lets you delete on a full disk is missing"
        cure = f"free {wanted} MiB and run any command; the reserve is then made again"
        yield HealthFinding(topic="disk reserve", severity=Severity.WARNING, words=words, cure=cure)
    else:
        words = f"{wanted} MiB are reserved, so that deleting works on a full disk" if wanted else "turned off"
        yield fine("disk reserve", words)


def logs(upkeep: EngineUpkeep) -> Iterator[HealthFinding]:
    """Check for write-ahead logs that cannot be emptied."""
    for name, size in upkeep.long_logs(_LARGE_LOG):
        words = f"the log of {name} has grown to {size / 2**20:.0f} MiB"
        cure = "a program has been reading for a long time; close the programs that use the home"
        yield HealthFinding(topic="log size", severity=Severity.WARNING, words=words, cure=cure)


def servers(admin: HomeAdmin) -> Iterator[HealthFinding]:
    """Check the server of the vaults, and that of the keys, where there are any."""
    server = admin.engine.server
    for one in (*(server.findings() if server else ()), *admin.keys.place.findings()):
        yield HealthFinding(topic=one.topic, severity=Severity(one.severity), words=one.words, cure=one.cure)


def damaged_logs(home: Home) -> Iterator[HealthFinding]:
    """Check for logs that were damaged, and whose copies wait for a person."""
    for name, folder in damaged_log_copies(home):
        yield HealthFinding(
            topic="damaged log",
            severity=Severity.PROBLEM,
            words=f"the write-ahead log of {name} was damaged, and the changes after the damage are missing",
            cure=f"restore a backup if something is missing; then delete {folder}, which contains the damaged log",
        )


def locks(home: Home, clock: Clock) -> Iterator[HealthFinding]:
    """Check for locks whose holder looks hung; a daemon holds its lock while it lives, and a dead holder none."""
    if (running := find_holder(home)) is not None:
        listens = find_daemon(home)
        where = f", and answers at {listens.url}" if listens else ""
        yield fine("daemon", f"process {running.pid} runs{where}")
    for path in sorted(home.locks.glob("*.lock")):
        if path.name in _HELD_BY_SERVICES:
            continue
        holder = Lock(path).holder()
        if holder and clock() - holder.acquired > HUNG:
            words = f"{path.name} has been held by {holder.command} (process {holder.pid}) for over {HUNG.seconds} s"
            cure = "if it hangs, end that process; the lock is free when it is dead"
            yield HealthFinding(topic="locks", severity=Severity.WARNING, words=words, cure=cure)


def unfinished(home: Home, clock: Clock, *, fix: bool) -> Iterator[HealthFinding]:
    """Check for leftovers of a killed backup, restore or repair."""
    found = {path for pattern in _UNFINISHED for folder in (home.backups, home.vaults) for path in folder.glob(pattern)}
    for path in sorted(found):
        if clock() - _changed(path) < ABANDONED:
            continue
        if fix:
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        words = f"{path} was left by a backup, restore or repair that was cut short"
        cure = "it is useless; remove it with: recollectum doctor --fix"
        yield HealthFinding(topic="left over", severity=Severity.NOTE, words=words, cure=cure, fixed=fix)


def backups(home: Home, clock: Clock) -> Iterator[HealthFinding]:
    """Check how old the newest backup of the whole home is, and which ones are partial."""
    found = sorted(home.backups.glob("recollectum-*"))
    partial = {path: why for path in found if (why := why_partial(path))}
    for path, why in partial.items():
        cure = "make a new one: recollectum backup"
        yield HealthFinding(topic="backup", severity=Severity.NOTE, words=f"{path.name} is partial: {why}", cure=cure)
    newest = max((_changed(path) for path in found if path not in partial), default=None)
    if newest is None or clock() - newest > _OLD_BACKUP:
        there_is = f"the newest whole backup is of {newest:%Y-%m-%d}" if newest else ""
        words = there_is or "there is no backup of the whole home in its backups folder"
        cure = "make one, on another disk if you can: recollectum backup --to FOLDER"
        yield HealthFinding(topic="backup", severity=Severity.NOTE, words=words, cure=cure)
    else:
        yield fine("backup", f"the newest is of {newest:%Y-%m-%d}")


def erasures(catalog: Database) -> Iterator[HealthFinding]:
    """Check for purges whose receipt is not done."""
    for one in catalog.read(receipts.everything):
        # Of a purge without samples nothing more can be found out; its receipt says so.
        if one.state == "done" or (one.state == "unverified" and not json.loads(one.body)["samples"]):
            continue
        words = f"the purge {one.id} is {one.state}"
        cure = f"see: recollectum purge receipts show {one.id}; then run: recollectum purge finish"
        yield HealthFinding(topic="erasure", severity=Severity.WARNING, words=words, cure=cure)


def other_hosts(admin: HomeAdmin) -> Iterator[HealthFinding]:
    """Say which other hosts keep notes, transcripts and LEARNINGS.md: here they are passed by."""
    here = admin.opened.hosts
    for one in admin.list_hosts() if here else ():
        if here and one.vaults and one.id != here.here.id:
            words = f"the host {one.name} keeps notes, transcripts and LEARNINGS.md (vaults: {one.vaults}), "
            words += f"and was last seen on {one.seen_at:%Y-%m-%d}"
            cure = "if that host is gone, take them over: recollectum daemon hosts take --all"
            yield HealthFinding(topic="files", severity=Severity.NOTE, words=words, cure=cure)


def _private(home: Home) -> list[Path]:
    folders = [home.root, home.vaults, home.locks, home.backups]
    files = [*private_files(home), *home.backups.glob("**/*")]
    return [path for path in (*folders, *sorted(files)) if path.exists()]


def _others_may(path: Path) -> bool:
    return sys.platform != "win32" and bool(stat.S_IMODE(path.stat().st_mode) & 0o077)


def _changed(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)
