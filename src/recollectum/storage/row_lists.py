"""Writes rows as named parameters of one statement, so that a list takes one statement instead of a loop."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from recollectum.storage.port import Value

#: Rows per statement: few enough for the limit on parameters, and for few different statement texts.
_BATCH = 64
_NO_TYPES: Mapping[str, str] = {}


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
