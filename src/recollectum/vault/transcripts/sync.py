"""Imports the new lines of followed transcripts, together with the position reached, in one transaction."""

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import BinaryIO

from recollectum.domain.errors import Conflict, InvalidInput
from recollectum.domain.files.transcript import FollowedPath, TranscriptFile, TranscriptReport
from recollectum.domain.notice import NO_NOTICE, Notice
from recollectum.domain.records import dataclass
from recollectum.domain.session import SessionKind
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import sessions, transcripts
from recollectum.text.cleaning import clean
from recollectum.vault.files.crawl import unreadable_reason
from recollectum.vault.files.text_files import UnreadableFile
from recollectum.vault.files.transcript_files import (
    MAX_LINE,
    LineBatch,
    ParsedLines,
    TranscriptReader,
    find_transcripts,
    is_continued,
    open_regular_file,
    position_digests,
    read_all_lines,
    read_next_lines,
    with_file_state,
)
from recollectum.vault.intake.admitted import AdmittedMessage, AdmittedSession
from recollectum.vault.intake.intake import Intake
from recollectum.vault.messages import is_same_conversation, upsert_session_messages
from recollectum.vault.runtime import VaultRuntime

_TOO_LONG = f"it is longer than {MAX_LINE} bytes"
_FORGOTTEN = "belongs to a session that was deleted, and is not read again"


@dataclass(slots=True)
class _SyncRun:
    """One sync of the files: its limits, and its results so far."""

    reader: TranscriptReader
    deadline: float | None
    counts: Counter[str] = field(default_factory=Counter[str])
    damage: list[tuple[str, int, str]] = field(default_factory=list[tuple[str, int, str]])
    skipped: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    notice: Notice = NO_NOTICE

    def is_over(self) -> bool:
        """Return whether the deadline has passed."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def add(self, counts: Counter[str], notice: Notice) -> None:
        """Add the results of one batch."""
        self.counts += counts
        self.notice += notice

    def report(self, *, complete: bool) -> TranscriptReport:
        """Return the report of the sync."""
        return TranscriptReport(
            files=self.counts["files"],
            added=self.counts["added"],
            known=self.counts["known"],
            echoes=self.counts["echoes"],
            reread=self.counts["reread"],
            unchanged=self.counts["unchanged"],
            damage=tuple(self.damage),
            skipped=tuple(sorted(self.skipped)),
            complete=complete,
            notice=self.notice,
        )


def sync_transcripts(
    runtime: VaultRuntime,
    progress: Callable[[int], None] | None = None,
    *,
    deadline: float | None = None,
    only: Collection[str] | None = None,
) -> TranscriptReport:
    """Import new lines of all files, or of the given paths; after an interruption the imported part stays."""
    look = _SyncRun(runtime.home.transcript_reader(), deadline)
    roots = runtime.read(lambda tx, _: transcripts.roots(tx))
    other = runtime.files.elsewhere(found=any(Path(root.path).exists() for root in roots))
    if other is not None:
        return TranscriptReport(kept_by=other)
    for root in roots:
        paths = find_transcripts(Path(root.path), deadline)
        known = runtime.read(lambda tx, _, r=root: transcripts.of_root(tx, r.number))
        for path in paths or ():
            if only is not None and str(path) not in only:
                continue
            if not _sync_file(runtime, look, root, path, known.get(str(path))):
                return look.report(complete=False)
            if progress:
                progress(1)
        if paths is None:
            return look.report(complete=False)
    return look.report(complete=True)


def _sync_file(
    runtime: VaultRuntime, look: _SyncRun, root: FollowedPath, path: Path, known: TranscriptFile | None
) -> bool:
    """Import the new lines of one file; False when the deadline has passed."""
    if look.is_over():
        return False
    try:
        if known and with_file_state(known, path.lstat()) == known:
            look.counts["unchanged"] += 1
            return True
        with open_regular_file(path) as file:
            return _read_new_lines(runtime, look, root, file, known or TranscriptFile(path=str(path), root=root.number))
    except OSError as error:
        look.skipped.append((clean(str(path)), unreadable_reason(error)))
    except (UnreadableFile, InvalidInput, Conflict) as error:
        look.skipped.append((clean(str(path)), str(error)))
    return True


def _read_new_lines(
    runtime: VaultRuntime, look: _SyncRun, root: FollowedPath, file: BinaryIO, known: TranscriptFile
) -> bool:
    state = os.fstat(file.fileno())
    now = with_file_state(known, state)
    if known.read_to and not is_continued(file, known, state.st_size):
        # Truncated, rotated or replaced. The session id is kept: a deleted session must not come back this way.
        now = replace(now, read_to=0, lines=0, head="", tail="", form=None)
        look.counts["reread"] += 1
    before = known if known.identity else None
    added = look.counts["added"]
    while (step := _next_batch(look, file, now, state.st_size)) is not None:
        form, lot = step
        stored = _store(runtime, look, root, (before, replace(now, form=form)), lot, position_digests(file, lot.end))
        if stored is None:
            return True
        before, now = stored, with_file_state(stored, state)
        if look.is_over():
            return False
    if before != now:
        # No new whole line: the next sync need not open the file.
        runtime.write(lambda tx, reading: _store_position(tx, root, before, now, reading))
    look.counts["files"] += look.counts["added"] > added
    return True


def _next_batch(look: _SyncRun, file: BinaryIO, now: TranscriptFile, size: int) -> tuple[str, LineBatch] | None:
    """Return the next lines and their format; None when there are none yet."""
    lot = read_next_lines(file, now.read_to)
    if lot is None:
        return None
    form = now.form or look.reader.recognise([line for line in lot.lines if line])
    if form is None:
        look.skipped.append((now.path, "is not a transcript of a known form"))
        return None
    return form, (read_all_lines(file, size) or lot) if look.reader.is_whole(form) else lot


def _store(
    runtime: VaultRuntime,
    look: _SyncRun,
    root: FollowedPath,
    files: tuple[TranscriptFile | None, TranscriptFile],
    lot: LineBatch,
    ends: tuple[str, str],
) -> TranscriptFile | None:
    """Store the content of some lines with their position; None when another process has taken over."""
    before, now = files
    form = now.form or ""
    whole = look.reader.is_whole(form)
    known = runtime.read(lambda tx, _: sessions.find(tx, now.session_id) if now.session_id else None)
    forgotten = before is not None and before.session_id is not None and known is None
    first = 0 if whole else now.lines
    lines = [line or b"" for line in lot.lines]
    gathered = look.reader.read(form, lines, known)
    after = replace(
        now,
        # Until all of it is read, the file must not look finished.
        mtime=now.mtime if lot.end == now.size else 0,
        read_to=lot.end,
        lines=first + len(lines),
        head=ends[0],
        tail=ends[1],
        session_id=gathered.session.id if gathered.session else now.session_id,
    )
    if forgotten and (gathered.session is None or is_same_conversation(gathered.session.id, now.session_id)):
        after = replace(after, session_id=now.session_id)
        look.skipped.append((now.path, _FORGOTTEN))
        gathered = ParsedLines(session=None)

    def write(
        tx: Tx, reading: ClockReading, session: AdmittedSession | None, said: Sequence[AdmittedMessage]
    ) -> tuple[Counter[str], Notice] | None:
        if known and sessions.find(tx, known.id) is None:
            # Deleted at this moment; the next sync will see it.
            return None
        # Messages and position in one transaction, so that neither can be ahead of the other.
        if not _store_position(tx, root, before, after, reading):
            return None
        if session is None:
            return Counter(), NO_NOTICE
        written = upsert_session_messages(tx, session, said, actor=runtime.actor, at=reading.now)
        return written.counts, written.notice

    with Intake(runtime) as intake:
        session = _keyed(intake.session(gathered.session), root) if gathered.session else None
        said = [own for one in gathered.messages if (own := intake.imported(one)) is not None]
        written = runtime.write(lambda tx, reading: write(tx, reading, session, said))
        if written is None:
            intake.discard()
    if written is None:
        return None
    look.add(*written)
    look.counts["echoes"] += len(gathered.messages) - len(said)
    long = ((number, _TOO_LONG) for number, line in enumerate(lot.lines, start=1) if line is None)
    # Problems in lines read again were reported the first time.
    look.damage += [(now.path, first + at, why) for at, why in (*gathered.damage, *long) if first + at > now.lines]
    return after


def _keyed(session: AdmittedSession, root: FollowedPath) -> AdmittedSession:
    """Return the session under the agent and channel that its path was followed for."""
    key = session.session.key
    if key.kind in (SessionKind.HOOK, SessionKind.CRON):
        return session
    return session.keyed(replace(key, agent=root.agent or key.agent, channel=root.channel or key.channel))


def _store_position(
    tx: Tx, root: FollowedPath, before: TranscriptFile | None, after: TranscriptFile, reading: ClockReading
) -> bool:
    """Store the position, unless another process changed it or unfollowed the path."""
    if transcripts.find(tx, after.path) != before or root.number not in {one.number for one in transcripts.roots(tx)}:
        return False
    transcripts.save(tx, after, reading.now)
    return True
