"""Records a vault at work, cuts its power at many points in many ways, and examines what each leaves."""

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import apsw

from recollectum.domain.errors import RecollectumError
from recollectum.storage.sqlite.database import SqliteOptions
from tests.crashes.consistency import disagreements
from tests.crashes.ledger import Intent, Ledger, look, lost, unexplained
from tests.crashes.medium import FATES, Image, Medium
from tests.crashes.recording import LAYER, Noted, Recording, recording_layer
from tests.crashes.scribe import Scribe
from tests.crashes.standing import standing

_FILE = "vault.db"
#: Pages in the log before it is moved into the file; small, so that it happens many times in a short run.
_CHECKPOINT = 40
_DIGEST = 16


@dataclass(slots=True)
class Verdict:
    """What the power cuts did."""

    states: int = 0
    #: States that differ from all others in what is on the medium or what was acknowledged.
    distinct: int = 0
    acknowledged: int = 0
    #: States in which something acknowledged is gone.
    lost: list[str] = field(default_factory=list[str])
    corrupt: list[str] = field(default_factory=list[str])
    half: list[str] = field(default_factory=list[str])

    def line(self) -> str:
        """The result in one line."""
        return (
            f"states {self.states} ({self.distinct} distinct), acknowledged {self.acknowledged}, "
            f"lost in {len(self.lost)}, corrupt {len(self.corrupt)}, half {len(self.half)}"
        )


def record(folder: Path, *, steps: int, seed: int, key: bytes | None, synchronous: str) -> Recording:
    """A vault made from nothing and written to, closed once in the middle, with everything that reached its files."""
    layer = recording_layer()
    layer.recording = recording = Recording()
    chance = random.Random(seed)
    ledger: Ledger | None = None
    for half in range(2):
        with standing(folder / _FILE, SqliteOptions(key=key, vfs=LAYER)) as at:
            at.database.on_connection(lambda connection: _tune(connection, synchronous))
            scribe = Scribe(at.vault, f"half{half}", chance, begin=recording.note, done=recording.note)
            ledger = scribe.ledger = ledger or scribe.ledger
            for _ in range(steps // 2):
                scribe.step()
    return recording


def _tune(connection: apsw.Connection, synchronous: str) -> None:
    connection.pragma("synchronous", synchronous)
    connection.pragma("wal_autocheckpoint", _CHECKPOINT)


def cut_power(recording: Recording, folder: Path, *, points: int, seed: int, key: bytes | None) -> Verdict:
    """Cut the power at `points` moments of the recording, each in every way there is, and open what is left."""
    chance = random.Random(seed)
    verdict = Verdict()
    known: dict[bytes, None] = {}
    for medium, ledger in _moments(recording, points, chance):
        verdict.acknowledged = ledger.acknowledged
        for fate in FATES:
            verdict.states += 1
            image = medium.image(fate, chance)
            mark = _mark(image, ledger)
            if mark not in known:
                known[mark] = None
                _examine(image, folder / "left", key, ledger, verdict)
    verdict.distinct = len(known)
    return verdict


def _moments(recording: Recording, points: int, chance: random.Random) -> Iterator[tuple[Medium, Ledger]]:
    entries = recording.entries
    chosen = set(chance.sample(range(len(entries)), min(points, len(entries))))
    medium, ledger = Medium(), Ledger()
    for at, entry in enumerate(entries):
        medium.take(entry)
        if isinstance(entry, Noted):
            _follow(ledger, entry.what)
        if at in chosen:
            yield medium, ledger


def _follow(ledger: Ledger, what: object) -> None:
    if isinstance(what, Intent):
        ledger.begin(what)
    else:
        ledger.done(str(what))


def _mark(image: Image, ledger: Ledger) -> bytes:
    digest = blake2b(f"{ledger.acknowledged} {ledger.begun}".encode(), digest_size=_DIGEST)
    for name, content in sorted(image.items()):
        digest.update(name.encode() + b"\0" + blake2b(content, digest_size=_DIGEST).digest())
    return digest.digest()


def _examine(image: Image, folder: Path, key: bytes | None, ledger: Ledger, verdict: Verdict) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in image.items():
        (folder / name).write_bytes(content)
    state = f"state {verdict.states}"
    try:
        with standing(folder / _FILE, SqliteOptions(key=key)) as at:
            found = disagreements(at.database)
            seen = at.database.read(look)
    except (RecollectumError, UnicodeDecodeError) as error:
        verdict.corrupt.append(f"{state}: {error}")
        return
    verdict.half += [f"{state}: {one}" for one in (*found, *unexplained([ledger], seen))]
    if gone := lost(ledger, seen):
        verdict.lost.append(f"{state}: {len(gone)} gone, such as {gone[0]}")
