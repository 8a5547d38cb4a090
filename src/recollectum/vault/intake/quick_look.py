"""Tells at once what the intake need not look for in each of many texts, by looking at each distinct word once."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from recollectum.context.echoes import TAGS
from recollectum.context.served import BEGINNINGS
from recollectum.text.word_look import WordLook, passed_by

#: Cleaning replaces it; of ASCII it replaces nothing else.
_NUL = "\0"
#: A text that may be a JSON object is looked at by itself: its escapes may spell anything. Many are documents of a
#: framework, each with names that no other has.
_OBJECT = "{"


class Looked(NamedTuple):
    """What is certain of a text."""

    #: It needs no cleaning, and has no echo and no secret.
    stays: bool = False
    #: It tells of no person and no address.
    tells_of_nobody: bool = False


NOTHING_CERTAIN = Looked()
#: The same few for all texts.
_CERTAIN = {one[:]: one for one in (Looked(a, b) for a in (False, True) for b in (False, True))}


def look_at(texts: Sequence[object]) -> list[Looked]:
    """Return what is certain of each text before it is admitted; faster for many than to look at one by one."""
    looked = [NOTHING_CERTAIN] * len(texts)
    # What is no text is refused when it is admitted; a program without a type checker may pass anything.
    plain = {at: text for at, text in enumerate(texts) if isinstance(text, str) and not text.startswith(_OBJECT)}
    if len(plain) > 1:
        # A single one is looked at when it is admitted.
        for at, *pair in zip(plain, *passed_by(_looks(), [*plain.values()]), strict=True):
            looked[at] = _CERTAIN[tuple(pair)]
    return looked


@cache
def _looks() -> tuple[WordLook, WordLook]:
    # Imported here: the patterns are slow to compile, and a program that only reads needs none of them.
    from recollectum.text.contacts.hints import word_look  # noqa: PLC0415
    from recollectum.text.secrets.long_words import SHORTEST_LONG_WORD  # noqa: PLC0415
    from recollectum.text.secrets.redaction import HINTS, PIN  # noqa: PLC0415

    return WordLook((_NUL, _OBJECT, *TAGS, *BEGINNINGS, *HINTS), PIN, longest=SHORTEST_LONG_WORD), word_look()
