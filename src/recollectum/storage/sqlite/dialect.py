"""Turns the portable SQL of storage.tables into SQLite's: list parameters, the order of joins, and three more.

The tables are written in a subset that SQLite and PostgreSQL both read. Where the two differ, the subset has a special
word. PostgreSQL has a function of that name; for SQLite the word is replaced before the statement is prepared.

numbers(:list), texts(:list)  one row (key, value) for each member of a JSON list
names(:list)                  the same for texts that are compared with encrypted columns
piece(text, start, count)     a part of a text; an engine with encrypted texts returns the whole one
last_number('table')          the highest number that a row of the table ever had
triples(:list)                one row (key, first, second, third) for each list of three
written(:marks)               one row (vault, mark) for each vault; an engine that counts writes needs no list
FOR NO KEY UPDATE … LOCKED    passes by rows that another writer has locked; SQLite has one writer at a time
INNER JOIN                    joins in the written order; a plain JOIN leaves the order to the engine
"""

import re
from functools import lru_cache

_LIST = re.compile(r"\b(?:numbers|texts|names)\((:\w+)\)")
_TRIPLES = re.compile(r"\btriples\((:\w+)\)")
_WRITTEN = re.compile(r"\bwritten\((:\w+)\)")
_SKIP_LOCKED = re.compile(r"\bFOR NO KEY UPDATE OF \w+ SKIP LOCKED\b")
_PIECE = re.compile(r"\bpiece\(")
_LAST_NUMBER = re.compile(r"\blast_number\(('\w+')\)")
_SEQUENCE = r"(SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = \1)"
_THREE = r"(SELECT key, value ->> 0 AS first, value ->> 1 AS second, value ->> 2 AS third FROM json_each(\1))"


@lru_cache(maxsize=2048)
def to_sqlite(sql: str) -> str:
    """Return the statement in SQLite's dialect; each statement is translated once."""
    sql = _LIST.sub(r"json_each(\1)", sql)
    sql = _TRIPLES.sub(_THREE, sql)
    sql = _WRITTEN.sub(r"(SELECT key AS vault, value AS mark FROM json_each(\1))", sql)
    sql = _SKIP_LOCKED.sub("", sql)
    sql = _PIECE.sub("substr(", sql)
    sql = _LAST_NUMBER.sub(_SEQUENCE, sql)
    return sql.replace("INNER JOIN", "CROSS JOIN")
