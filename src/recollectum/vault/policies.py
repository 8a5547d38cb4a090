"""Asks the policy rules of a home before each operation, and reloads them when their files change."""

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollectum.home.logs import Log
from recollectum.home.paths import Home
from recollectum.home.project import ProjectFolder

if TYPE_CHECKING:
    from recollectum.policy.rules.enforcement import ActiveRules


_FOLDER = "policies"
_EXTENSIONS = "extensions"
_REGISTER = "installed.json"
#: The minimum time between two checks of the files, in seconds.
_RELOAD_SECONDS = 1.0


class PolicyGate:
    """The policy rules of one open home, checked before every operation."""

    def __init__(
        self,
        home: Home,
        project: ProjectFolder | None,
        system: Path,
        cwd: Path,
        *,
        log: Log | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log = log or Log()
        self._home, self._project, self._system, self._cwd = home, project, system, cwd
        folders = (home.folder(_FOLDER), system / _FOLDER)
        self._folders = (*folders, project.folder(_FOLDER)) if project else folders
        self._now = now
        self._looked: float | None = None
        #: One value, replaced in one step: another thread sees either the old rules or the new ones.
        self._state: tuple[Fingerprints, ActiveRules | None] = ((), None)

    def check(self, tool: str, names: tuple[str, ...], arguments: Callable[[], dict[str, Any]]) -> None:
        """Allow an operation, or refuse it and name the rule that decided."""
        found = self._rules()
        # The shipped rules allow every operation, so without another file there is nothing to check.
        if found is not None:
            found.check(tool, names, arguments)

    def allows(self, tool: str, names: tuple[str, ...], arguments: Callable[[], dict[str, Any]]) -> bool:
        """Return whether an operation would be allowed; a refusal is not logged, because nobody asked for it."""
        found = self._rules()
        return found is None or found.allows(tool, names, arguments)

    def _rules(self) -> "ActiveRules | None":
        now = self._now()
        if self._looked is None or now - self._looked >= _RELOAD_SECONDS:
            self._look(now)
        return self._state[1]

    def _look(self, now: float) -> None:
        marks = fingerprint_files(self._folders) + fingerprint_extensions(self._home.folder(_EXTENSIONS))
        if marks != self._state[0]:
            self._state = (marks, self._load() if marks else None)
        self._looked = now

    def _load(self) -> "ActiveRules":
        # Imported only where there are rules: most homes have none, and reading them needs a parser.
        from recollectum.home.policies import load_policies  # noqa: PLC0415
        from recollectum.policy.rules.enforcement import ActiveRules  # noqa: PLC0415

        roots = (self._project.root if self._project else self._cwd,)
        return ActiveRules(load_policies(self._home, self._project, self._system), self._cwd, roots, self._tell)

    def _tell(self, tool: str, rule: str) -> None:
        self._log.info("policy.refused", {"operation": tool, **({"rule": rule} if rule else {})})


#: Each file with what changes when it is written: time, size and inode.
Fingerprints = tuple[tuple[str, int, int, int], ...]
#: Marks an unreadable folder, so that it is not taken for an empty one.
_CLOSED = (-1, -1, -1)


def fingerprint_files(folders: Iterable[Path]) -> Fingerprints:
    """Return the fingerprint of every policy file in the folders; empty when there is none."""
    return tuple(mark for folder in folders for mark in _fingerprint_folder(folder))


def fingerprint_extensions(folder: Path) -> Fingerprints:
    """Return the fingerprint of the register of extensions, and of what each says about rules; empty when none is."""
    try:
        with os.scandir(folder) as entries:
            found = list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError:
        return ((str(folder), *_CLOSED),)
    if _REGISTER not in {one.name for one in found}:
        # Nobody has agreed to any of them.
        return ()
    marks = [_fingerprint_entry(one) for one in found]
    for one in found:
        if one.is_dir(follow_symlinks=False) and not one.name.startswith("."):
            marks += _fingerprint_folder(Path(one.path, _FOLDER))
    return tuple(sorted(marks))


def _fingerprint_folder(folder: Path) -> list[tuple[str, int, int, int]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(
                _fingerprint_entry(one)
                for one in entries
                if one.name.endswith(".toml") and not one.name.startswith(".")
            )
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        return [(str(folder), *_CLOSED)]


def _fingerprint_entry(entry: "os.DirEntry[str]") -> tuple[str, int, int, int]:
    try:
        found = entry.stat()
    except OSError:
        # A broken link is a policy that cannot be read, and is reported when it is loaded.
        return (entry.path, *_CLOSED)
    return entry.path, found.st_mtime_ns, found.st_size, found.st_ino
