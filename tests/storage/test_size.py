"""A vault takes no more room than what it holds needs."""

from pathlib import Path

import pytest

from recollectum import Draft, Recollectum
from recollectum.testing import ScriptedEmbedder

pytestmark = pytest.mark.slow

_ITEMS = 1000
#: A short memory with its vector, its words, its event and its place in the cache.
_BYTES_AN_ITEM = 2200
#: A page for each table and index, and ten for the text of the schema.
_BYTES_EMPTY = 176 * 1024


def _size(home: Path) -> int:
    return sum(path.stat().st_size for path in (home / "vaults").iterdir())


@pytest.mark.parametrize("encryption", ["auto", "off"])
def test_an_empty_vault_takes_at_most_176_kib(tmp_path: Path, encryption: str) -> None:
    home = tmp_path / "home"
    settings = {"encryption": encryption, "storage.reserve_mib": 0}
    with Recollectum(home, settings=settings) as r:
        r.vault("user:ann")
        # With its log, while it is open.
        assert _size(home) <= _BYTES_EMPTY
    assert _size(home) <= _BYTES_EMPTY


def test_a_short_memory_takes_at_most_2200_bytes(tmp_path: Path) -> None:
    home = tmp_path / "home"
    embedder = ScriptedEmbedder(dimensions=384)
    settings = {"encryption": "off", "storage.reserve_mib": 0, "embedding.provider": "local"}
    with Recollectum(home, settings=settings, embedder=embedder) as r:
        r.vault("user:ann")
    empty = _size(home)
    with Recollectum(home, settings=settings, embedder=embedder) as r:
        vault = r.vault("user:ann")
        vault.memories.save_many(
            Draft(content=f"Ann told me about her garden, her sister and train number {number}")
            for number in range(_ITEMS)
        )
        vault.admin.index.update()
    assert (_size(home) - empty) / _ITEMS <= _BYTES_AN_ITEM
