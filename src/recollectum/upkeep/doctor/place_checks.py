"""Checks where a home lies: network file systems break SQLite's locks, and sync programs overwrite files in use."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from recollectum.home.paths import Home
from recollectum.upkeep.doctor.home_checks import HealthFinding, Severity, fine

_MOUNTS = Path("/proc/mounts")
_NETWORK = frozenset(
    [
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "gfs2",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
    ]
)
#: `fuseblk` is not among them: it is a local disk, such as one with NTFS.
_FUSE = re.compile(r"fuse(\..*)?")
#: A folder's name in lower case, or the beginning of it before a space, a dash or a bracket.
_SYNCED = {
    "dropbox": "Dropbox",
    "onedrive": "OneDrive",
    "icloud drive": "iCloud",
    "iclouddrive": "iCloud",
    "com~apple~clouddocs": "iCloud",
    "mobile documents": "iCloud",
    "google drive": "Google Drive",
    "googledrive": "Google Drive",
    "syncthing": "Syncthing",
    "nextcloud": "Nextcloud",
    "owncloud": "ownCloud",
}
#: What a sync program leaves in the folder it syncs, and whether that is a folder. Dropbox keeps a folder of that name
#: in every account's own folder, so only the file tells.
_MARKERS = (
    (".dropbox", False, "Dropbox"),
    (".dropbox.cache", True, "Dropbox"),
    (".stfolder", True, "Syncthing"),
    (".tmp.drivedownload", True, "Google Drive"),
    (".849C9593-D756-4E56-8D6E-42412F2A707B", False, "OneDrive"),
)
_OCTAL = re.compile(r"\\([0-7]{3})")
_CURE = (
    "move the home to a local disk and name it with RECOLLECTUM_HOME; to have a copy there, use: "
    "recollectum backup --to FOLDER"
)


def place(home: Home, mounts: Path = _MOUNTS) -> Iterator[HealthFinding]:
    """Check that the home is on a local disk, and in no folder that a program syncs."""
    root = home.root.resolve()
    kind, program = _file_system(root, mounts), _sync_program(root)
    remote = kind is not None and _is_remote(kind)
    if remote:
        words = f"{root} is on a network or user-space file system ({kind}), where locks and syncs may not work"
        yield HealthFinding(topic="place", severity=Severity.WARNING, words=words, cure=_CURE)
    if program is not None:
        words = f"{root} is in a folder of {program}, which may restore old files and damage vaults in use"
        yield HealthFinding(topic="place", severity=Severity.WARNING, words=words, cure=_CURE)
    if not remote and program is None:
        yield fine("place", f"the home is on a local disk ({kind})" if kind else "no sync program is known here")


def _is_remote(kind: str) -> bool:
    return kind in _NETWORK or _FUSE.fullmatch(kind) is not None


def _file_system(root: Path, mounts: Path) -> str | None:
    """Return the type of the file system that a folder is on; None where the system does not say."""
    if sys.platform == "win32":
        return "smb3" if root.drive.startswith("\\\\") else None
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    found: tuple[int, str] | None = None
    for line in lines:
        _, where, kind = (*line.split(" "), "", "", "")[:3]
        folder = Path(_OCTAL.sub(lambda code: chr(int(code[1], 8)), where))
        # The later of two mounts at one place is the visible one.
        if where and root.is_relative_to(folder) and (found is None or len(folder.parts) >= found[0]):
            found = len(folder.parts), kind
    return found[1] if found else None


def _sync_program(root: Path) -> str | None:
    """Return the program that syncs a folder or one above it, by its name or by what the program left in it."""
    for folder in (root, *root.parents):
        name = folder.name.casefold()
        known = _SYNCED.get(name) or _SYNCED.get(name.replace("(", "-").partition("-")[0].strip())
        if known is not None:
            return known
        for marker, is_folder, program in _MARKERS:
            found = folder / marker
            if found.is_dir() if is_folder else found.is_file():
                return program
    return None
