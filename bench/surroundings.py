"""Isolates a benchmark, so that it neither reads nor writes the files of the person who runs it."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def own_surroundings(folder: Path) -> Generator[None]:
    """Point settings, key files and the keychain into `folder`, for this process and its children."""
    before = dict(os.environ)
    for name in [name for name in before if name.startswith("RECOLLECTUM_")]:
        del os.environ[name]
    os.environ.update(
        HOME=str(folder / "user"),
        USERPROFILE=str(folder / "user"),
        XDG_CONFIG_HOME=str(folder / "user" / ".config"),
        RECOLLECTUM_SYSTEM_DIR=str(folder / "system"),
        PYTHON_KEYRING_BACKEND="keyring.backends.fail.Keyring",
    )
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
