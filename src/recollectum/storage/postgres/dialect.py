"""Turns the portable SQL of storage.tables into PostgreSQL's: numbered parameters, and the vault in conflict targets.

The special words of the portable subset (`numbers`, `texts`, `triples`, `written`, `folded`, `instr`) are functions of
the schema.
`INNER JOIN` is left to the planner: each statement has an index for its small side.
"""

import re
from functools import lru_cache

from recollectum.domain.records import dataclass

#: A text in quotes or a comment, which stay as they are; a cast; or a parameter.
_PARTS = re.compile(r"'(?:[^']|'')*'|--[^\n]*|::|:([A-Za-z_]\w*)")
#: The type of what is encrypted; the server calls it otherwise.
_BLOB = re.compile(r"\bAS BLOB\)")
_CONFLICT = re.compile(r"\bON CONFLICT \(")


@dataclass(frozen=True, slots=True)
class PostgresSql:
    """A statement with numbered parameters, and the names of the parameters in the order of their numbers."""

    text: str
    names: tuple[str, ...]


@lru_cache(maxsize=4096)
def to_postgres(sql: str, *, in_vault: bool) -> PostgresSql:
    """Return the statement in PostgreSQL's dialect; each statement is translated once.

    The tables of a vault have the vault as the first column of every key, which the portable SQL does not name.
    """
    numbers: dict[str, int] = {}

    def numbered(found: re.Match[str]) -> str:
        name: str | None = found[1]
        return found[0] if name is None else f"${numbers.setdefault(name, len(numbers) + 1)}"

    text = _BLOB.sub("AS bytea)", _PARTS.sub(numbered, sql))
    if in_vault:
        text = _CONFLICT.sub("ON CONFLICT (vault, ", text)
    return PostgresSql(text, tuple(numbers))
