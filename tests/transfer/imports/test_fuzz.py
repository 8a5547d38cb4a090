"""Damaged files of every form: no error that is not a sentence, in bounded time, and nothing written elsewhere."""

import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from recollectum import Recollectum, Vault
from recollectum.domain.errors import RecollectumError
from tests.transfer.damaged_files import damaged
from tests.transfer.foreign_files import SAMPLES_OF

#: For all forms together; 10,000 for each form in a full run.
_FILES = int(os.environ.get("RECOLLECTUM_TEST_FUZZED_FILES", "220"))
#: What one small file may take at most, on a slow machine.
_SECONDS = 20


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    with Recollectum(tmp_path_factory.mktemp("fuzz") / "home", settings={"encryption": "off"}) as r:
        yield r.vault("user:ann")


def _stop(_: int, __: FrameType | None) -> None:
    raise TimeoutError


def _imported(vault: Vault, path: Path) -> tuple[Path, str]:
    """Where the file is after its import, and the sentence with which it was refused, if it was."""
    try:
        found = vault.admin.imports.preview([path])
        done = vault.admin.imports.run(found, people=found.people or None)
    except RecollectumError as error:
        return path, str(error)
    return Path(done.files[0].moved_to or path), ""


@pytest.mark.parametrize("name", list(SAMPLES_OF))
def test_damage_is_told_in_a_sentence(name: str, vault: Vault, tmp_path: Path) -> None:
    chance = random.Random(name)
    sample = SAMPLES_OF[name](tmp_path / "files").path
    data = sample.read_bytes()
    signal.signal(signal.SIGALRM, _stop)
    for number in range(max(1, _FILES // len(SAMPLES_OF))):
        sample.unlink(missing_ok=True)
        Path(f"{sample}.migrated").unlink(missing_ok=True)
        sample.write_bytes(damaged(data, chance, tmp_path))
        before = sample.read_bytes()
        signal.alarm(_SECONDS)
        kept, said = _imported(vault, sample)
        signal.alarm(0)
        assert kept.read_bytes() == before, number
        assert len(said.splitlines()) <= 1, number
        left = {path.name for path in sample.parent.iterdir() if path.is_file()}
        assert left <= {sample.name, f"{sample.name}.migrated"}, number
