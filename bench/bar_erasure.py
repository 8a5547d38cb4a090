"""Rows about what a person had erased: in live files, in restored backups, and on a disk whose keys are gone."""

import shutil
from collections.abc import Callable
from pathlib import Path

from bench.bar_row import Measured, own_place
from recollect import Recollect
from recollect.domain.errors import RecollectError
from recollect.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollect.testing import ScriptedEmbedder, embedding_with
from recollect.upkeep.backup import back_up
from recollect.upkeep.restore import restore_vaults
from recollect.vault.draft import Draft
from recollect.vault.purge_request import PurgeRequest
from recollect.vault.vault import Vault
from tests.crashes.homes import vault_files
from tests.crashes.programs import run
from tests.matrix.homes import quick_folder
from tests.upkeep.homes import opening

_PLAIN = {"encryption": "off", "storage.reserve_mib": 0}
#: Without vowels, so that stemming leaves them alone; each has its own end, because the index shares beginnings.
_SECRETS = ("wqzkvbtrnx", "hjkzpqwvbm", "xcvrtplkmw", "gfdwzrtqpb")
_KEPT = "mnbvcxzqwr"
_TAIL = 6
_OWNER = "user:ann"

Erase = Callable[[Vault, PurgeRequest], object]


def _purge(vault: Vault, request: PurgeRequest) -> object:
    return vault.purge.run(vault.purge.preview(request).token)


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
    """Words, the ends of words and vectors of what was erased, looked for in every file by another process."""
    with own_place() as folder, embedding_with(ScriptedEmbedder()), Recollect(folder / "home", settings=_PLAIN) as home:
        vault = home.vault(_OWNER)
        for first in range(0, 50_000 if long else 500, 500):
            vault.memories.save_many([Draft(content=f"number {first + n} stays, {_KEPT}") for n in range(500)])
        gone = [vault.memories.save(f"the word is {word}, {n}").id for n in range(25) for word in _SECRETS]
        session = _talk(vault, "home", _SECRETS)
        vault.index.update()
        (path,) = vault_files(home.home.root)
        before = _vectors(path)
        planted = _hits(folder, *_looked_for())
        erase(vault, PurgeRequest.memories(*gone))
        erase(vault, PurgeRequest.sessions(session))
        left = _hits(folder, *_looked_for())
        erased = before - _vectors(path)
        home.close()
        # Only now: who opens a live database file drops the locks on it.
        content = path.read_bytes()
        vectors = sum(one in content for one in erased)
    said = f"{len(left)} of {len(planted)} words, {vectors} of {len(erased)} vectors left"
    return Measured(said, len(planted) == 2 * len(_SECRETS) and not left and vectors == 0 and len(erased) > 0)


def _vectors(path: Path) -> set[bytes]:
    other = SqliteDatabase(path, SqliteOptions())
    try:
        return {row[0] for row in other.read(lambda tx: tx.rows("SELECT data FROM vectors", {}))}
    finally:
        other.close()


def restored(*, long: bool, erase: Erase = _purge) -> Measured:
    """A copy from before an erasure that comes back after it: put back as a file, or restored by command."""
    ways = (False, True)
    hits = 0
    for by_command in ways * (5 if long else 1):
        with own_place() as folder:
            root = folder / "home"
            with Recollect(root, settings=_PLAIN) as home:
                _talk(home.vault(_OWNER), "work", (_KEPT,))
                gone = _talk(home.vault(_OWNER), "home", _SECRETS)
                made = back_up(home.grounds(), to=folder / "stick").path
            (path,) = vault_files(root)
            shutil.copy(path, folder / "copy.db")
            with Recollect(root, settings=_PLAIN) as home:
                erase(home.vault(_OWNER), PurgeRequest.sessions(gone))
            if not by_command:
                shutil.copy(folder / "copy.db", path)
            with Recollect(root, settings=_PLAIN) as home:
                if by_command:
                    restore_vaults(home.grounds(), made, opening(folder), replace=True)
            with Recollect(root, settings=_PLAIN) as home:
                assert home.vault(_OWNER).totals().messages
            hits += len(_hits(root, *_SECRETS))
    return Measured(f"{hits} hits after {len(ways)} ways back", hits == 0)


def without_keys(*, long: bool, encryption: str = "auto") -> Measured:
    """An encrypted person whose key was destroyed: copies of the file and of the disk, and whether one opens again."""
    words = tuple(f"{word}{number}" for word in _SECRETS for number in range(25 if long else 3))
    with own_place() as folder, quick_folder() as copies:
        root = folder / "home"
        with Recollect(root, settings={"encryption": encryption}) as home:
            _talk(home.vault(_OWNER), "home", words)
        shutil.copytree(root, copies / "disk")
        (path,) = vault_files(root)
        old = path.read_bytes()
        with Recollect(root, settings={"encryption": encryption}) as home:
            _purge(home.vault(_OWNER), PurgeRequest.user())
        hits = len(_hits(root, *words)) + len(_hits(copies, *words))
        path.write_bytes(old)
        opened = _opens(root, encryption)
    said = f"{hits} hits in the home and old copies, {'opens' if opened else 'no copy opens'}"
    return Measured(said, hits == 0 and not opened)


def _opens(root: Path, encryption: str) -> bool:
    try:
        with Recollect(root, settings={"encryption": encryption}) as home:
            return home.vault(_OWNER, create=False).totals().messages > 0
    except RecollectError:
        return False
