"""Puts the extensions of a home into a backup, and back: one tar file, proven by the digests that were agreed to."""

import os
import shutil
import tarfile
from pathlib import Path

from recollectum.domain.errors import Damaged
from recollectum.home.extensions.register import FOLDER, agreed_files, read_register, register_lock
from recollectum.home.files import PRIVATE_FILE, PRIVATE_FOLDER, explain, make_private_folder, sync_file, sync_folder
from recollectum.home.paths import Home

NAME = "extensions.tar"


def pack_extensions(home: Home, target: Path) -> bool:
    """Copy the extensions that were agreed to into a tar file; False when there are none."""
    with register_lock(home):
        found = agreed_files(home)
        if not found:
            return False
        with os.fdopen(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE_FILE), "w+b") as file:
            with tarfile.open(fileobj=file, mode="w") as archive:
                for name, path in found:
                    archive.add(path, name)
            file.flush()
            sync_file(file.fileno())
    return True


def unpack_extensions(archive: Path, room: Path) -> Path:
    """Unpack the extensions of a backup into a folder of `room`; raise when the tar file cannot be used."""
    staged = room / FOLDER
    make_private_folder(staged)
    try:
        with tarfile.open(archive, mode="r:") as tar:
            # The filter refuses entries that would leave the folder: links, devices and parent paths.
            tar.extractall(staged, filter="data")
        for parent, folders, files in os.walk(staged):
            for name in folders:
                Path(parent, name).chmod(PRIVATE_FOLDER)
            for name in files:
                path = Path(parent, name)
                path.chmod(path.stat().st_mode & PRIVATE_FOLDER)
            sync_folder(Path(parent))
        read_register(Home(room))
    except (tarfile.TarError, ValueError, Damaged):
        raise Damaged(f"{archive.name} of the backup cannot be unpacked; use another backup") from None
    except OSError as error:
        raise explain(error, staged) from error
    return staged


def put_extensions(home: Home, staged: Path, aside: Path) -> list[Path]:
    """Give a home the extensions of a backup; return where its previous ones are kept."""
    place = home.folder(FOLDER)
    kept: list[Path] = []
    with register_lock(home):
        if is_in_the_way(home):
            make_private_folder(aside)
            kept.append(place.rename(aside / FOLDER))
        else:
            shutil.rmtree(place, ignore_errors=True)
        staged.rename(place)
        sync_folder(home.root)
    return kept


def is_in_the_way(home: Home) -> bool:
    """Return whether a home has extensions that a restore would replace."""
    place = home.folder(FOLDER)
    return place.is_dir() and any(place.iterdir())
