"""Translates PostgreSQL's errors into Recollectum's: the problem, the database and the cure.

The texts of PostgreSQL's errors quote statements and values. None of them is passed on, and the original error is not
chained to the new one, because a log prints the whole chain.
"""

from collections.abc import Callable
from typing import NoReturn

import psycopg
from psycopg_pool import PoolTimeout

from recollectum.domain.errors import (
    Busy,
    Damaged,
    DiskFull,
    InvalidInput,
    ReadOnly,
    RecollectumError,
    SchemaNewer,
    StorageError,
    Unreachable,
)
from recollectum.storage.tables.parameters import HALF_A_CHARACTER, NO_TEXT
from recollectum.storage.tables.row_decoding import UNDECODABLE, is_in_row_decoder

#: What psycopg raises, and what Python raises for values that it cannot pass on.
FOREIGN = (psycopg.Error, PoolTimeout, UnicodeDecodeError, UnicodeEncodeError, OverflowError)
#: What `raise_translated` looks at.
TRANSLATED = (*UNDECODABLE, *FOREIGN)

Wording = Callable[[str], RecollectumError]

_LOST = "the connection to {} was lost; nothing was written; try again"
_UNFIT = "the schema of {} does not fit this program; upgrade the program, or the schema with: recollectum upgrade"
_POOLER = (
    "{} is behind a pooler that does not pass on prepared statements, such as PgBouncer before 1.21; nothing was "
    'written; set storage.prepared_statements = "off"'
)
#: Not a code of PostgreSQL: none of the hosts is what `target_session_attrs` asks for, as while a standby takes over.
_NO_PRIMARY = "no primary"
#: Not a code of PostgreSQL: PgBouncer gives all its refusals one code.
_POOLER_FULL = "pooler full"
#: By the code of the error.
_BY_CODE: dict[str, tuple[type[RecollectumError], str]] = {
    "40P01": (Busy, "two writers of {} waited for each other, and this one was stopped; try again"),
    "40001": (Busy, "{} was changed by others at the same time; try again"),
    "55P03": (Busy, "{} was locked by other writers for longer than storage.busy_timeout_seconds; try again"),
    "57014": (Busy, "{} took longer than storage.statement_timeout_seconds; try again, or raise the setting"),
    "53300": (Busy, "{} has no connection left; try again, lower storage.connections, or raise its max_connections"),
    _POOLER_FULL: (
        Busy,
        "the pooler of {} had no connection left within its query_wait_timeout; try again, or raise its pool size",
    ),
    "53100": (DiskFull, "the disk of {} is full; nothing was written; free some space on the server"),
    "53200": (StorageError, "the server of {} is out of memory; nothing was written; try again later"),
    "25006": (ReadOnly, "{} accepts no writes: it is a standby, or set to read-only; name the primary in storage.url"),
    _NO_PRIMARY: (Unreachable, "no host of {} accepts writes now; nothing was written; try again"),
    "42501": (StorageError, "the role of storage.url may not do this in {}; check its rights with: recollectum doctor"),
    "28P01": (StorageError, "{} refuses the password or the role of storage.url; correct them"),
    "28000": (StorageError, "{} refuses the role of storage.url from this address; correct its pg_hba.conf"),
    "3D000": (StorageError, "{} does not exist; create the database, or correct storage.url"),
    "42P01": (StorageError, "{} has no tables of Recollectum; make them with: recollectum upgrade"),
    "3F000": (StorageError, "{} has no tables of Recollectum; make them with: recollectum upgrade"),
    "42703": (SchemaNewer, _UNFIT),
    "42883": (SchemaNewer, _UNFIT),
    "57P01": (Unreachable, _LOST),
    "57P02": (Unreachable, _LOST),
    "57P03": (Busy, "{} is starting or stopping; try again"),
    "57P05": (Unreachable, _LOST),
    "26000": (StorageError, _POOLER),
    "42P05": (StorageError, _POOLER),
    "22021": (InvalidInput, NO_TEXT),
    "22P05": (InvalidInput, NO_TEXT),
    "54000": (InvalidInput, "the given id, name or path is too long for an index of {}; give a shorter one"),
    "22003": (InvalidInput, "the given number has more than 64 bits; give a smaller one"),
}
#: A connection that fails has no code; libpq gives words, which begin with those of the server.
_BY_WORDS = (
    ("password authentication failed", "28P01"),
    ("no password supplied", "28P01"),
    ("no pg_hba.conf entry", "28000"),
    ("too many clients", "53300"),
    ("too many connections", "53300"),
    ("remaining connection slots", "53300"),
    ("no more connections allowed", "53300"),
    ("query_wait_timeout", _POOLER_FULL),
    ("is starting up", "57P03"),
    ("is shutting down", "57P03"),
    ("not accepting connections", "57P03"),
    ("in recovery mode", "57P03"),
    ("session is read-only", _NO_PRIMARY),
    ("session is not read-only", _NO_PRIMARY),
    ("server is in hot standby", _NO_PRIMARY),
)
#: Raised by functions and triggers of the schema; their texts are constants. A refused constraint has another code.
_RAISED = ("P0001", "23000")


def raise_translated(error: Exception, place: str) -> NoReturn:
    """Raise Recollectum's error for an error of PostgreSQL or of a row decoder; raise any other error as it is."""
    if is_in_row_decoder(error):
        raise Damaged(
            f"{place} is damaged: a row in it is not what was written; look closer with: recollectum doctor --deep"
        ) from None
    if isinstance(error, FOREIGN):
        raise translate(error, place) from None
    raise error


def translate(error: Exception, place: str) -> RecollectumError:
    """Return Recollectum's error for an error of PostgreSQL."""
    match error:
        case UnicodeDecodeError():
            return Damaged(f"{place} is damaged: a text in it is not valid text; restore a backup of it")
        case UnicodeEncodeError():
            return InvalidInput(HALF_A_CHARACTER)
        case OverflowError():
            return InvalidInput("the given number has more than 64 bits; give a smaller one")
        case PoolTimeout():
            return Busy(
                f"every connection to {place} was in use for longer than storage.busy_timeout_seconds; "
                "try again, or raise storage.connections"
            )
        case psycopg.Error():
            return _of_server(error, place)
        case _:
            return StorageError(f"{place}: {type(error).__name__}")


def _of_server(error: psycopg.Error, place: str) -> RecollectumError:
    code = error.sqlstate or _code_of_words(str(error))
    known = _BY_CODE.get(code or "")
    if known is not None:
        kind, words = known
        return kind(words.format(place))
    if code in _RAISED:
        return StorageError(f"{place}: {error.diag.message_primary}")
    if code is None or code.startswith("08"):
        return Unreachable(_LOST.format(place))
    where = error.diag.constraint_name or error.diag.table_name or ""
    return StorageError(f"{place} refused a statement: {' '.join(filter(None, (type(error).__name__, where, code)))}")


def _code_of_words(words: str) -> str | None:
    return next((code for part, code in _BY_WORDS if part in words), None)


def unreachable(error: psycopg.Error, place: str) -> RecollectumError:
    """Return Recollectum's error for a connection that could not be opened."""
    if error.sqlstate or _code_of_words(str(error)):
        return _of_server(error, place)
    if 'database "' in str(error) and "does not exist" in str(error):
        return StorageError(_BY_CODE["3D000"][1].format(place))
    if 'role "' in str(error) and "does not exist" in str(error):
        return StorageError(_BY_CODE["28P01"][1].format(place))
    return Unreachable(f"{place} cannot be reached; check that the server runs, and storage.url")
