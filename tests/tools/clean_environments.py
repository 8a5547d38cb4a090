"""Virtual environments with nothing but what a person installs in them, made from distributions that were built."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

#: What a test has moved or set; as it was before, for those that name folders of the account.
_MOVED = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "PYTHONPATH", "VIRTUAL_ENV")
_ACCOUNT = {name: os.environ[name] for name in _MOVED[:4] if name in os.environ}


@dataclass(frozen=True, slots=True)
class CleanEnvironment:
    """A virtual environment in a folder, and the folder with our distributions."""

    folder: Path
    dist: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def install(self, *words: str) -> None:
        """Run `pip install` for it, with our distributions beside the registry that this account uses."""
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "install", "--quiet", "--no-compile"]
        line = [*pip, "--disable-pip-version-check", "--find-links", str(self.dist), *words]
        done = subprocess.run(line, env=_registry_environ(), capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stderr[-2000:]

    def run(self, *line: str, **environ: str) -> "subprocess.CompletedProcess[str]":
        """Run one of its programs, as a person does who has activated it."""
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if name != "RECOLLECTUM_EMBEDDING__PROVIDER"}
        given = {**kept, "PATH": path, "VIRTUAL_ENV": str(self.folder), **environ}
        program = str(self.folder / "bin" / line[0])
        return subprocess.run([program, *line[1:]], env=given, capture_output=True, text=True, check=False, timeout=120)


def make_environment(folder: Path, dist: Path, python: str = sys.executable) -> CleanEnvironment:
    """An empty environment of an interpreter. It has no pip of its own, which would take seconds to unpack."""
    subprocess.run([python, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120)
    return CleanEnvironment(folder, dist)


def _registry_environ() -> dict[str, str]:
    """The environment of the account itself: pip finds its settings and its cache in the account's folders.

    A test has folders of its own, and a guard against network sockets, which pip needs here.
    """
    kept = {name: value for name, value in os.environ.items() if name not in _MOVED}
    return {**kept, **_ACCOUNT}
