"""Names the command that adds a package to the environment in which this program is installed."""

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from recollectum.domain.records import dataclass

#: Files that these programs leave in each environment that they make.
_UV_TOOL, _PIPX = "uv-receipt.toml", "pipx_metadata.json"


@dataclass(frozen=True, slots=True)
class ProgramEnvironment:
    """The environment of a program: its folder, its interpreter, and whether the interpreter has pip."""

    prefix: Path
    python: Path
    has_pip: bool
    environ: Mapping[str, str]

    def install_command(self, *wanted: str) -> str:
        """Return the command that adds extras of Recollectum (`recollectum[local]`) or other packages."""
        if not (self.prefix / _UV_TOOL).exists():
            return self.pip_command(*wanted)
        # uv makes the environment of a tool anew from what this line names, so the line names every extra.
        others = [word for name in wanted if not name.startswith("recollectum[") for word in ("--with", name)]
        return _line(["uv", "tool", "install", "recollectum[all]", *others])

    def pip_command(self, *words: str) -> str:
        """Return the line that gives `pip install` these words in this environment."""
        if (self.prefix / _PIPX).exists():
            return _line(["pipx", "runpip", "recollectum", "install", *words])
        if not self.has_pip:
            return _line(["uv", "pip", "install", "--python", str(self.python), *words])
        if self._is_active():
            return _line(["pip", "install", *words])
        return _line([str(self.python), "-m", "pip", "install", *words])

    def _is_active(self) -> bool:
        """Return whether the `pip` that a person types is the one of this environment."""
        if self.environ.get("VIRTUAL_ENV") == str(self.prefix):
            return True
        import shutil  # noqa: PLC0415 - slow to import, and only a missing package needs it

        found = shutil.which("pip", path=self.environ.get("PATH"))
        return found is not None and Path(found).parent == self.python.parent


def this_environment() -> ProgramEnvironment:
    """Return the environment in which this process runs."""
    return ProgramEnvironment(
        prefix=Path(sys.prefix), python=Path(sys.executable), has_pip=find_spec("pip") is not None, environ=os.environ
    )


def install_command(*wanted: str) -> str:
    """Return the command that adds extras or packages to the environment of this process."""
    return this_environment().install_command(*wanted)


def pip_command(*words: str) -> str:
    """Return the line that gives `pip install` these words in the environment of this process."""
    return this_environment().pip_command(*words)


def _line(words: list[str]) -> str:
    # Imported here: they are slow to import, and only a missing package needs them.
    import shlex  # noqa: PLC0415
    import subprocess  # noqa: PLC0415

    # The shells of Windows take no single quotes.
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
