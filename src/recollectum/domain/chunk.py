"""Chunk: the unit of the index, a piece of a memory or message with its place in it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chunk:
    """The characters from `start` to `end` of one text."""

    text: str
    start: int
    end: int
