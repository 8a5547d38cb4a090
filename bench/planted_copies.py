"""Plants copies of what is about to be erased, each in another form: an attack on the receipts of a purge."""

import bz2
import gzip
import io
import json
import lzma
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from recollectum import Recollectum
from recollectum.recall.index.chunk_terms import chunk_terms
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.upkeep import SqliteUpkeep
from recollectum.upkeep.backup.backup import back_up

#: Where a copy is planted, from the home.
PLACES = ("", "vaults", "backups", "copies/old", "owners")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The home, a file that holds what is about to be erased, and where to put a copy of it."""

    home: Recollectum
    vault_id: str
    key: bytes | None
    text: str
    folder: Path

    @property
    def vault(self) -> Path:
        """The file of the vault."""
        return self.home.home.vaults / f"{self.vault_id}.db"

    def content(self) -> bytes:
        """Return a copy of the vault, encrypted as it is; made by SQLite, because the file is in use."""
        made = self.folder / "made"
        (made / "vaults").mkdir(parents=True)
        upkeep = SqliteUpkeep(self.home.home, self.home.admin.clock)
        upkeep.copy_vault(made, self.vault_id, self.key, chunk_terms, lambda _: None)
        data = (made / "vaults" / self.vault.name).read_bytes()
        shutil.rmtree(made)
        return data


Plant = Callable[[Ground], object]


def _file(name: str, wrap: Callable[[bytes], bytes] = lambda data: data) -> Plant:
    return lambda ground: (ground.folder / name).write_bytes(wrap(ground.content()))


def _words(name: str, spell: Callable[[str], bytes]) -> Plant:
    return lambda ground: (ground.folder / name).write_bytes(spell(ground.text))


def _tar(pack: Callable[[bytes], bytes] = lambda data: data) -> Callable[[bytes], bytes]:
    def wrap(data: bytes) -> bytes:
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w") as tar:
            entry = tarfile.TarInfo("home/some.db")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
        return pack(made.getvalue())

    return wrap


def _zip(data: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("some.db", data)
    return made.getvalue()


def _encrypted(data: bytes) -> bytes:
    return AESGCM(os.urandom(32)).encrypt(os.urandom(12), data, None)


def _decrypted(ground: Ground) -> None:
    """Write a readable copy of the vault, as an export of another tool would be."""
    source, target = connect(ground.vault, key=ground.key), ground.folder / "readable.sqlite"
    made = connect(target)
    made.execute("CREATE TABLE said (words TEXT)")
    made.executemany("INSERT INTO said VALUES (?)", source.execute("SELECT content FROM memories").fetchall())
    made.close()
    source.close()


def _other_key(ground: Ground) -> None:
    made = connect(ground.folder / "foreign.db", key=os.urandom(32))
    made.execute("CREATE TABLE said (words TEXT)")
    made.execute("INSERT INTO said VALUES (?)", (ground.text,))
    made.close()


def _stray_table(ground: Ground) -> None:
    inside = connect(ground.vault, key=ground.key)
    inside.execute("CREATE TABLE stray (words TEXT)")
    inside.execute("INSERT INTO stray VALUES (?)", (ground.text,))
    inside.close()


def _free_pages(ground: Ground) -> None:
    """Leave the words on pages of the vault that no table uses any more."""
    inside = connect(ground.vault, key=ground.key)
    inside.pragma("secure_delete", "off")
    inside.execute("CREATE TABLE stray (words TEXT)")
    inside.executemany("INSERT INTO stray VALUES (?)", [(f"{ground.text} {number}",) for number in range(400)])
    inside.execute("DROP TABLE stray")
    inside.close()


def _log(ground: Ground) -> None:
    """Keep a copy of a log, as of a home that was copied while it was in use."""
    inside = connect(ground.folder / "x.db", key=ground.key)
    inside.execute("CREATE TABLE said (words TEXT)")
    inside.execute("INSERT INTO said VALUES (?)", (ground.text,))
    log = (ground.folder / "x.db-wal").read_bytes()
    inside.close()
    for left in ground.folder.glob("x.db*"):
        left.unlink()
    (ground.folder / "old-wal").write_bytes(log)


def _disguised(ground: Ground) -> None:
    """Put a copy where a backup has another owner's vault, under the name of that vault or of none."""
    others = [one.id for one in ground.home.admin.entries() if one.id != ground.vault_id]
    folder = ground.home.home.backups / ground.folder.name / "vaults"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{others[0]}.db" if others and ground.key else "vlt_00000000000000000000000000.db"
    data = ground.content()
    if ground.folder != folder.parent:
        ground.folder.rmdir()
        ground.folder.symlink_to(folder.parent)
    (folder / name).write_bytes(data)


def _damaged(data: bytes) -> bytes:
    return data[:4096] + os.urandom(4096) + data[8192:]


#: By name; the last ones cannot be read by anybody here, so that they must be named.
KINDS: dict[str, Plant] = {
    "copy of the file": _file("vault.db.bak"),
    "copy without an ending": _file("old"),
    "tar": _file("a.tar", _tar()),
    "tar.gz": _file("a.tar.gz", _tar(gzip.compress)),
    "tar.xz": _file("a.txz", _tar(lzma.compress)),
    "tar.bz2": _file("a.tbz", _tar(bz2.compress)),
    "gzip": _file("a.db.gz", gzip.compress),
    "bzip2": _file("a.db.bz2", bz2.compress),
    "xz": _file("a.db.xz", lzma.compress),
    "zip": _file("a.zip", _zip),
    "zip in tar.gz": _file("a.tgz", lambda data: _tar(gzip.compress)(_zip(data))),
    "disguised copy": _disguised,
    "damaged copy": _file("damaged.db", _damaged),
    "backup": lambda ground: back_up(ground.home.admin, to=ground.folder / "set"),
    "backup in one file": lambda ground: back_up(ground.home.admin, to=ground.folder / "set.tar"),
    "readable copy": _decrypted,
    "stray table": _stray_table,
    "free pages": _free_pages,
    "log": _log,
    "text": _words("notes.txt", str.encode),
    "UTF-16": _words("notes.utf16", lambda text: text.encode("utf-16-le")),
    "JSON": _words("export.json", lambda text: json.dumps({"said": text}).encode()),
    "packed log": _words("app.log.gz", lambda text: gzip.compress(text.encode())),
    "truncated gzip": _file("cut.gz", lambda data: gzip.compress(data)[:-4000]),
    "other key": _other_key,
    "encrypted by another tool": _file("secret.bin", _encrypted),
    "7z": _file("a.7z", lambda data: b"7z\xbc\xaf\x27\x1c" + lzma.compress(data)),
}
#: Kinds that are inside the vault, and have no place.
INSIDE = ("stray table", "free pages")
