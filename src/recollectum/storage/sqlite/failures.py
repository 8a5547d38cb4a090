"""Translates SQLite's errors into Recollectum's: the problem, the file and the cure."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import apsw

from recollectum.domain.errors import (
    Busy,
    Damaged,
    DiskFull,
    InvalidInput,
    ReadOnly,
    RecollectumError,
    StorageError,
    WrongKey,
)
from recollectum.storage.tables.parameters import HALF_A_CHARACTER
from recollectum.storage.tables.row_decoding import UNDECODABLE, is_in_row_decoder

# SQLite needs a little room beside the file even to read it.
_NO_ROOM_FOR_INDEX = (apsw.SQLITE_IOERR_SHMSIZE, apsw.SQLITE_IOERR_SHMOPEN, apsw.SQLITE_IOERR_SHMMAP)
#: What apsw raises, and what Python raises for values that it cannot pass on.
FOREIGN = (apsw.Error, UnicodeDecodeError, UnicodeEncodeError, OverflowError)
#: What `raise_translated` looks at.
TRANSLATED = (*UNDECODABLE, *FOREIGN)
_BAD_PAGE = (apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_CORRUPTFS)


@contextmanager
def translated(path: Path, *, encrypted: bool) -> Generator[None]:
    """Raise SQLite's errors from inside the block as Recollectum's errors."""
    try:
        yield
    except TRANSLATED as error:
        raise_translated(error, path, encrypted=encrypted)


def raise_translated(error: Exception, path: Path, *, encrypted: bool) -> NoReturn:
    """Raise Recollectum's error for an error of SQLite or of a row decoder; raise any other error as it is."""
    if is_in_row_decoder(error):
        raise Damaged(
            f"{path} is damaged: a row in it is not what was written; look closer with: recollectum doctor --deep"
        ) from error
    if isinstance(error, FOREIGN):
        raise _translate(error, path, encrypted=encrypted) from error
    raise error


def _translate(error: apsw.Error | UnicodeError | OverflowError, path: Path, *, encrypted: bool) -> RecollectumError:
    """Return Recollectum's error for an error of SQLite."""
    match error:
        case UnicodeError() | OverflowError():
            return _not_a_value(error, path)
        case apsw.BusyError() | apsw.LockedError():
            return Busy(f"{path} was locked by other writers for longer than the timeout; try again")
        case apsw.FullError():
            return DiskFull(f"the disk of {path} is full; nothing was written; free some space, deletes still work")
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return ReadOnly(f"{path} may not be written; make the file and its folder writable for this account")
        case apsw.CantOpenError():
            return StorageError(f"{path} cannot be opened; check that its folder exists and is writable")
        case apsw.NotADBError() | apsw.CorruptError() | apsw.IOError():
            return _unreadable(error, path, encrypted=encrypted)
        case _:
            # The text of other errors can quote a statement, but never its parameters.
            return StorageError(f"{path}: {type(error).__name__}: {error}")


def _not_a_value(error: UnicodeError | OverflowError, path: Path) -> RecollectumError:
    if isinstance(error, UnicodeDecodeError):
        return Damaged(f"{path} is damaged: a text in it is not valid text; restore a backup of it")
    if isinstance(error, OverflowError):
        return InvalidInput("the given number has more than 64 bits; give a smaller one")
    return InvalidInput(HALF_A_CHARACTER)


def _unreadable(error: apsw.Error, path: Path, *, encrypted: bool) -> RecollectumError:
    if isinstance(error, apsw.NotADBError):
        if encrypted:
            return WrongKey(
                f"the key does not open {path}; it belongs to another vault, or the file is damaged; "
                "restore a backup of both"
            )
        return Damaged(f"{path} cannot be read without a key, or it is damaged; restore a backup of it")
    if isinstance(error, apsw.CorruptError) or getattr(error, "extendedresult", 0) in _BAD_PAGE:
        return Damaged(f"{path} is damaged: its content is not what was written; restore a backup of it")
    if getattr(error, "extendedresult", 0) in _NO_ROOM_FOR_INDEX:
        return DiskFull(f"the disk of {path} is full; nothing was written; free some space, deletes still work")
    return StorageError(f"{path} could not be read or written ({error}); check the disk")
