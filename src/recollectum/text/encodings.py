"""Encodings: the vocabularies of known models, as the package behind `recollectum[tokens]` ships them."""

import importlib
from collections.abc import Callable
from functools import cache
from typing import Protocol, cast


class _Encoding(Protocol):
    def count(self, text: str) -> int: ...


@cache
def encoding(name: str) -> Callable[[str], int] | None:
    """A function that counts in an encoding such as `o200k_base`; None when the package is not installed."""
    try:
        # Optional, and 45 MB of tables in memory: only who counts for a known model pays for them.
        package = importlib.import_module("rs_bpe.bpe").openai
    except ImportError:
        return None
    vocabulary = cast("Callable[[], _Encoding]", getattr(package, name))()
    # A lone surrogate has no bytes in UTF-8; something else is sent in its place.
    return lambda text: vocabulary.count(text.encode("utf-8", "replace").decode("utf-8"))
