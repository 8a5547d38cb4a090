"""Measures paths: names that would lead out of a home, and links in a home or a folder of notes that do."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from bench.bar_row import Measured, own_place
from recollectum import Recollectum
from recollectum.domain.errors import RecollectumError
from recollectum.home.paths import Home
from recollectum.storage.sqlite.files import HomeFiles
from tests.matrix.homes import Turning, open_home

_STEPS = (
    *("../", "..\\", "/", "//", "....//", "%2e%2e%2f", "..%c0%af", "\u2025/", "\uff0e\uff0e/", "..;/", "\0../", "~/"),
    *("C:\\", "\\\\host\\", "file:///", "./../", "\u202e../", "%252e%252e%252f", "..\u2215", "..\uff0f"),
    # Characters that look like a dot or a slash, or become one by normalisation.
    *("\u2024\u2024/", "..\u2044", "..\u29f8", "\ufe52\ufe52/", "..\ufe68", "..\u005c\u200b", "\u00b7\u00b7/"),
)
_ENDS = ("evil", "evil\0.db", "etc/passwd")
#: Names that Windows takes for a device, in any folder and with any extension.
_DEVICES = (
    *("CON", "PRN", "AUX", "NUL", "COM1", "COM9", "LPT1", "CONIN$", "CONOUT$", "CLOCK$", "nul.db", "con.txt"),
    *("aux ", "prn.", "COM\u00b9", "lpt1:", "\\\\.\\C:", "\\\\?\\UNC\\host", "vault.db::$DATA", "GLOBALROOT"),
)
_WORD = "precious"

Write = Callable[[Path, str], None]
#: Replaces a file by one that lies elsewhere.
Link = Callable[[Path, Path], None]


def _link(at: Path, to: Path) -> None:
    at.unlink(missing_ok=True)
    at.symlink_to(to, target_is_directory=to.is_dir())


def paths(*, long: bool, write: Write = lambda _, __: None, link: Link = _link) -> Measured:
    """Count files outside that were created, changed or read, by names and by links."""
    depths = (1, 2, 6) if long else (2,)
    names = [*(step * depth + end for step in _STEPS for depth in depths for end in _ENDS), *_DEVICES]
    inside, escapes = _by_names(names, write)
    read = [where for where, found in _through_notes(link) if found]
    changed, links = _through_home(link)
    said = (
        f"{escapes} files outside and {len(names) - inside} paths outside of {len(names)} names; "
        f"{len(read)} of {len(_NOTES)} links in notes read, {changed} of {links} links in a home written through"
    )
    whole = escapes == 0 and inside == len(names) >= 40
    return Measured(said, whole and not read and changed == 0 and links >= 3)


def _by_names(names: list[str], write: Write) -> tuple[int, int]:
    inside = 0
    with own_place() as folder:
        root = folder / "a" / "b" / "c"
        with open_home(root, Turning()) as home:
            before = _outside(folder, root)
            for name in names:
                for use in (
                    lambda n=name: home.vault(f"user:{n}").memories.save("x"),
                    lambda n=name: home.vault("user:ann").sessions.open(channel=n, agent=n).add("user", "x"),
                    lambda n=name: home.home.folder(n),
                ):
                    with suppress(RecollectumError):
                        use()
                write(root, name)
                inside += _is_inside(home.home, name)
        return inside, len(_outside(folder, root) ^ before)


def _outside(folder: Path, root: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if root != path and root not in path.parents}


def _is_inside(home: Home, name: str) -> bool:
    try:
        return HomeFiles(home).vault(name).resolve().is_relative_to(home.vaults.resolve())
    except RecollectumError:
        return True


#: Where a link is in a folder of notes, and its target.
_NOTES = (
    ("link.md", "outside/secret.md"),
    ("folder", "outside"),
    ("sub/link.md", "outside/secret.md"),
    ("sub/folder", "outside"),
    ("twice.md", "notes/link.md"),
    ("up", "."),
)


def _through_notes(link: Link) -> list[tuple[str, bool]]:
    """Return for each link in a folder of notes whether recall finds its target's text."""
    with own_place() as folder:
        for name in ("outside", "notes/sub"):
            (folder / name).mkdir(parents=True)
        (folder / "outside" / "secret.md").write_text(f"# {_WORD}\n\n{_WORD} words", encoding="utf-8")
        (folder / "notes" / "own.md").write_text("# own\n\nwhat is mine", encoding="utf-8")
        found: list[tuple[str, bool]] = []
        with open_home(folder / "place", Turning()) as home:
            vault = home.vault("user:ann")
            vault.admin.notes.add_folder(folder / "notes")
            for at, to in _NOTES:
                link(folder / "notes" / at, folder / to)
                vault.admin.notes.sync()
                found.append((at, any(_WORD in hit.text for hit in vault.recall(_WORD))))
            assert vault.recall("mine"), "the folder is not read at all"
        return found


def _through_home(link: Link) -> tuple[int, int]:
    """Return how many files outside are changed when each small file of a home is a link, and how many links."""
    with own_place() as folder:
        settings = {"log.level": "debug", "storage.reserve_mib": 1}
        _use(folder / "home", settings)
        # SQLite opens databases, and an attacker who can plant a link could plant another database as well.
        files = [path for path in (folder / "home").rglob("*") if path.is_file() and not _is_database(path)]
        changed = 0
        for number, path in enumerate(files):
            outside = folder / f"outside{number}"
            outside.write_text(_WORD, encoding="utf-8")
            before, kept = outside.stat(), path.read_bytes()
            link(path, outside)
            with suppress(RecollectumError, OSError):
                _use(folder / "home", settings)
            after = outside.stat()
            changed += outside.read_text(encoding="utf-8") != _WORD or before.st_mode != after.st_mode
            # Replacing the link by a file does no harm.
            path.unlink(missing_ok=True)
            path.write_bytes(kept)
            path.chmod(0o600)
        return changed, len(files)


def _use(root: Path, settings: Mapping[str, object]) -> None:
    with Recollectum(root, settings=settings) as home:
        home.vault("user:ann").memories.save("something to keep")
        home.vault("user:ann").recall("keep")


def _is_database(path: Path) -> bool:
    return ".db" in path.name
