"""Files that were written long ago, and what recall finds of them."""

import os
from pathlib import Path

from recollectum.vault.vault import Vault

OLD = 1_700_000_000


def write(path: Path, text: str | bytes, at: int = OLD) -> Path:
    """A file that was written long ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, (at, at))
    return path


def found(vault: Vault, query: str) -> list[str]:
    return [str(hit.source) for hit in vault.recall(query, source="notes")]
