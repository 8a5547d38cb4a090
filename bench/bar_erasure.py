"""Measures erasure: in live files, in restored backups, and on a disk whose keys are gone."""

import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from bench.bar_row import Measured, own_place
from recollectum import Recollectum
from recollectum.domain.errors import Damaged, NotFound, RecollectumError
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.testing import ScriptedEmbedder
from recollectum.transfer.sessions import export_session, import_transcript
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.restore import restore_vaults
from recollectum.vault.intake.draft import Draft
from recollectum.vault.purge.request import PurgeRequest
from recollectum.vault.vault import Vault
from tests.crashes.homes import vault_files
from tests.crashes.programs import run
from tests.matrix.homes import quick_folder
from tests.upkeep.homes import opening

_PLAIN = {"encryption": "off", "storage.reserve_mib": 0}
#: Without vowels, so that stemming leaves them alone; each has a different end, because the index shares prefixes.
_SECRETS = ("wqzkvbtrnx", "hjkzpqwvbm", "xcvrtplkmw", "gfdwzrtqpb")
_KEPT = "mnbvcxzqwr"
_TAIL = 6
_OWNER = "user:ann"

Erase = Callable[[Vault, PurgeRequest], object]


def _purge(vault: Vault, request: PurgeRequest) -> object:
    return vault.privacy.purge.run(vault.privacy.purge.preview(request).token)


def _hits(root: Path, *words: str) -> set[str]:
    return {line.partition(" ")[0] for line in run("tests.faults.grepping_program", str(root), *words)}


def _looked_for() -> tuple[str, ...]:
    return (*_SECRETS, *(word[-_TAIL:] for word in _SECRETS))


def _talk(vault: Vault, channel: str, words: tuple[str, ...]) -> str:
    chat = vault.sessions.open(channel=channel, agent=channel)
    for number, word in enumerate(words * 5):
        chat.add("user", f"turn {number} says {word} to {channel}", thoughts=[{"text": f"they said {word}"}])
    chat.describe(title=f"about {words[0]}", summary=f"{words[-1]} again")
    return chat.id


def live_files(*, long: bool, erase: Erase = _purge) -> Measured:
    """Search every file for erased words, word endings and vectors, from another process."""
    with (
        own_place() as folder,
        Recollectum(folder / "home", settings=_PLAIN, embedder=ScriptedEmbedder()) as home,
    ):
        vault = home.vault(_OWNER)
        for first in range(0, 50_000 if long else 500, 500):
            vault.memories.save_many([Draft(content=f"number {first + n} stays, {_KEPT}") for n in range(500)])
        texts = [f"the word is {word}, {n}" for n in range(250 if long else 25) for word in _SECRETS]
        gone = [
            one.id for one in [one.memory for one in vault.memories.save_many([Draft(content=text) for text in texts])]
        ]
        session = _talk(vault, "home", _SECRETS)
        vault.admin.index.update()
        (path,) = vault_files(home.home.root)
        before = _vectors(path)
        planted = _hits(folder, *_looked_for())
        began = time.perf_counter()
        erase(vault, PurgeRequest.memories(*gone))
        took = (time.perf_counter() - began) * 1000 / len(gone)
        erase(vault, PurgeRequest.sessions(session))
        left = _hits(folder, *_looked_for())
        erased = before - _vectors(path)
        home.close()
        # Only now: a process that opens a live database file drops the locks on it.
        content = path.read_bytes()
        vectors = sum(one in content for one in erased)
    said = f"{len(left)} of {len(planted)} words, {vectors} of {len(erased)} vectors left, {took:.1f} s for each 1,000"
    return Measured(said, len(planted) == 2 * len(_SECRETS) and not left and vectors == 0 and len(erased) > 0)


def _vectors(path: Path) -> set[bytes]:
    other = SqliteDatabase(path, SqliteOptions())
    try:
        return {row[0] for row in other.read(lambda tx: tx.rows("SELECT data FROM vectors", {}))}
    finally:
        other.close()


def made_again(*, long: bool, erase: Erase = _purge) -> Measured:
    """Erase a conversation, then run every loop that could derive something from it again."""
    with (
        own_place() as folder,
        Recollectum(folder / "home", settings=_PLAIN, embedder=ScriptedEmbedder()) as home,
    ):
        vault = home.vault(_OWNER)
        _talk(vault, "work", (_KEPT,))
        gone = _talk(vault, "home", _SECRETS)
        chat = vault.sessions.chat(gone)
        for word in _SECRETS:
            chat.add("user", f"I live in {word} and I always prefer {word}.")
        transcript = [*export_session(vault, gone)]
        _learn(vault, gone)
        fork = vault.sessions.checkpoints.fork(gone, 3)
        vault.learnings.sync()
        planted = _hits(folder, *_SECRETS)
        made = len(vault.memories.list(limit=100)) + len(vault.admin.review.list(limit=100))
        for request in (PurgeRequest.sessions(gone), PurgeRequest.sessions(fork.id)):
            # A fork without own messages was erased with the original.
            with suppress(NotFound):
                erase(vault, request)
        for _ in range(5 if long else 1):
            # The same file again: it must be recognised as erased.
            with suppress(RecollectumError):
                import_transcript(vault, transcript)
            _learn(vault, vault.sessions.list()[0].id)
            vault.admin.index.rebuild()
            vault.admin.index.update()
            vault.admin.consolidation.note_idle()
            vault.admin.consolidation.work()
            vault.admin.review.grow()
            vault.learnings.sync()
        left = _hits(folder, *_SECRETS)
    said = f"{len(left)} of {len(planted)} words left, {made} memories and proposals were made of them"
    return Measured(said, len(planted) == len(_SECRETS) and not left and made > 0)


def _learn(vault: Vault, session_id: str) -> None:
    """Run everything that derives something from a conversation."""
    vault.admin.consolidation.run(session_id)
    vault.sessions.summaries.update(session_id)
    vault.admin.profile.find()
    vault.admin.index.update()


def restored(*, long: bool, erase: Erase = _purge) -> Measured:
    """Bring back a copy from before an erasure: as a file, or by the restore command."""
    ways = (False, True)
    hits = sum(_person_restored(erase) for _ in range(5 if long else 1))
    unnoticed = 0
    for by_command in ways * (5 if long else 1):
        with own_place() as folder:
            root = folder / "home"
            with Recollectum(root, settings=_PLAIN) as home:
                _talk(home.vault(_OWNER), "work", (_KEPT,))
                gone = _talk(home.vault(_OWNER), "home", _SECRETS)
                made = back_up(home.admin, to=folder / "stick").path
            (path,) = vault_files(root)
            shutil.copy(path, folder / "copy.db")
            with Recollectum(root, settings=_PLAIN) as home:
                erase(home.vault(_OWNER), PurgeRequest.sessions(gone))
            if not by_command:
                shutil.copy(folder / "copy.db", path)
            with Recollectum(root, settings=_PLAIN) as home:
                if by_command:
                    restore_vaults(home.admin, made, opening(folder), replace=True)
            with Recollectum(root, settings=_PLAIN) as home:
                unnoticed += not by_command and not _is_said_to_be_older(home)
                assert home.vault(_OWNER).admin.totals().messages
            hits += len(_hits(root, *_SECRETS))
    said = f"{hits} hits after {len(ways)} ways back, and one for a whole person; {unnoticed} older files unnoticed"
    return Measured(said, hits == unnoticed == 0)


def _is_said_to_be_older(home: Recollectum) -> bool:
    """Return whether the first use of an older file is refused; the second one goes on with it."""
    try:
        home.vault(_OWNER).admin.totals()
    except Damaged:
        return True
    return False


def _person_restored(erase: Erase) -> int:
    """Restore a backup of a person who was erased completely; return what came back."""
    with own_place() as folder:
        root = folder / "home"
        with Recollectum(root, settings=_PLAIN) as home:
            _talk(home.vault(_OWNER), "home", _SECRETS)
            _talk(home.vault("user:ben"), "work", (_KEPT,))
            made = back_up(home.admin, to=folder / "stick").path
            erase(home.vault(_OWNER), PurgeRequest.user())
            restore_vaults(home.admin, made, opening(folder), replace=True)
            assert home.vault("user:ben").admin.totals().messages
        return len(_hits(root, *_SECRETS))


def without_keys(*, long: bool, encryption: str = "auto") -> Measured:
    """Destroy the key of an encrypted person; check whether copies of the file and of the disk open again."""
    words = tuple(f"{word}{number}" for word in _SECRETS for number in range(25 if long else 3))
    with own_place() as folder, quick_folder() as copies:
        root = folder / "home"
        with Recollectum(root, settings={"encryption": encryption}) as home:
            _talk(home.vault(_OWNER), "home", words)
        shutil.copytree(root, copies / "disk")
        (path,) = vault_files(root)
        old = path.read_bytes()
        with Recollectum(root, settings={"encryption": encryption}) as home:
            _purge(home.vault(_OWNER), PurgeRequest.user())
        hits = len(_hits(root, *words)) + len(_hits(copies, *words))
        path.write_bytes(old)
        opened = _opens(root, encryption)
    said = f"{hits} hits in the home and old copies, {'opens' if opened else 'no copy opens'}"
    return Measured(said, hits == 0 and not opened)


def _opens(root: Path, encryption: str) -> bool:
    try:
        with Recollectum(root, settings={"encryption": encryption}) as home:
            return home.vault(_OWNER, create=False).admin.totals().messages > 0
    except RecollectumError:
        return False
