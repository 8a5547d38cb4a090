"""Time-ordered text ids, `mem_01j…`: a prefix that names the noun, then 48 bits of time and 80 of chance."""

import hashlib
import secrets
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

#: The clock is an argument everywhere, so that tests can turn it.
Clock = Callable[[], datetime]

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = tuple(a + b for a in _ALPHABET for b in _ALPHABET)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_RANDOM_BITS = 80
_LENGTH = 26


def system_clock() -> datetime:
    """The time now, in UTC."""
    return datetime.now(UTC)


class IdMaker:
    """Makes ids that sort in the order in which one process made them."""

    def __init__(self, clock: Clock = system_clock, random_bits: Callable[[int], int] = secrets.randbits) -> None:
        self._clock = clock
        self._random_bits = random_bits
        self._last = 0
        self._lock = threading.Lock()

    def __call__(self, prefix: str) -> str:
        """A new id for the noun that `prefix` names."""
        millis = max(0, (self._clock() - _EPOCH) // _MILLISECOND)
        number = (millis << _RANDOM_BITS) | self._random_bits(_RANDOM_BITS)
        with self._lock:
            # A clock that stands still or goes back must not undo the order.
            if number <= self._last:
                number = self._last + 1
            self._last = number
        return f"{prefix}_{_encode(number)}"


def derived_id(prefix: str, at: datetime, seed: str) -> str:
    """The id of a thing that has a name of its own elsewhere: the same name gives the same id, however often."""
    millis = max(0, (at - _EPOCH) // _MILLISECOND)
    digest = hashlib.blake2b(seed.encode("utf-8", "surrogatepass"), digest_size=_RANDOM_BITS // 8).digest()
    return f"{prefix}_{_encode((millis << _RANDOM_BITS) | int.from_bytes(digest))}"


def _encode(number: int) -> str:
    """Crockford's base 32, two characters a step, as 26 characters."""
    pairs: list[str] = []
    for _ in range(_LENGTH // 2):
        pairs.append(_PAIRS[number & 1023])
        number >>= 10
    return "".join(reversed(pairs))


def is_id(text: str, prefix: str) -> bool:
    """Whether `text` has the form of an id of that noun."""
    head, _, tail = text.partition("_")
    return head == prefix and len(tail) == _LENGTH and all(c in _ALPHABET for c in tail)
