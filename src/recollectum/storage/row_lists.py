"""Writes rows as named parameters of one statement, so that a list takes one statement instead of a loop."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from recollectum.storage.port import Value

#: Rows per statement: few enough for the limit on parameters, and for few different statement texts.
_BATCH = 64


def values_of(names: Sequence[str], rows: Iterable[Sequence[Value]]) -> Iterator[tuple[str, dict[str, Value]]]:
    """Yield for each batch of rows the VALUES list, such as `(:a0, :b0), (:a1, :b1)`, and its parameters."""
    waiting = iter(rows)
    while batch := list(islice(waiting, _BATCH)):
        listed = ", ".join("(" + ", ".join(f":{name}{n}" for name in names) + ")" for n in range(len(batch)))
        named = (zip(names, row, strict=True) for row in batch)
        yield listed, {f"{name}{n}": value for n, row in enumerate(named) for name, value in row}
