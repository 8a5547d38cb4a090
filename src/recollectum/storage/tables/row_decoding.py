"""Recognises an error that a table module raised while it decoded a row: the row is damaged, not the request."""

import os

from recollectum.domain.errors import InvalidInput

#: What a decoder raises for a value of another type, an unknown word, or JSON that is none.
UNDECODABLE = (ValueError, TypeError, KeyError, InvalidInput)
_TABLES = os.path.join("storage", "tables")  # noqa: PTH118 - a part of a path, compared as text


def is_in_row_decoder(error: BaseException) -> bool:
    """Return whether a table module raised the error while it decoded a row: those functions take a `row`."""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if _TABLES in code.co_filename and "row" in code.co_varnames[: code.co_argcount]:
            return True
        trace = trace.tb_next
    return False
