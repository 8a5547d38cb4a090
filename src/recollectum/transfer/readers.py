"""Hands out the readers of foreign files; each is imported when it is first needed."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollectum.vault.files.foreign_sources import ImportReader
    from recollectum.vault.files.transcript_files import TranscriptReader


def transcript_reader() -> "TranscriptReader":
    """Return the reader of growing transcripts."""
    # Imported here: most programs follow no transcripts, and the parsers are slow to import.
    from recollectum.transfer.transcript_reader import TranscriptLineReader  # noqa: PLC0415

    return TranscriptLineReader()


def import_reader() -> "ImportReader":
    """Return the reader of everything that can be imported."""
    # Imported here: few programs import anything, and there is a parser for each form.
    from recollectum.transfer.imports.reader import ForeignReader  # noqa: PLC0415

    return ForeignReader()
