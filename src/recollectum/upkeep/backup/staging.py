"""Stages a backup in a temporary folder and verifies its digests and schema."""

import shutil
import stat
import tarfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from recollectum.domain.errors import Damaged, NotFound, SchemaNewer
from recollectum.home.files import PRIVATE_FILE, explain, make_private_folder
from recollectum.storage.copies import newest_schema
from recollectum.upkeep.backup import manifest_file
from recollectum.upkeep.backup.manifest_file import NAME, Manifest, digest


def check_is_backup(path: Path) -> None:
    """Raise when the path cannot be a backup, before anything is created."""
    if path.is_dir():
        read_manifest(path)
    elif not path.exists():
        raise NotFound(f"there is no backup at {path}; name the folder or the file that `recollectum backup` made")
    elif not path.is_file() or not tarfile.is_tarfile(path):
        raise Damaged(f"{path} cannot be unpacked as a backup; use another backup")


@contextmanager
def opened_backup(path: Path, room: Path) -> Generator[Path]:
    """Yield the folder of a backup; a backup file is unpacked into `room` while the block runs."""
    if path.is_dir():
        yield path
        return
    check_is_backup(path)
    unpacked = room / "unpacked"
    try:
        make_private_folder(unpacked)
        yield _unpack(path, unpacked)
    finally:
        shutil.rmtree(unpacked, ignore_errors=True)


def stage(folder: Path, room: Path, manifest: Manifest) -> None:
    """Copy the files of a backup into `room`; raise for a file whose digest differs."""
    try:
        make_private_folder(room / "vaults")
        for part in (*manifest.parts, *manifest.archives):
            source, target = folder / part.file, room / part.file
            # Before it is copied: a link to a device would never end.
            found = source.stat()
            whole = stat.S_ISREG(found.st_mode) and found.st_size == part.bytes
            if whole:
                shutil.copyfile(source, target)
                target.chmod(PRIVATE_FILE)
            if not whole or target.stat().st_size != part.bytes or digest(target) != part.sha256:
                raise Damaged(f"{source} is not what was backed up; use another backup")
    except FileNotFoundError as error:
        raise Damaged(f"{error.filename} is missing from the backup; use another backup") from error
    except OSError as error:
        raise explain(error, room) from error


def check_schema(folder: Path, manifest: Manifest) -> None:
    """Raise for a backup of a newer program."""
    for part in manifest.parts:
        newest = newest_schema(part.vault_id)
        if part.schema > newest:
            raise SchemaNewer(
                f"{folder / part.file} was written by a newer Recollectum (schema {part.schema}, this one knows "
                f"{newest}); upgrade the program"
            )


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a backup that this program can restore."""
    manifest = manifest_file.read(folder)
    check_schema(folder, manifest)
    return manifest


def _unpack(archive: Path, room: Path) -> Path:
    try:
        with tarfile.open(archive, mode="r:") as tar:
            # The filter refuses entries that would leave the folder: links, devices and parent paths.
            tar.extractall(room, filter="data")
    except tarfile.TarError:
        raise Damaged(f"{archive} cannot be unpacked as a backup; use another backup") from None
    except OSError as error:
        raise explain(error, room) from error
    found = sorted(room.glob(f"*/{NAME}"))
    if len(found) != 1:
        raise NotFound(f"{archive} is not a backup: it has no {NAME}; name the file that `recollectum backup` made")
    return found[0].parent
