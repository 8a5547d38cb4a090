"""Brings a copy up to date: copies only the rows whose digest differs, and deletes those that are gone."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from operator import itemgetter
from typing import Any

from recollectum.domain.errors import StorageError
from recollectum.domain.records import dataclass
from recollectum.storage.copying.row_copier import (
    CopiedTable,
    TableDigest,
    check_equal,
    clear_rows,
    copy_rows,
    digest_rows,
    filled,
    hide_key,
    insert_rows,
    pages_of,
    row_digests,
    total_of,
    update_rows,
)
from recollectum.storage.engine import Progress
from recollectum.storage.port import Row, Tx

#: Returns the number and the search terms of these chunks, or of all.
SomeTerms = Callable[[Tx, Collection[int] | None], Iterable[tuple[int, str]]]
Key = tuple[Any, ...]
#: The digest of each row by its key, by table. A table without a key has one entry for all of its rows.
RowDigests = Mapping[str, Mapping[Key, bytes]]
#: Triggers of the copy can change other rows than those that were written; then they are compared again.
_ROUNDS = 4
_CHUNKS = "chunks"
_INDEXED = "SELECT number FROM chunks"
_OF_TEXTS = "SELECT number FROM chunks WHERE source = :source AND source_number IN (SELECT value FROM numbers(:list))"
#: The tables whose rows are texts with chunks, by the name of the source; a change of a row may change its terms.
_TEXTS = {"memories": "memories", "messages": "sessions", "notes": "notes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableChanges:
    """The rows of one table in which a copy differs."""

    table: CopiedTable
    added: list[Row] = field(default_factory=list[Row])
    changed: list[Row] = field(default_factory=list[Row])
    gone: list[Key] = field(default_factory=list[Key])
    #: The digests of all rows that the table has.
    digests: list[bytes] = field(default_factory=list[bytes])

    @property
    def whole(self) -> TableDigest:
        """Return the digest of the table."""
        return total_of(self.digests)

    @property
    def count(self) -> int:
        """Return how many rows differ."""
        return len(self.added) + len(self.changed) + len(self.gone)

    def numbers(self, rows: Iterable[Row]) -> list[int]:
        """Return the numbers of some of the rows."""
        place = self.table.columns.index("number")
        return [row[place] for row in rows]


def read_digests(tx: Tx, tables: Sequence[CopiedTable]) -> dict[str, dict[Key, bytes]]:
    """Return the digest of each row."""
    return {name: dict(rows) for name, rows in _all_digested(tx, tables).items()}


def _all_digested(tx: Tx, tables: Sequence[CopiedTable]) -> dict[str, list[tuple[Key, bytes]]]:
    """Return the key and the digest of each row: two rows without a key may be alike."""
    found: dict[str, list[tuple[Key, bytes]]] = {table.name: [] for table in tables}
    for table in filled(tx, tables):
        for page in pages_of(tx, table):
            found[table.name] += _digested(table, page)
    return found


def _digested(table: CopiedTable, page: Sequence[Row]) -> Iterator[tuple[Key, bytes]]:
    """Yield the key and the digest of each row; without a key a row is known by its digest, and never changed."""
    key, digests = _key_of(table), row_digests(page)
    return zip(map(key, page) if key else ((one,) for one in digests), digests, strict=True)


def find_changes(source: Tx, tables: Sequence[CopiedTable], known: RowDigests) -> list[TableChanges]:
    """Return how the rows of a database differ from those of a copy, table by table."""
    return [_changes_of(source, table, known[table.name]) for table in tables]


def replace_rows(
    source: Tx, target: Tx, tables: Sequence[CopiedTable], terms: SomeTerms, progress: Progress = lambda _: None
) -> RowDigests:
    """Replace all rows of a copy, compare them with what was read, and return the digests of the copy."""
    target.text.remove(row[0] for row in target.rows(_INDEXED, {}))
    clear_rows(target, tables)
    read = copy_rows(source, target, tables, progress)
    target.text.add(terms(source, None))
    written = _all_digested(target, tables)
    check_equal(read, {name: total_of([one for _, one in rows]) for name, rows in written.items()}, "the new place")
    return {name: dict(rows) for name, rows in written.items()}


def bring_up_to_date(
    source: Tx, target: Tx, tables: Sequence[CopiedTable], known: RowDigests, terms: SomeTerms | None
) -> int:
    """Copy what differs from `known`, the digests of the copy, until all rows are equal; return how many differed.

    Without `terms` there is no text index, as in a catalog.
    """
    changes = find_changes(source, tables, known)
    wanted = {one.table.name: one.whole for one in changes}
    count = sum(one.count for one in changes)
    for _ in range(_ROUNDS if count else 0):
        _apply(source, target, changes, terms)
        if digest_rows(target, tables) == wanted:
            break
        changes = find_changes(source, tables, read_digests(target, tables))
    else:
        if count:
            raise StorageError("the copy still differs from the vault; copy all of it")
    if terms and source.text.count() != target.text.count():
        raise StorageError("the text index of the copy differs from that of the vault; copy all of it")
    return count


def _changes_of(source: Tx, table: CopiedTable, known: Mapping[Key, bytes]) -> TableChanges:
    found = TableChanges(table=table)
    left = set(known)
    for page in pages_of(source, table):
        for row, (key, digest) in zip(page, _digested(table, page), strict=True):
            found.digests.append(digest)
            left.discard(key)
            before = known.get(key)
            if before is None:
                found.added.append(row)
            elif before != digest:
                found.changed.append(row)
    found.gone.extend(left)
    return found


def _key_of(table: CopiedTable) -> Callable[[Row], Key] | None:
    """Return what takes the key from a row; None if the table has none."""
    places = [table.columns.index(name) for name in table.key]
    if len(places) == 1:
        (only,) = places
        return lambda row: (row[only],)
    return itemgetter(*places) if places else None


def _apply(source: Tx, target: Tx, changes: Sequence[TableChanges], terms: SomeTerms | None) -> None:
    gone, indexed = _chunks_to_index(source, changes) if terms else ((), ())
    if terms:
        target.text.remove([*gone, *indexed])
    for one in reversed(changes):
        _delete(target, one)
    for one in changes:
        update_rows(target, one.table, one.changed)
        # Replacing: the triggers of an update may have added the row already.
        insert_rows(target, one.table, one.added, replacing=True)
    if terms and indexed:
        target.text.add(terms(source, indexed))


def _delete(target: Tx, changes: TableChanges) -> None:
    table = changes.table
    if not table.key:
        if changes.gone:
            raise StorageError(f"rows of {table.name} are gone, and have no key; copy all of it")
        return
    condition = " AND ".join(f'"{name}" = :{name}' for name in table.key)
    for key in changes.gone:
        hidden = hide_key(table, key, target.stand_ins.hide)
        target.run(f'DELETE FROM "{table.name}" WHERE {condition}', hidden)  # noqa: S608 - names of our own schema


def _chunks_to_index(source: Tx, changes: Sequence[TableChanges]) -> tuple[list[int], set[int]]:
    """Return the numbers of the chunks that are gone, and of those whose terms may be new."""
    gone: list[int] = []
    indexed: set[int] = set()
    for one in changes:
        if one.table.name == _CHUNKS:
            gone += [key[0] for key in one.gone]
            indexed.update(one.numbers([*one.added, *one.changed]))
        elif one.changed and one.table.name in _TEXTS:
            given = {"source": _TEXTS[one.table.name], "list": json.dumps(one.numbers(one.changed))}
            indexed.update(row[0] for row in source.rows(_OF_TEXTS, given))
    return gone, indexed
