"""ETags: a memory as it was read, so that an edit of something else is refused."""

import hashlib
import json

from recollectum.domain.memory import Memory
from recollectum.doors.http.problems import Stale
from recollectum.doors.shapes import to_json


def etag_of(memory: Memory) -> str:
    """Two memories have the same when they would be shown the same."""
    shown = json.dumps(to_json(memory), sort_keys=True).encode("utf-8", "replace")
    return f'"{memory.version}-{hashlib.sha256(shown).hexdigest()[:16]}"'


def check_match(memory: Memory, if_match: str | None) -> None:
    """Refuse when the header names other states of the memory than this one."""
    if if_match is None or if_match.strip() == "*":
        return
    if etag_of(memory) not in (one.strip() for one in if_match.split(",")):
        raise Stale("the memory changed since it was read; read it again")
