"""Turns the portable SQL of storage.tables into PostgreSQL's: numbered parameters, and the vault in conflict targets.

The special words of the portable subset (`numbers`, `texts`, `triples`, `written`, `folded`, `instr`) are functions of
the schema.
`INNER JOIN` is left to the planner: each statement has an index for its small side.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from recollectum.domain.records import dataclass

#: A text in quotes or a comment, which stay as they are; a cast; or a parameter.
_PARTS = re.compile(r"'(?:[^']|'')*'|--[^\n]*|::|:([A-Za-z_]\w*)")
#: The type of what is encrypted; the server calls it otherwise.
_BLOB = re.compile(r"\bAS BLOB\)")
#: The place of a row among those that are inserted.
_ROW = "place of the row"
_CONFLICT = re.compile(r"\bON CONFLICT \(")
#: The values of one row, with functions of values in them.
_VALUES = re.compile(r"\bVALUES \(((?:[^()]|\([^()]*\))*)\)")


#: An INSERT into a table whose rows the client may number, as nobody else writes to its vault: the whole statement, and
#: nothing that decides whether a row is inserted.
_NUMBERED = re.compile(
    r"(\s*INSERT INTO (memories|messages|chunks|events) \()((?:(?!\bON CONFLICT\b).)*?\bVALUES \()"
    r"((?:(?!\bON CONFLICT\b).)*?)(\s+RETURNING number\s*)?$",
    re.DOTALL,
)
#: The name of the parameter with the number of a row.
ROW_NUMBER = "number_of_row"


@dataclass(frozen=True, slots=True)
class NumberedInsert:
    """An INSERT with the number of the row among its parameters, and without RETURNING."""

    sql: str
    table: str
    #: Whether the caller asks for the number.
    returns: bool


@lru_cache(maxsize=4096)
def numbered_insert(sql: str) -> NumberedInsert | None:
    """Return an INSERT of a row that the client numbers; None for any other statement."""
    found = _NUMBERED.match(sql)
    if found is None:
        return None
    begin, table, columns, values, returning = found.groups()
    return NumberedInsert(f"{begin}number, {columns}:{ROW_NUMBER}, {values}", table, returning is not None)


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


def to_postgres_rows(sql: str, types: Sequence[str], *, in_vault: bool) -> str:
    """Return an INSERT of one row as one of many: each parameter is an array, whose members have these types.

    The rows are inserted in the order of the arrays, so that their numbers are as if they came one by one.
    """
    names = to_postgres(sql, in_vault=in_vault).names
    listed = ", ".join(f"${place}::{type_}[]" for place, type_ in enumerate(types, start=1))
    columns = ", ".join(f'"{name}"' for name in (*names, _ROW))

    def selected(found: re.Match[str]) -> str:
        values = _PARTS.sub(lambda one: f'given."{one[1]}"' if one[1] else one[0], found[1])
        source = f"unnest({listed}) WITH ORDINALITY AS given ({columns})"
        return f'SELECT {values} FROM {source} ORDER BY given."{_ROW}"'  # noqa: S608 - names of parameters

    changed, count = _VALUES.subn(selected, sql)
    rest = to_postgres(changed, in_vault=in_vault)
    if count != 1 or rest.names:
        raise ValueError("an INSERT of many rows has one list of VALUES, and no parameter outside of it")
    return rest.text
