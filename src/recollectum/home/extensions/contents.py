"""Looks at the folder of an extension: its files with their digests, what it brings, and what changed in it."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from recollectum.domain.errors import InvalidInput
from recollectum.domain.files.extension import ExtensionManifest
from recollectum.domain.records import dataclass
from recollectum.home.extensions.manifest import read_manifest
from recollectum.home.extensions.unpacking import MAX_BYTES, MAX_FILES
from recollectum.home.files import open_regular

#: The folders that an extension may have, of which agents read each entry.
HANDED = ("commands", "skills", "agents")
POLICIES = "policies"
SETTINGS = "settings.toml"
#: What Gemini CLI would run; here it has no effect.
_UNUSED = ("hooks",)
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionContents:
    """What a folder brings."""

    manifest: ExtensionManifest
    #: The SHA-256 of each file, by its path.
    files: Mapping[str, str]
    bytes: int

    @property
    def token(self) -> str:
        """A digest of all files, which names exactly these."""
        lines = "".join(f"{self.files[name]} {name}\n" for name in sorted(self.files))
        return hashlib.sha256(lines.encode()).hexdigest()

    @property
    def policies(self) -> tuple[str, ...]:
        """The files with rules."""
        return tuple(name for name in sorted(self.files) if is_policy(name))

    @property
    def context_files(self) -> tuple[str, ...]:
        """The files with text for the context of agents that are there."""
        return tuple(name for name in self.manifest.context_files if name in self.files)

    @property
    def ignored(self) -> tuple[str, ...]:
        """What has no effect here."""
        folders = (f"{one}/" for one in _UNUSED if any(name.startswith(f"{one}/") for name in self.files))
        return (*self.manifest.ignored, *folders)

    def entries(self, folder: str) -> tuple[str, ...]:
        """Return the names of what one of the handed folders has in it."""
        inside = (name.split("/") for name in self.files if name.startswith(f"{folder}/"))
        return tuple(sorted({parts[1] for parts in inside if not parts[1].startswith(".")}))


def is_policy(name: str) -> bool:
    """Return whether a file of an extension holds rules."""
    folder, _, file = name.rpartition("/")
    return folder == POLICIES and file.endswith(".toml") and not file.startswith(".")


def read_contents(folder: Path, source: Path | None = None) -> ExtensionContents:
    """Return what a folder brings; raise when its manifest cannot be used, or a file is not a plain one.

    `source` is where the files of a staging folder came from, for a message.
    """
    manifest = read_manifest(folder, source)
    files: dict[str, str] = {}
    size = 0
    for name, path in walk_files(folder):
        files[name], count = digest_file(path)
        size += count
        if len(files) > MAX_FILES or size > MAX_BYTES:
            raise InvalidInput(
                f"{source or folder} has more than {MAX_FILES:,} files or {MAX_BYTES:,} bytes; leave some out"
            )
    missing = [name for name in manifest.context_files if name not in files]
    # Gemini CLI names a file that few extensions have.
    if missing and manifest.file != "gemini-extension.json":
        raise InvalidInput(f"{manifest.file}: contextFileName names {missing[0]!r}, which is not there; add that file")
    return ExtensionContents(manifest=manifest, files=files, bytes=size)


def walk_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield each file below a folder with its path in it; raise for a link or a special file."""
    for parent, folders, files in os.walk(folder, onerror=_unreadable):
        folders.sort()
        for name in (*folders, *sorted(files)):
            path = Path(parent, name)
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode):
                yield path.relative_to(folder).as_posix(), path
            elif not stat.S_ISDIR(mode):
                raise InvalidInput(f"{path} is a link or a special file; put a plain file in its place")


def _unreadable(error: OSError) -> None:
    raise InvalidInput(f"{error.filename} cannot be read ({error.strerror}); correct its owner or mode")


def digest_file(path: Path) -> tuple[str, int]:
    """Return the SHA-256 and the size of a file."""
    found, size = hashlib.sha256(), 0
    try:
        with open_regular(path) as file:
            while block := file.read(_BLOCK):
                found.update(block)
                size += len(block)
                if size > MAX_BYTES:
                    raise InvalidInput(f"{path} has more than {MAX_BYTES:,} bytes; an extension is smaller")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror}); correct its owner or mode") from None
    return found.hexdigest(), size


def changed_files(
    folder: Path, agreed: Mapping[str, str], wanted: Callable[[str], bool] = lambda _: True
) -> tuple[str, ...]:
    """Return the wanted files that differ from what was agreed to, are missing, or were added."""
    if not folder.is_dir() or folder.is_symlink():
        return tuple(sorted(filter(wanted, agreed)))
    found: dict[str, str] = {}
    odd: set[str] = set()
    try:
        for name, path in walk_files(folder):
            if wanted(name):
                found[name] = digest_file(path)[0] if name in agreed else ""
    except InvalidInput as error:
        odd.add(str(error))
    names = {*filter(wanted, agreed), *found}
    return tuple(sorted({name for name in names if found.get(name) != agreed.get(name)} | odd))
