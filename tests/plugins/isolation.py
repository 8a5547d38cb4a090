"""Gives every test a home of its own, so that none reads or writes the real one."""

import os
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

_numbers = count()


def move_home(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Point everything that names a place on this machine into `folder`, which must not exist yet."""
    user, system, work = folder / "user", folder / "system", folder / "work"
    for place in (user, system, work):
        place.mkdir(parents=True)
    for name in [name for name in os.environ if name.startswith("RECOLLECTUM_")]:
        patch.delenv(name)
    patch.setenv("RECOLLECTUM_HOME", str(folder / "home"))
    patch.setenv("RECOLLECTUM_SYSTEM_DIR", str(system))
    # Words alone, unless a test asks for more: a model takes a second to load, and answers with what is merely near.
    patch.setenv("RECOLLECTUM_EMBEDDING__PROVIDER", "none")
    patch.setenv("HOME", str(user))
    patch.setenv("USERPROFILE", str(user))
    patch.setenv("XDG_CONFIG_HOME", str(user / ".config"))
    patch.setenv("XDG_DATA_HOME", str(user / ".local" / "share"))
    patch.setenv("XDG_CACHE_HOME", str(user / ".cache"))
    # As in an environment that is active, so that cures name `pip` alone.
    patch.setenv("VIRTUAL_ENV", sys.prefix)
    # A developer's own keychain is as real as their home.
    patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    # Project settings are looked for from the working folder upwards, where the real home may lie.
    patch.chdir(work)


@pytest.fixture(autouse=True, scope="session")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The home that fixtures of a wider scope than one test see."""
    folder = tmp_path_factory.mktemp("homes")
    with pytest.MonkeyPatch.context() as patch:
        move_home(patch, folder / "shared")
        yield folder


@pytest.fixture(autouse=True)
def own_home(shared_home: Path) -> Iterator[None]:
    """A fresh home for one test; not inside its `tmp_path`, which stays empty."""
    # Its own patches: a test that undoes those of `monkeypatch` must not land in the real home.
    with pytest.MonkeyPatch.context() as patch:
        move_home(patch, shared_home / str(next(_numbers)))
        # On a busy machine a text may take longer than a person should wait; what a test wrote is found nevertheless.
        patch.setattr("recollectum.recall.vectors.vector_search.PATIENCE_SECONDS", 10.0)
        yield
