"""Opens the credentials of a home as the engine does, and looks for secrets where none may be."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recollectum.domain.access.credential import OAuthToken
from recollectum.home.credentials.store import Credentials
from recollectum.home.paths import Home
from recollectum.storage.keystore import KeyStore

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CANARY = "sk-canary-8f1d2c"


def clock() -> datetime:
    """Noon on the first of March."""
    return NOW


def open_store(home: Home, **variables: str) -> Credentials:
    """The credentials of a home, with these variables beside those of the process."""
    environ = {**os.environ, **variables}
    off = variables.get("ENCRYPTION") == "off"
    keys = KeyStore.open(home, encryption="off" if off else "auto", environ=environ)
    return Credentials(home, keys, environ=environ, clock=clock)


def token(text: str = CANARY, *, minutes: float = -1) -> OAuthToken:
    """A token that ends so many minutes from now."""
    return OAuthToken(
        access_token=text,
        refresh_token=f"refresh-{text}",
        expires_at=NOW + timedelta(minutes=minutes),
        scope="read write",
    )


def files_with(folder: Path, *needles: str) -> list[Path]:
    """The files under a folder that have one of the texts in them."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in found if any(needle.encode() in path.read_bytes() for needle in needles)]
