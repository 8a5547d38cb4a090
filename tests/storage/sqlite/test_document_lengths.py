"""The lengths of chunks, read from the full-text index a page at a time and kept as they grow."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import apsw
import pytest

from recollectum.storage.sqlite.full_text import document_lengths
from recollectum.storage.sqlite.full_text.document_lengths import DocumentLengths
from recollectum.storage.sqlite.full_text.posting_reader import create_vocabulary
from recollectum.storage.sqlite.full_text.text_index import SqliteTextIndex
from recollectum.text.terms.analyser import Phrase
from tests.storage.sqlite.text_indexes import Indexed, scored

PAGES = pytest.mark.parametrize("page", [1, 2, 3, 50_000])


def _chunks(lengths: dict[int, int]) -> list[tuple[int, str]]:
    return [(number, "word " * length) for number, length in lengths.items()]


def _read(lengths: DocumentLengths, connection: apsw.Connection, highest: int) -> dict[int, int]:
    """What is known of each chunk, as a number of terms."""
    packed = lengths.upto(connection, highest)
    known = {number: packed[number] for number in range(len(packed))}
    return {number: (found >> 8 & 0x7F) << 7 | found & 0x7F for number, found in known.items() if found}


@PAGES
def test_numbers_may_have_gaps(monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    monkeypatch.setattr(document_lengths, "_PAGE", page)
    lengths = {1: 1, 2: 127, 3: 128, 7: 5, 8: 16_383, 30: 129, 31: 2, 2_900: 300}
    indexed = Indexed(_chunks(lengths))
    assert _read(DocumentLengths(), indexed.connection, 2_900) == lengths


@PAGES
def test_what_was_added_since_is_read_and_nothing_else_is_lost(monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    monkeypatch.setattr(document_lengths, "_PAGE", page)
    indexed, lengths, expected = Indexed(), DocumentLengths(), dict[int, int]()
    assert _read(lengths, indexed.connection, 0) == {}
    for more in ({1: 4}, {2: 200, 3: 1}, {1_500: 9, 1_501: 10}, {40_000: 77}):
        indexed.add(_chunks(more))
        expected |= more
        assert _read(lengths, indexed.connection, max(more)) == expected


def test_who_looks_at_what_was_there_goes_on_while_it_grows() -> None:
    indexed, lengths = Indexed(_chunks({1: 3})), DocumentLengths()
    before = lengths.upto(indexed.connection, 1)
    held = memoryview(before)
    indexed.add(_chunks({2: 4, 9_000: 5}))
    after = lengths.upto(indexed.connection, 9_000)
    assert (held[1], after[1], after[9_000]) == (3, 3, 5)


def test_a_chunk_without_a_word_and_one_that_is_gone_have_no_length() -> None:
    indexed = Indexed(_chunks({1: 0, 2: 6, 3: 7}))
    indexed.index.remove([2])
    assert _read(DocumentLengths(), indexed.connection, 3) == {3: 7}


def test_a_reader_of_an_older_state_is_served_by_what_a_newer_one_read(tmp_path: Path) -> None:
    path = tmp_path / "vault.db"
    indexed, lengths = Indexed(_chunks({1: 3, 2: 8}), path), DocumentLengths()
    indexed.connection.pragma("journal_mode", "wal")
    older = apsw.Connection(str(path))
    create_vocabulary(older)
    older.execute("BEGIN")
    before = scored(SqliteTextIndex(older, lengths).matches([Phrase("word")]))
    indexed.add(_chunks({number: 1 for number in range(3, 60)}))
    assert len(SqliteTextIndex(indexed.connection, lengths).matches([Phrase("word")])) == 59
    assert scored(SqliteTextIndex(older, lengths).matches([Phrase("word")])) == before
    older.execute("ROLLBACK")
    older.close()


def test_several_threads_read_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(document_lengths, "_PAGE", 7)
    path, expected = tmp_path / "vault.db", {number: 1 + number % 300 for number in range(1, 2_000, 3)}
    Indexed(_chunks(expected), path).connection.close()
    lengths, together = DocumentLengths(), Barrier(4)

    def read(highest: int) -> dict[int, int]:
        connection = apsw.Connection(str(path))
        together.wait()
        found = _read(lengths, connection, highest)
        connection.close()
        return {number: length for number, length in found.items() if number <= highest}

    highest = [max(expected), 500, 1_000, max(expected)]
    with ThreadPoolExecutor(4) as threads:
        for most, found in zip(highest, threads.map(read, highest), strict=True):
            assert found == {number: length for number, length in expected.items() if number <= most}
