"""Everything under a home is private to its account, also while it is being written."""

import os
import stat
from pathlib import Path

import pytest

from recollectum import Recollectum

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("encryption", ["auto", "off"])
def test_files_are_0600_and_folders_0700_while_a_vault_is_written(tmp_path: Path, encryption: str) -> None:
    before = os.umask(0)
    try:
        with Recollectum(tmp_path / "home", settings={"encryption": encryption}) as r:
            vault = r.vault("user:ann")
            chat = vault.sessions.open(channel="test", agent="main")
            for number in range(50):
                vault.memories.save(f"number {number}")
                chat.add("user", f"number {number}")
            names = _assert_private(tmp_path / "home")
            assert {"-wal", "-shm"} <= {name[-4:] for name in names}
        _assert_private(tmp_path / "home")
    finally:
        os.umask(before)


def _assert_private(root: Path) -> list[str]:
    """Check every mode without opening a file; the names."""
    found = [root, *root.rglob("*")]
    modes = {str(path): stat.S_IMODE(path.stat().st_mode) for path in found}
    open_to_others = {name: oct(mode) for name, mode in modes.items() if mode not in (0o600, 0o700)}
    assert not open_to_others
    assert all(path.is_dir() == (modes[str(path)] == 0o700) for path in found)
    return list(modes)
