"""Decides whether a new memory duplicates a known one; a new word, number or time makes it different."""

from collections.abc import Iterable
from datetime import datetime

from recollectum.domain.memory import Memory


def find_duplicate(
    candidates: Iterable[Memory], *, key: str | None, valid_from: datetime | None, valid_to: datetime | None
) -> Memory | None:
    """Return the candidate with the same statement about the same time, under the same key or without one."""
    for memory in candidates:
        if is_same_time(memory, valid_from, valid_to) and (key is None or memory.key in (None, key)):
            return memory
    return None


def is_same_time(memory: Memory, valid_from: datetime | None, valid_to: datetime | None) -> bool:
    """Return whether a statement is about the time of a memory: one without times is about now."""
    if valid_from is None and valid_to is None:
        return memory.valid_to is None
    return (memory.valid_from, memory.valid_to) == (valid_from, valid_to)


def later_deadline(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return the later of two deadlines, where None is never: repeating a statement does not shorten its life."""
    return None if one is None or other is None else max(one, other)
