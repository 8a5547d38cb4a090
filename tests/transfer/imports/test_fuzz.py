"""Damaged files of every form: a sentence and no other error, bounded time and memory, nothing written elsewhere."""

import os
import random
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from recollectum import Recollectum, Vault
from recollectum.domain.errors import RecollectumError
from tests.transfer.damaged_files import damaged
from tests.transfer.foreign_files import SAMPLES_OF
from tests.transfer.generated_files import Written
from tests.transfer.generated_plain import PLAIN

#: Forms that a person describes with a mapping.
_PLAIN: Mapping[str, Callable[[Path, int], Written]] = {one.__name__: one for one in PLAIN}
_FORMS = (*SAMPLES_OF, *_PLAIN)
#: For all forms together; 10,000 for each form in a full run.
_FILES = int(os.environ.get("RECOLLECTUM_TEST_FUZZED_FILES", "240"))
#: What one small file may take at most, on a slow machine.
_SECONDS, _MEMORY = 20, 512 * 2**20


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    with Recollectum(tmp_path_factory.mktemp("fuzz") / "home", settings={"encryption": "off"}) as r:
        yield r.vault("user:ann")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, ...]:
    """The folders of the account, of the process and for temporary files, where an import has nothing to write."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return Path(os.environ["HOME"]), Path.cwd(), temporary


def _stop(_: int, __: FrameType | None) -> None:
    raise TimeoutError


@contextmanager
def _bounded() -> Generator[None]:
    """Let the block take little more time and memory than the process has."""
    signal.signal(signal.SIGALRM, _stop)
    before = resource.getrlimit(resource.RLIMIT_AS)
    if sys.platform == "linux":
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + _MEMORY, before[1]))
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, before)


def _sample(name: str, folder: Path) -> tuple[Path, dict[str, str] | None]:
    """Return a file of a form, and the mapping that it needs."""
    if name in SAMPLES_OF:
        return SAMPLES_OF[name](folder).path, None
    written = _PLAIN[name](folder, 3)
    return written.paths[0], written.mapping


def _imported(vault: Vault, path: Path, mapping: dict[str, str] | None) -> tuple[Path, str]:
    """Where the file is after its import, and the sentence with which it was refused, if it was."""
    try:
        found = vault.admin.imports.preview([path], mapping=mapping)
        done = vault.admin.imports.run(found, people=found.people or None)
    except RecollectumError as error:
        return path, str(error)
    return Path(done.files[0].moved_to or path), ""


@pytest.mark.parametrize("name", _FORMS)
def test_damage_is_told_in_a_sentence(name: str, vault: Vault, tmp_path: Path, elsewhere: tuple[Path, ...]) -> None:
    chance = random.Random(name)
    sample, mapping = _sample(name, tmp_path / "files")
    data = sample.read_bytes()
    around = [sorted(folder.rglob("*")) for folder in elsewhere]
    for number in range(max(1, _FILES // len(_FORMS))):
        sample.unlink(missing_ok=True)
        Path(f"{sample}.migrated").unlink(missing_ok=True)
        sample.write_bytes(damaged(data, chance, tmp_path))
        before = sample.read_bytes()
        with _bounded():
            kept, said = _imported(vault, sample, mapping)
        assert kept.read_bytes() == before, number
        assert len(said.splitlines()) <= 1, number
        left = {path.name for path in sample.parent.iterdir() if path.is_file()}
        assert left <= {sample.name, f"{sample.name}.migrated"}, number
    assert [sorted(folder.rglob("*")) for folder in elsewhere] == around
