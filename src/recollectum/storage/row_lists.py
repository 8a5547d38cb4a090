"""Gives rows the names of their columns, so that a list of rows takes one statement instead of a loop."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import overload

from recollectum.storage.port import Params, Row, Value

#: Rows per statement: few enough for the limit on parameters, and for few different statement texts.
_BATCH = 64
_NO_TYPES: Mapping[str, str] = {}


class ColumnRows(Sequence[Params]):
    """Rows as the parameters of a statement. An engine that sends columns takes them without naming each value."""

    def __init__(self, names: Sequence[str], rows: Sequence[Row]) -> None:
        self._names = names
        self._rows = rows

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> Params: ...

    @overload
    def __getitem__(self, place: slice) -> "ColumnRows": ...

    def __getitem__(self, place: int | slice) -> "Params | ColumnRows":
        """Return a row with its names, or some of the rows."""
        if isinstance(place, slice):
            return ColumnRows(self._names, self._rows[place])
        return dict(zip(self._names, self._rows[place], strict=True))

    def column(self, name: str) -> list[Value]:
        """Return the values of one column."""
        place = self._names.index(name)
        return [row[place] for row in self._rows]


class Columns(Sequence[Params]):
    """Rows that are made column by column, as the parameters of a statement; all columns have one length."""

    def __init__(self, columns: Mapping[str, Sequence[Value]]) -> None:
        self._columns = columns
        self._count = len(next(iter(columns.values())))

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._count

    @overload
    def __getitem__(self, place: int) -> Params: ...

    @overload
    def __getitem__(self, place: slice) -> "Columns": ...

    def __getitem__(self, place: int | slice) -> "Params | Columns":
        """Return a row with its names, or some of the rows."""
        if isinstance(place, slice):
            return Columns({name: column[place] for name, column in self._columns.items()})
        return {name: column[place] for name, column in self._columns.items()}

    def __iter__(self) -> Iterator[Params]:
        """Yield the rows with their names."""
        names = tuple(self._columns)
        for row in zip(*self._columns.values(), strict=True):
            yield dict(zip(names, row, strict=True))

    def column(self, name: str) -> Sequence[Value]:
        """Return the values of one column."""
        return self._columns[name]


def column_of(rows: Sequence[Params], name: str) -> Sequence[Value]:
    """Return the values of one column of rows."""
    return rows.column(name) if isinstance(rows, ColumnRows | Columns) else [row[name] for row in rows]


def values_of(
    names: Sequence[str], rows: Iterable[Sequence[Value]], types: Mapping[str, str] = _NO_TYPES
) -> Iterator[tuple[str, dict[str, Value]]]:
    """Yield for each batch of rows the VALUES list, such as `(:a0, :b0), (:a1, :b1)`, and its parameters.

    `types` gives the type of parameters that no column gives one.
    """
    words = [f"CAST(:{name}{{n}} AS {types[name]})" if name in types else f":{name}{{n}}" for name in names]
    form = f"({', '.join(words)})"
    waiting = iter(rows)
    while batch := list(islice(waiting, _BATCH)):
        listed = ", ".join(form.format(n=n) for n in range(len(batch)))
        named = (zip(names, row, strict=True) for row in batch)
        yield listed, {f"{name}{n}": value for n, row in enumerate(named) for name, value in row}
