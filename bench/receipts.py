"""Attacks purge receipts: plants readable copies of what is erased, and counts the receipts that still say done."""

import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.bar_row import Measured, own_place
from bench.planted_copies import INSIDE, KINDS, PLACES, Ground
from bench.sizes import sized
from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.storage.sqlite.connection import connect
from recollectum.vault.purge.request import PurgeRequest, PurgeState

_OWNER = "user:ann"
_WITHOUT_MEMORIES = ("catalog.db", "keys.db", "manifest.json")
_HOMES = ("off", "auto")


def cases(places: int) -> Iterator[tuple[str, str]]:
    """Yield each kind of copy with the places it is planted at."""
    for turn, kind in enumerate(KINDS):
        yield from ((kind, PLACES[(turn + step) % len(PLACES)]) for step in range(1 if kind in INSIDE else places))


def attack(home: Recollectum, kind: str, place: str) -> bool:
    """Plant one copy of a memory, erase it, and return whether the receipt says done though the copy is still there."""
    vault = home.vault(_OWNER)
    (entry,) = home.admin.entries([Owner.parse(_OWNER)])
    text = f"the word is {secrets.token_hex(8)} and {secrets.token_hex(4)} comes after it"
    memory = vault.memories.save(text).id
    folder = home.home.root / place / f"planted-{secrets.token_hex(3)}"
    folder.mkdir(parents=True)
    ground = Ground(home=home, vault_id=entry.id, key=home.admin.key_of(entry), text=text, folder=folder)
    KINDS[kind](ground)
    # A whole backup has everybody's vaults, and those of others stay in it as they are.
    others = {f"{one.id}.db" for one in home.admin.entries() if one.id != entry.id} if kind == "backup" else set[str]()
    before = _files(folder, others)
    receipt = vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.memories(memory)).token)
    left = before & _files(folder, others)
    shutil.rmtree(folder.resolve(), ignore_errors=True)
    folder.unlink(missing_ok=True)
    if kind in INSIDE:
        _clean(ground)
    # The purge itself destroys backups in the folder of backups, and then it is right to say so.
    return receipt.state is PurgeState.DONE and (bool(left) or kind in INSIDE)


def _files(folder: Path, others: set[str]) -> set[tuple[Path, bytes]]:
    """Return the planted files with their content, apart from those of a backup that hold no memories of this owner."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {(path, path.read_bytes()) for path in found if path.name not in {*_WITHOUT_MEMORIES, *others}}


def _clean(ground: Ground) -> None:
    inside = connect(ground.vault, key=ground.key)
    inside.execute("DROP TABLE IF EXISTS stray")
    inside.execute("VACUUM")
    inside.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    inside.close()


def false_receipts(folder: Path, encryption: str, places: int) -> tuple[int, list[str]]:
    """Return how many copies were planted, and those with which a receipt said done."""
    planted, false = 0, list[str]()
    with Recollectum(folder / encryption, settings={"encryption": encryption, "storage.reserve_mib": 0}) as home:
        for owner in (_OWNER, "user:ben"):
            home.vault(owner).memories.save("this one stays for ever")
        for kind, place in cases(places):
            planted += 1
            if attack(home, kind, place):
                false.append(f"{kind} in {place or 'the home'} (encryption {encryption})")
        quiet = _undisturbed(home)
    return planted, [*false, *([] if quiet else [f"nothing was planted, and it is not done ({encryption})"])]


def _undisturbed(home: Recollectum) -> bool:
    """Return whether a purge without any copy says done; else the others would prove nothing."""
    vault = home.vault(_OWNER)
    memory = vault.memories.save(f"nobody copied {secrets.token_hex(8)}").id
    return vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.memories(memory)).token).state is (
        PurgeState.DONE
    )


def planted_copies(*, long: bool) -> Measured:
    """Plant copies of every kind in both kinds of home."""
    planted, false = 0, list[str]()
    with own_place() as folder:
        for encryption in _HOMES:
            count, wrong = false_receipts(folder, encryption, len(PLACES) if long else 1)
            planted, false = planted + count, [*false, *wrong]
    return Measured(f"{len(false)} false of {planted} planted{': ' if false else ''}{'; '.join(false)}", not false)


def main() -> None:
    """Print the number of false receipts; fail when there is one."""
    result = planted_copies(long=sized(full=True, small=False))
    print(result.said)
    if not result.met:
        sys.exit(1)
