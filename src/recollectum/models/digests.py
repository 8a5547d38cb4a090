"""Whether a file of a model is the one that was shipped; each is read once in a process."""

import hashlib
from functools import lru_cache
from pathlib import Path

from recollectum.domain.errors import ModelMissing


def check_digest(path: Path, sha256: str, cure: str) -> None:
    """Raise ModelMissing, with the cure, unless the file is there and hashes to this."""
    try:
        found = path.stat()
        digest = _digest(path, found.st_size, found.st_mtime_ns)
    except OSError as error:
        raise ModelMissing(f"{path} cannot be read ({error.strerror}); {cure}") from error
    if digest != sha256:
        raise ModelMissing(f"{path} is not the file that was shipped; {cure}")


# Size and time stand for the content: a file that changes under us is hashed again.
@lru_cache(maxsize=16)
def _digest(path: Path, size: int, modified: int) -> str:  # noqa: ARG001 - they are part of the key
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
