"""A save whose disk fails leaves the task as it was, and parts whose names were made in another way stay readable."""

import errno
import hashlib
import os
from collections.abc import Generator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import DiskFull
from recollectum.vault.task_store import transfer
from recollectum.vault.task_store.sealing import TaskSeal
from recollectum.vault.vault import Vault
from tests.vault.tasks.workspaces import contents, fill


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Generator[Recollectum, None, None]:
    # Small parts, so that a small workspace has several; and encrypted, as homes are by default.
    monkeypatch.setattr(transfer, "PART_BYTES", 65536)
    with Recollectum() as home:
        yield home


@pytest.fixture
def vault(home: Recollectum) -> Vault:
    return home.vault("user:ada")


def _objects(home: Recollectum) -> list[Path]:
    return sorted(path for path in (home.home.root / "tasks").rglob("*") if path.is_file())


def test_a_disk_that_fails_leaves_the_task_as_it_was(
    home: Recollectum, vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = vault.tasks.save_workspace("t", fill(tmp_path / "old"))
    new = fill(tmp_path / "new", size=900_000, seed=2)
    counted, sync = [0], os.fsync

    def fails(file: int) -> None:
        counted[0] += 1
        if counted[0] == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(file)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fails)
        with pytest.raises(DiskFull, match="no room left"):
            vault.tasks.save_workspace("t", new)
    assert vault.tasks.extract("t", tmp_path / "again") == old
    assert [path.suffix for path in _objects(home) if path.suffix not in (".task", ".part")] == []
    assert vault.tasks.save_workspace("t", new).version == 2


def test_parts_of_an_earlier_digest_stay_readable_and_are_stored_again(
    home: Recollectum, vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = fill(tmp_path / "work")

    def by_sha256(self: TaskSeal, content: bytes | bytearray | memoryview) -> bytes:
        return hashlib.sha256(content).digest()

    with monkeypatch.context() as patched:
        patched.setattr(TaskSeal, "_hash", by_sha256)
        vault.tasks.save_workspace("t", workspace)
    before = {path.name for path in _objects(home) if path.suffix == ".part"}
    vault.tasks.extract("t", tmp_path / "again")
    assert contents(tmp_path / "again") == contents(workspace)
    vault.tasks.save_workspace("t", workspace)
    after = {path.name for path in _objects(home) if path.suffix == ".part"}
    assert len(after) == len(before)
    assert not after & before
