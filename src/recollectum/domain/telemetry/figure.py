"""Defines a number that operators watch, such as the connections in use."""

from collections.abc import Mapping

from recollectum.domain.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number, or one for each value of a label. No name of a person and no content is in it."""

    #: Lower case with underscores, without the name of the program and without an ending such as `_total`.
    name: str
    words: str
    #: The number by the value of the label; under the empty text where there is no label.
    values: Mapping[str, float]
    label: str = ""
    #: Whether it only grows while the process runs.
    grows: bool = False
