"""Makes ids, checks names and parses enum values; provides the system clock, and one that never goes back."""

import hashlib
import secrets
import threading
import time
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import TypeVar

from recollectum.domain.errors import InvalidInput

#: The clock is always an argument, so that tests can set it.
Clock = Callable[[], datetime]


_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


_PAIRS = tuple(a + b for a in _ALPHABET for b in _ALPHABET)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


_MILLISECOND = timedelta(milliseconds=1)


_RANDOM_BITS = 80


_ID_LENGTH = 26


#: The bits of two characters, and the number of all of them set.
_BITS_OF_PAIR, _PAIR = 10, 1023


def system_clock() -> datetime:
    """Return the current time, in UTC."""
    return datetime.now(UTC)


#: How much a wall clock may lose by an ordinary correction.
_CORRECTION = timedelta(seconds=1)


class SteadyClock:
    """A clock that never goes back: when the wall clock is set back, it goes on from the latest time it has shown.

    What ends after a while, such as a link, must not become valid again because somebody turned the clock.
    """

    def __init__(self, wall: Clock = system_clock, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._wall = wall
        self._elapsed = elapsed
        self._shown: tuple[datetime, float] | None = None
        self._lock = threading.Lock()

    def __call__(self) -> datetime:
        """Return the wall clock's time, or the latest time shown plus what has elapsed since, if that is far later."""
        with self._lock:
            now, elapsed = self._wall(), self._elapsed()
            if self._shown is not None:
                latest, since = self._shown
                due = latest + timedelta(seconds=elapsed - since)
                now = due if due - now > _CORRECTION else max(now, latest)
            self._shown = now, elapsed
        return now

    def advance(self, at: datetime) -> None:
        """Go on from a later time that somebody else has seen."""
        with self._lock:
            if self._shown is None or self._shown[0] < at:
                self._shown = at, self._elapsed()


class IdMaker:
    """Makes ids that sort in the order in which one process made them."""

    def __init__(self, clock: Clock = system_clock, random_bits: Callable[[int], int] = secrets.randbits) -> None:
        self._clock = clock
        self._random_bits = random_bits
        self._last = 0
        self._lock = threading.Lock()

    def __call__(self, prefix: str) -> str:
        """Return a new id with the noun's `prefix`."""
        return f"{prefix}_{_encode(self._take(1))}"

    def many(self, prefix: str, count: int) -> list[str]:
        """Return new ids in order; those after the first are the next numbers."""
        first = self._take(count)
        # All but the last two characters are mostly the same.
        return [
            f"{prefix}_{_encode_begin(number >> _BITS_OF_PAIR)}{_PAIRS[number & _PAIR]}"
            for number in range(first, first + count)
        ]

    def _take(self, count: int) -> int:
        """Return the first of so many new numbers that follow each other."""
        millis = max(0, (self._clock() - _EPOCH) // _MILLISECOND)
        number = (millis << _RANDOM_BITS) | self._random_bits(_RANDOM_BITS)
        with self._lock:
            # A clock that stops or goes back must not break the order.
            if number <= self._last:
                number = self._last + 1
            self._last = number + count - 1
        return number


def derived_id(prefix: str, at: datetime, seed: str) -> str:
    """Return the id of a thing with a name elsewhere: the same name always gives the same id."""
    millis = max(0, (at - _EPOCH) // _MILLISECOND)
    digest = hashlib.blake2b(seed.encode("utf-8", "surrogatepass"), digest_size=_RANDOM_BITS // 8).digest()
    return f"{prefix}_{_encode((millis << _RANDOM_BITS) | int.from_bytes(digest))}"


def _encode(number: int) -> str:
    """Encode as Crockford's base 32, two characters at a time, 26 characters in all."""
    return _encode_millis(number >> _RANDOM_BITS) + _encode_pairs(number, _RANDOM_BITS // 10)


@lru_cache(maxsize=16)
def _encode_millis(millis: int) -> str:
    """Encode the time of an id, which is that of many ids where they are made together."""
    return _encode_pairs(millis, _ID_LENGTH // 2 - _RANDOM_BITS // 10)


@lru_cache(maxsize=16)
def _encode_begin(number: int) -> str:
    """Encode all but the last pair of an id, given without the bits of that pair."""
    return _encode(number << _BITS_OF_PAIR)[:-2]


def _encode_pairs(number: int, count: int) -> str:
    pairs: list[str] = []
    for _ in range(count):
        pairs.append(_PAIRS[number & 1023])
        number >>= 10
    pairs.reverse()
    return "".join(pairs)


def is_id(text: str, prefix: str) -> bool:
    """Return whether `text` has the form of an id with that prefix."""
    head, _, tail = text.partition("_")
    return head == prefix and len(tail) == _ID_LENGTH and all(c in _ALPHABET for c in tail)


MAX_NAME_LENGTH = 128
#: An index of PostgreSQL takes 2,700 bytes, of which encryption and the columns beside it need a few.
MAX_INDEXED_BYTES = 2000


_SEPARATORS = frozenset("/\\:")


_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK")


# Letters of other alphabets that look like a Latin one; a capital may look like another letter than its lower case.
_LOOKALIKES = str.maketrans(
    "абвгдеһіјкԛѕмнорстухԝѵԁ" + "αβγεηικνορτυχωϲϳ" + "ıɑɡʀʏᴀᴄᴇᴏᴜᴠᴡᴢ" + "АВЕКМНОРСТУХІЈЅԚԜѴ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ",
    "a6brdehijkqsmhopctyxwvd" + "abyenikvoptuxwcj" + "iagryaceouvwz" + "ABEKMHOPCTYXIJSQWV" + "ABEZHIKMNOPTYXC",
)


def check_indexed(text: str, what: str) -> str:
    """Return a text by which rows are found; raise when it is too long for an index."""
    # A character has at most four bytes.
    if 4 * len(text) > MAX_INDEXED_BYTES and len(text.encode()) > MAX_INDEXED_BYTES:
        raise InvalidInput(f"{what} of {len(text.encode())} bytes is too long; use at most {MAX_INDEXED_BYTES}")
    return text


def check_name(name: str, what: str) -> str:
    """Return the normalised name; raise with the reason when it is invalid."""
    if not name:
        raise InvalidInput(f"{what} name is empty; give it at least one letter or digit")
    if len(name) > 2 * MAX_NAME_LENGTH:
        raise InvalidInput(f"{what} name of {len(name)} characters is too long; use at most {MAX_NAME_LENGTH}")
    for char in name:
        _check_character(char, name, what)
    spelled = unicodedata.normalize("NFC", name)
    # Measured in the normalised form, which can be longer or shorter.
    if len(spelled) > MAX_NAME_LENGTH:
        raise InvalidInput(f"{what} name of {len(spelled)} characters is too long; use at most {MAX_NAME_LENGTH}")
    if spelled.startswith(".") or spelled.endswith("."):
        raise InvalidInput(f"{what} name {spelled!r} begins or ends with a dot; leave it out")
    if len(_scripts(spelled)) > 1:
        raise InvalidInput(f"{what} name {spelled!r} mixes alphabets that look alike; spell it in one")
    return spelled


def _check_character(char: str, name: str, what: str) -> None:
    category = unicodedata.category(char)
    if char in _SEPARATORS or category[0] in "CZ":
        raise InvalidInput(f"{what} name {name!r} holds {char!r}; use no spaces, control characters, colons or slashes")


def _scripts(name: str) -> set[str]:
    named = (unicodedata.name(char, "") for char in name if char.isalpha())
    return {script for full in named for script in _SCRIPTS if full.startswith(script)}


def skeleton(name: str) -> str:
    """Return what the name looks like: two names with one skeleton can be mistaken for each other."""
    # Before folding, which would turn some characters into letters that look different.
    seen = unicodedata.normalize("NFKC", name.translate(_LOOKALIKES)).casefold()
    return unicodedata.normalize("NFKC", seen.translate(_LOOKALIKES))


E = TypeVar("E", bound=StrEnum)


def check_text(name: str, value: object) -> None:
    """Raise unless the value is text; `name` is the caller's name for it."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {'None' if value is None else type(value).__name__}")


def parse_enum(cls: type[E], value: str, name: str) -> E:
    """Return the enum member with that value; `name` is the caller's name for it, used in the error."""
    try:
        return cls(value)
    except ValueError:
        raise InvalidInput(f"{name} {value!r} is unknown; use one of {', '.join(cls)}") from None


def parse_optional_enum(cls: type[E], value: str | None, name: str) -> E | None:
    """Return the enum member with that value, or None when no value was given."""
    return None if value is None else parse_enum(cls, value, name)
