"""Follows and unfollows transcript files of other programs, and starts their sync and watch."""

import builtins
import os
import threading
from collections.abc import Callable
from itertools import chain
from pathlib import Path

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import Conflict, InvalidInput, NotFound
from recollectum.domain.event import EventType
from recollectum.domain.files.transcript import FollowedPath, TranscriptReport
from recollectum.domain.session import SessionKey
from recollectum.domain.trust import Trust
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import transcripts
from recollectum.storage.tables.trail import events
from recollectum.text.cleaning import clean
from recollectum.vault.gate import operation
from recollectum.vault.intake.trust import check_shared_trust
from recollectum.vault.service import VaultService

_LONGEST_SHOWN = 200
_FORMS = "those of Claude Code, Codex CLI, Gemini CLI, OpenClaw and our own"


class Transcripts(VaultService):
    """The transcripts that one vault follows."""

    # Files are read with the rights of this process, so write permission for a vault is not enough.
    @operation(Action.FILE_FOLLOW, Scope.USER, also=(Action.TRANSCRIPT_WRITE,))
    def add(
        self, place: str | os.PathLike[str], *, agent: str | None = None, channel: str | None = None
    ) -> FollowedPath:
        """Follow a file, or a folder with .jsonl files; the next sync reads them.

        Their sessions are stored under the agent and channel that the files name, or under the ones given here.
        """
        check_shared_trust(self.gate.owner, Trust.IMPORTED)
        path = _check_exists(place)
        if path.is_file():
            self._check_form(path)
        if agent is not None or channel is not None:
            # Refuses a name that is not valid in a key.
            SessionKey(agent=agent or "main", channel=channel or "main")
        self._runtime.files.check_here(_display_path(path))

        def change(tx: Tx, reading: ClockReading) -> FollowedPath:
            for other in transcripts.roots(tx):
                if path != Path(other.path) and _is_nested(path, Path(other.path)):
                    raise Conflict(
                        f"{str(path)!r} and {other.path!r}, which is followed already, are inside one another; "
                        "follow only one"
                    )
            added = transcripts.add_root(tx, str(path), agent=agent, channel=channel, at=reading.now)
            followed = next(one for one in transcripts.roots(tx) if one.path == str(path))
            if added:
                self._tell(tx, EventType.CREATED, followed, reading)
            elif (followed.agent, followed.channel) != (agent, channel):
                raise Conflict(f"{str(path)!r} is followed already for another agent or channel; unfollow it first")
            return followed

        return self._runtime.write(change)

    @operation(Action.TRANSCRIPT_WRITE, Scope.USER)
    def remove(self, place: str | os.PathLike[str]) -> int:
        """Unfollow a path; return how many files it had. Its conversations stay in the vault, and the files on disk."""
        path = _resolve_path(place)

        def change(tx: Tx, reading: ClockReading) -> int:
            # A path that was moved away is found by its former name.
            wanted = {str(path), os.fspath(place)}
            found = next((one for one in transcripts.roots(tx) if one.path in wanted), None)
            if found is None:
                raise NotFound(f"{_display_path(path)} is not followed; `transcripts list` shows what is")
            transcripts.remove_root(tx, found.number)
            self._tell(tx, EventType.DELETED, found, reading)
            return found.files

        return self._runtime.write(change, frees=True)

    @operation(Action.TRANSCRIPT_READ, Scope.USER)
    def list(self) -> builtins.list[FollowedPath]:
        """Return the followed paths, sorted."""
        return self._runtime.read(lambda tx, _: transcripts.roots(tx))

    @operation(Action.TRANSCRIPT_WRITE, Scope.USER, also=(Action.SESSION_WRITE,))
    def sync(self, progress: Callable[[int], None] | None = None) -> TranscriptReport:
        """Import the new lines of every file; `progress` gets the number of files done."""
        # Imported in each method: most programs follow nothing, and the module is slow to import.
        from recollectum.vault.transcripts.sync import sync_transcripts  # noqa: PLC0415

        return sync_transcripts(self._runtime, progress)

    @operation(Action.TRANSCRIPT_WRITE, Scope.USER, also=(Action.SESSION_WRITE,))
    def watch(self, stop: threading.Event, progress: Callable[[TranscriptReport], None] | None = None) -> None:
        """Import when enough lines have gathered, and a moment after the last change, until `stop` is set."""
        from recollectum.vault.files.transcript_files import find_transcripts  # noqa: PLC0415
        from recollectum.vault.transcripts.sync import sync_transcripts  # noqa: PLC0415
        from recollectum.vault.transcripts.watch import TranscriptWatch  # noqa: PLC0415

        def paths() -> list[Path]:
            followed = self._runtime.read(lambda tx, _: transcripts.roots(tx))
            return list(chain.from_iterable(find_transcripts(Path(one.path)) or () for one in followed))

        rules = self._runtime.settings.transcripts
        watch = TranscriptWatch(paths, lambda only: sync_transcripts(self._runtime, only=only), rules)
        watch.run(stop, progress or (lambda _: None))

    def _check_form(self, path: Path) -> None:
        """Raise for a file that has lines and none of a form that can be followed."""
        from recollectum.vault.files.text_files import UnreadableFile  # noqa: PLC0415 - see above
        from recollectum.vault.files.transcript_files import open_regular_file, read_next_lines  # noqa: PLC0415

        try:
            with open_regular_file(path) as file:
                lot = read_next_lines(file, 0)
        except OSError as error:
            raise InvalidInput(f"{_display_path(path)} cannot be read ({error.strerror}); correct its mode") from None
        except UnreadableFile as error:
            raise InvalidInput(f"{_display_path(path)} {error}; give a file or a folder with .jsonl files") from None
        lines = [line for line in lot.lines if line] if lot else []
        if lines and self._runtime.home.transcript_reader().recognise(lines) is None:
            raise InvalidInput(f"{_display_path(path)} is not a transcript of a known form; known are {_FORMS}")

    def _tell(self, tx: Tx, type: EventType, place: FollowedPath, reading: ClockReading) -> None:
        # Never the path, which may reveal more than the vault's owner wants to store.
        subject = f"place_{place.number}"
        events.add(tx, type, "transcripts", subject, at=reading.now, actor=self._runtime.actor)


def _resolve_path(place: str | os.PathLike[str]) -> Path:
    text = os.fspath(place)
    if not text or clean(text) != text:
        raise InvalidInput(f"place {_display_path(text)} has a name that cannot be stored; give a path in UTF-8")
    try:
        return Path(text).resolve()
    except (OSError, RuntimeError, ValueError):
        raise InvalidInput(f"place {_display_path(text)} cannot be found; give the path of a file or folder") from None


def _check_exists(place: str | os.PathLike[str]) -> Path:
    path = _resolve_path(place)
    try:
        there = path.is_dir() or path.is_file()
    except OSError:
        # A name too long for the system, or a path without permission.
        there = False
    if not there or clean(str(path)) != str(path):
        raise InvalidInput(f"{_display_path(place)} is neither a file nor a folder; give the path of one")
    return path


def _display_path(place: str | os.PathLike[str]) -> str:
    text = clean(os.fspath(place))
    return repr(text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…")


def _is_nested(path: Path, other: Path) -> bool:
    return path.is_relative_to(other) or other.is_relative_to(path)
