"""The files of a home have fixed names that cannot leave it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.home.paths import Home, prepare
from recollectum.storage.sqlite import files
from recollectum.storage.sqlite.files import HomeFiles


def test_a_vault_has_a_file_and_its_id_cannot_leave_the_folder(tmp_path: Path) -> None:
    home = HomeFiles(Home(tmp_path))
    assert home.vault("vlt_01abc") == tmp_path / "vaults" / "vlt_01abc.db"
    for bad in ("", "../x", "A", "a/b", "a.b", "a\n", "a\0", "é", "a" * 300):
        with pytest.raises(InvalidInput, match="not a vault id"):
            home.vault(bad)


def test_a_log_without_its_database_is_moved_and_removed_like_one(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    prepare(home)
    path = HomeFiles(home).vault("vlt_1")
    files.log_of(path).write_bytes(b"left over")
    assert files.is_there(path)
    kept = files.set_aside(home, path, datetime(2026, 1, 1, tzinfo=UTC))
    assert (kept / files.log_of(path).name).read_bytes() == b"left over"
    assert not files.is_there(path)
    path.write_bytes(b"x")
    files.log_of(path).write_bytes(b"y")
    files.remove(path)
    assert not files.is_there(path)
