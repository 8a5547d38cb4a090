"""Counts the tokens of a text: exactly if the model's vocabulary is installed, else as an upper bound."""

import importlib
import re
from collections.abc import Callable
from functools import cache
from typing import Protocol, cast

from recollectum.domain.records import dataclass


class _Encoding(Protocol):
    def count(self, text: str) -> int: ...


@cache
def encoding(name: str) -> Callable[[str], int] | None:
    """Return a function that counts in an encoding such as `o200k_base`; None when the package is not installed."""
    try:
        # Optional, and 45 MB of tables in memory: only a program that counts for a known model pays for them.
        package = importlib.import_module("rs_bpe.bpe").openai
    except ImportError:
        return None
    vocabulary = cast("Callable[[], _Encoding]", getattr(package, name))()
    # A lone surrogate has no bytes in UTF-8; a replacement character is sent in its place.
    return lambda text: vocabulary.count(text.encode("utf-8", "replace").decode("utf-8"))


# The newer names first: `gpt-4o` begins with `gpt-4`.
_ENCODING_OF = (
    (re.compile(r"(?:chatgpt-)?(?:gpt-4o|gpt-4\.[15]|gpt-5|gpt-oss|o[134])(?![0-9a-z])"), "o200k_base"),
    (re.compile(r"gpt-(?:4|3\.?5)(?![0-9a-z])|text-embedding-(?:3|ada-002)"), "cl100k_base"),
)
_EIGHTHS = 8
_LETTER, _MARK, _TWO_BYTES, _THREE_BYTES, _FOUR_BYTES = 2, 4, 4, 10, 24
_ASCII = bytes(range(0x80))
_MARKS = bytes(code for code in _ASCII if not (chr(code).isalpha() or chr(code).isspace()))
_LETTERS = bytes(code for code in _ASCII if code not in _MARKS)
_LEADS_OF_TWO = bytes(range(0xC0, 0xE0))
_LEADS_OF_THREE = bytes(range(0xE0, 0xF0))
_LEADS_OF_FOUR = bytes(range(0xF0, 0xF8))
_WEIGHTS = (
    (_MARKS, _MARK),
    (_LETTERS, _LETTER),
    (_LEADS_OF_TWO, _TWO_BYTES),
    (_LEADS_OF_THREE, _THREE_BYTES),
    (_LEADS_OF_FOUR, _FOUR_BYTES),
)


def estimate(text: str) -> int:
    """Return about how many tokens a text has, for any model; 0 for an empty one."""
    data = text.encode("utf-8", "surrogatepass")
    kinds = _WEIGHTS[:2] if text.isascii() else _WEIGHTS
    # Deleting one kind of byte and taking the length of the rest is the fastest way to count it.
    eighths = sum((len(data) - len(data.translate(None, kind))) * weight for kind, weight in kinds)
    return -(-eighths // _EIGHTHS)


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """A way to count tokens, and whether it is the model's own."""

    #: The encoding, such as `o200k_base`, or `ceiling`.
    name: str
    exact: bool
    count: Callable[[str], int]


def counter_for(model: str | None) -> TokenCounter:
    """Return the counter for a model: by its vocabulary if that is known and installed, else an upper bound.

    Ask again for each piece of work: the upper bound remembers the lines that it has counted.
    """
    name = _encoding_of(model) if model else None
    count = encoding(name) if name else None
    if name is None or count is None:
        # Import here: its table takes a while to load, and most programs count nothing.
        from recollectum.text.ceilings import LineCeiling  # noqa: PLC0415

        return TokenCounter("ceiling", exact=False, count=LineCeiling())
    return TokenCounter(name, exact=True, count=count)


def _encoding_of(model: str) -> str | None:
    # A name may have its provider before it, as in `openai:gpt-4o` or `openrouter/openai/gpt-4o`, or the prefix of a
    # tuning.
    bare = re.split(r"[:/]", model.lower().removeprefix("ft:"))
    return next((name for part in bare for pattern, name in _ENCODING_OF if pattern.match(part)), None)
