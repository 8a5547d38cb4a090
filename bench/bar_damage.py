"""Measures files that were changed by others: torn lines, flipped bits, smashed pages, backups, old libraries."""

import io
import json
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

from bench.bar_row import Measured, own_place
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import StorageError
from recollectum.domain.message import Message
from recollectum.storage.sqlite.connection import PAGE_BYTES, check_version, connect
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, checkpoint
from recollectum.storage.tables.trail import seals
from recollectum.storage.times import micros
from recollectum.transfer import jsonl
from recollectum.upkeep.backup.repair import RepairResult, repair
from recollectum.upkeep.doctor.vault_checks import read_vault
from recollectum.upkeep.home_admin import HomeAdmin
from tests.crashes.homes import file_of
from tests.crashes.storming import storm
from tests.matrix.homes import START, Turning, open_home, quick_folder
from tests.transfer.conversations import sample
from tests.upkeep.homes import ANN, fill

_SEED = 20261115
_PAGE = PAGE_BYTES
_SECTOR = 512
_OWNER = Owner.parse(ANN)
#: What memories and messages look like in the file of an unencrypted vault.
_WORDS = re.compile(rb"number \d+ of the things to keep|message \d+ in the conversation|tea is drunk")
#: Their other fields: ids, keys, and times as SQLite writes them.
_REST = re.compile(rb"(?:mem|msg|ses)_[0-9a-z]{26}|tea|" + re.escape(micros(START).to_bytes(8, "big")), re.DOTALL)
_PAGES = "SELECT pageno FROM dbstat WHERE name IN (SELECT value FROM json_each(?))"

Reader = Callable[[list[bytes]], tuple[Message, ...]]


def _read(lines: list[bytes]) -> tuple[Message, ...]:
    return jsonl.read(lines).messages


def torn_lines(*, long: bool, read: Reader = _read) -> Measured:
    """Cut a transcript at every byte of its last three lines, and put sectors of zeros into it."""
    session, messages = sample()
    lines = list(jsonl.write(session, messages))
    data = b"".join(lines)
    first = len(b"".join(lines[:-3]))
    torn = [data[:cut] + end for cut in range(first, len(data)) for end in (b"", b"\n", b"\0" * 40)]
    torn += [data[:at] + bytes(_SECTOR) + data[at + _SECTOR :] for at in range(0, len(data), 8 if long else 64)]
    earlier = messages[: len(lines) - 4]
    lost = bad = 0
    for number, one in enumerate(torn):
        found = read(io.BytesIO(one).readlines())
        bad += any(message not in messages for message in found)
        # A sector may be anywhere, a cut only at the end.
        lost += number < 3 * (len(data) - first) and found[: len(earlier)] != earlier
    return Measured(f"{lost} earlier lines lost, {bad} bad accepted, {len(torn)} tears", lost == bad == 0)


def flipped_bits(*, long: bool, encryption: str = "auto", spoil: Callable[[Path], object] = Path.exists) -> Measured:
    """Flip single bits anywhere in a vault, and in the memories of a plain one, and read it completely.

    `spoil` may remove something from the plain vault first.
    """
    flips = 1000 if long else 60
    chance = random.Random(_SEED)
    with own_place(), quick_folder() as one, quick_folder() as other:
        path = _filled(one, encryption, 200)
        _without_empty_pages(one, path, encryption)
        size = path.stat().st_size * 8
        noticed = _noticed(one, path, encryption, [chance.randrange(size) for _ in range(flips)])
        false = len(_faults(one, encryption))
        plain = _filled(other, "off", 200)
        _without_empty_pages(other, plain, "off")
        spoil(plain)
        false += len(_faults(other, "off"))
        in_words, in_rest = (
            _noticed(other, plain, "off", [8 * chance.choice(places) + chance.randrange(8) for _ in range(flips)])
            for places in (_places(plain, _WORDS), _places(plain, _REST))
        )
    said = (
        f"{noticed} of {flips} noticed, {false} false alarms; in a plain vault {in_words} of {flips} in words, "
        f"{in_rest} of {flips} in ids, keys and times"
    )
    return Measured(said, noticed == in_words == in_rest == flips and false == 0)


def _noticed(folder: Path, path: Path, encryption: str, bits: list[int]) -> int:
    whole, seen = path.read_bytes(), 0
    for bit in bits:
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        seen += bool(_faults(folder, encryption))
    path.write_bytes(whole)
    return seen


def _without_empty_pages(folder: Path, path: Path, encryption: str) -> None:
    """Remove empty pages: nobody reads them, and a flipped bit there changes nothing."""
    with open_home(folder, Turning(), encryption=encryption) as home:
        (entry,) = home.admin.entries([_OWNER])
        database = SqliteDatabase(path, SqliteOptions(key=home.admin.key_of(entry)))
        database.on_connection(lambda connection: connection.execute("VACUUM").fetchall())
        database.close()


def unsealed(path: Path) -> None:
    """Remove the seals of a vault, as if it had been written without them."""
    database = SqliteDatabase(path, SqliteOptions())
    database.write(seals.clear)
    database.on_connection(checkpoint)
    database.close()


def _places(path: Path, pattern: re.Pattern[bytes]) -> list[int]:
    """Return the offsets in the pages of memories and messages; derived data can be rebuilt."""
    connection = connect(path)
    pages = {int(number) for (number,) in connection.execute(_PAGES, (json.dumps(list(seals.SOURCES)),))}
    connection.close()
    found = pattern.finditer(path.read_bytes())
    return [at for one in found for at in range(*one.span()) if at // _PAGE + 1 in pages]


def smashed_pages(*, long: bool, mend: Callable[[HomeAdmin, Owner], RepairResult] = repair) -> Measured:
    """Overwrite one page in a hundred with garbage; measure the rows that a repair saves, and its time.

    The time is the CPU time of the fastest round; in a long run it is compared with the memories alone, which are less
    than half of the rows.
    """
    rows, rounds = (20_000, 5) if long else (4000, 3)
    saved = kept = wrong = 0
    by_memory: list[float] = []
    by_row: list[float] = []
    for number in range(rounds):
        with own_place(), quick_folder() as folder:
            path = _filled(folder, "auto", rows)
            texts = _texts(folder)
            _smash(path, random.Random(_SEED + number))
            with open_home(folder, Turning(), encryption="auto") as home:
                began = time.process_time()
                done = mend(home.admin, _OWNER)
                took = time.process_time() - began
            by_memory.append(took * 100_000 / rows)
            by_row.append(took * 100_000 / done.saved)
            after = _texts(folder)
            wrong += len(after - texts)
            saved, kept = saved + len(after & texts), kept + len(texts)
    said = (
        f"{saved / kept:.1%} of rows saved, {wrong} wrong, {min(by_row):.1f} s for each 100,000 rows, "
        f"{min(by_memory):.1f} s for each 100,000 memories"
    )
    return Measured(said, saved >= 0.98 * kept and wrong == 0 and min(by_memory if long else by_row) <= 5)


def _filled(folder: Path, encryption: str, count: int) -> Path:
    with open_home(folder, Turning(), encryption=encryption) as home:
        fill(home.vault(ANN), count)
        path = file_of(home, ANN)
    assert path
    return path


def _faults(folder: Path, encryption: str) -> tuple[str, ...]:
    with open_home(folder, Turning(), encryption=encryption) as home:
        (entry,) = home.admin.entries([_OWNER])
        return read_vault(home.admin, entry).faults


def _texts(folder: Path) -> set[str]:
    found: set[str] = set()
    before: str | None = None
    with open_home(folder, Turning(), encryption="auto") as home:
        while page := home.vault(ANN).memories.list(cursor=before, limit=500):
            found |= {memory.content for memory in page}
            before = page[-1].id
    return found


def _smash(path: Path, chance: random.Random) -> None:
    raw = bytearray(path.read_bytes())
    pages = len(raw) // _PAGE
    # Not the first page: without it the others cannot be read, and a backup is needed.
    for page in chance.sample(range(1, pages), max(1, pages // 100)):
        raw[page * _PAGE : (page + 1) * _PAGE] = chance.randbytes(_PAGE)
    path.write_bytes(raw)


def backups(*, long: bool) -> Measured:
    """Make backups during heavy writes; restore each and compare it with what was acknowledged before it."""
    with own_place() as folder:
        result = storm(folder, backups=100 if long else 3)
    right = result.backups - len(result.wrong)
    said = f"{right} of {result.backups} restore and are right, {result.meanwhile} rows written meanwhile"
    return Measured(said, not result.wrong and result.meanwhile > 0)


def old_library(*, long: bool, check: Callable[[str], None] = check_version) -> Measured:
    """Check for versions of SQLite that are known to damage files, and for the settings of a connection."""
    old = ["3.40.1", "3.46.0", "3.50.4", "3.51.2"] if long else ["3.46.0", "3.51.2"]
    accepted = sum(_accepts(check, version) for version in old)
    with own_place() as folder:
        connection = connect(folder / "vault.db")
        options = [connection.pragma(name) for name in ("synchronous", "secure_delete", "temp_store", "foreign_keys")]
        connection.close()
    safe = options == [2, 1, 2, 1]
    return Measured(
        f"{accepted} of {len(old)} old ones accepted, options {'set' if safe else options}", not accepted and safe
    )


def _accepts(check: Callable[[str], None], version: str) -> bool:
    try:
        check(version)
    except StorageError:
        return False
    return True
