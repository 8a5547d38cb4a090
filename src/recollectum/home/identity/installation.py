"""Identifies this installation by a random id in a small file with a version, which is made once and never replaced."""

import json
import uuid
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import cast

from recollectum.domain.errors import Damaged, InvalidInput, SchemaNewer
from recollectum.domain.ids import Clock, system_clock
from recollectum.domain.records import dataclass
from recollectum.home.files import read_regular, write_atomic
from recollectum.home.locks import Lock
from recollectum.home.paths import Home

FORMAT = "recollectum-installation"
VERSION = 1
_MOST_BYTES = 16_384


@dataclass(frozen=True, slots=True)
class Installation:
    """A home folder on a machine, as programs may name it in their own records; it says nothing about a person."""

    id: str
    made_at: datetime


def installation(home: Home, clock: Clock = system_clock) -> Installation:
    """Return the installation of a home; its id is made once. Raise for a file that cannot be read or is newer."""
    found = _read(home.installation_file)
    if found is None:
        with Lock(home.locks / "installation.lock"):
            # Another process may have been quicker.
            found = _read(home.installation_file) or _make(home.installation_file, clock())
    return found


def _make(path: Path, now: datetime) -> Installation:
    made = Installation(str(uuid.uuid4()), now)
    document = {"format": FORMAT, "version": VERSION, "id": made.id, "made_at": now.isoformat()}
    write_atomic(path, json.dumps(document, indent=1).encode() + b"\n")
    return made


def _read(path: Path) -> Installation | None:
    try:
        found: object = json.loads(read_regular(path, _MOST_BYTES))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, InvalidInput):
        found = None
    fields: Mapping[str, object] = cast("Mapping[str, object]", found) if isinstance(found, dict) else {}
    version = fields.get("version")
    if fields.get("format") == FORMAT and isinstance(version, int) and version > VERSION:
        raise SchemaNewer(
            f"{path} was written by a newer Recollectum (version {version}, this one knows {VERSION}); upgrade the "
            "program, nothing was changed"
        )
    try:
        if fields["format"] != FORMAT or version != VERSION:
            raise ValueError
        made_at = datetime.fromisoformat(str(fields["made_at"]))
        return Installation(str(uuid.UUID(str(fields["id"]))), made_at)
    except (KeyError, ValueError):
        raise Damaged(
            f"{path} cannot be read as the id of an installation, and nothing was changed; restore the file, or move "
            "it away to get a new id"
        ) from None
