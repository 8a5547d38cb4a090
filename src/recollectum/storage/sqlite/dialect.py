"""Turns the portable SQL of storage.tables into SQLite's: list parameters, the order of joins, and folded names.

The tables are written in a subset that SQLite and PostgreSQL both read. Where the two differ, the subset has a special
word. PostgreSQL has a function of that name; for SQLite the word is replaced before the statement is prepared.

numbers(:list), texts(:list)  one row (key, value) for each member of a JSON list
triples(:list)                one row (key, first, second, third) for each list of three
INNER JOIN                    joins in the written order; a plain JOIN leaves the order to the engine
folded(name)                  the name with ASCII letters in lower case; it has an index
"""

import re
from functools import lru_cache

_LIST = re.compile(r"\b(?:numbers|texts)\((:\w+)\)")
_TRIPLES = re.compile(r"\btriples\((:\w+)\)")
_FOLDED = re.compile(r"\bfolded\(((?:[^()]|\([^()]*\))*)\)")
_THREE = r"(SELECT key, value ->> 0 AS first, value ->> 1 AS second, value ->> 2 AS third FROM json_each(\1))"


@lru_cache(maxsize=2048)
def to_sqlite(sql: str) -> str:
    """Return the statement in SQLite's dialect; each statement is translated once."""
    sql = _LIST.sub(r"json_each(\1)", sql)
    sql = _TRIPLES.sub(_THREE, sql)
    sql = _FOLDED.sub(r"\1 COLLATE NOCASE", sql)
    return sql.replace("INNER JOIN", "CROSS JOIN")
