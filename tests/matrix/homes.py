"""Homes for tests: quick to open, plain to read, with a clock that the test turns."""

import shutil
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.ids import Clock
from recollectum.models.embedding.port import Embedder
from recollectum.models.language.port import LanguageModel
from recollectum.models.search import SearchModels
from tests.plugins.engines import SQLITE, copy_databases, current_engine

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
#: A step that a vault believes at once.
STRIDE = timedelta(days=30)


class Turning:
    """A clock that shows what it was set to."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """The time it was set to."""
        return self.now

    def turn(self, by: timedelta) -> None:
        """Set it ahead, or back."""
        self.now += by


def open_home(
    folder: Path,
    clock: Clock,
    *,
    settings: Mapping[str, object] | None = None,
    api_key: str | None = None,
    encryption: str = "off",
    embedder: Embedder | SearchModels | None = None,
    language_model: LanguageModel | None = None,
) -> Recollectum:
    """A home that reads nothing from the machine it is on."""
    return Recollectum(
        folder / "home",
        api_key=api_key,
        embedder=embedder,
        language_model=language_model,
        settings={
            "encryption": encryption,
            "storage.reserve_mib": 0,
            "embedding.provider": "none",
            **(settings or {}),
        },
        environ={
            "HOME": str(folder / "user"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "RECOLLECTUM_SYSTEM_DIR": str(folder / "system"),
        },
        clock=clock,
    )


def lay_home(folder: Path) -> None:
    """Put a home with alice's empty vault into a folder that has none, as `open_home` makes it at `START`.

    Making one runs every migration, which takes most of the time of a small test; this copies one. A home on PostgreSQL
    has no files to copy.
    """
    if current_engine() != SQLITE:
        return
    for name, content in _made().items():
        path = folder / "home" / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(content)


@cache
def _made() -> dict[str, bytes]:
    with quick_folder() as folder:
        with open_home(folder, Turning()) as home:
            home.vault("user:alice")
        root = folder / "home"
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def let_expire(home: Recollectum) -> None:
    """Choose the preset that archives memories after 90 days, for everybody of the default tenant."""
    home.people.save_tenant("default", "expire")


def walk(home: Recollectum, clock: Turning, until: datetime, *owners: str) -> None:
    """Turn the clock ahead in strides that each vault sees and believes."""
    while clock.now < until:
        clock.now = min(until, clock.now + STRIDE)
        for owner in owners:
            home.vault(owner).admin.totals()


def copy_home(folder: Path, to: Path) -> Path:
    """A copy of a home that nobody has open."""
    shutil.copytree(folder, to)
    copy_databases(folder, to)
    return to


@contextmanager
def quick_folder() -> Generator[Path]:
    """A folder in memory where the system has one: for files whose surviving a power cut is not the question."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)
