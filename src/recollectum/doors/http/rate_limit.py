"""Limits requests per key and per address with token buckets."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from recollectum.domain.records import dataclass

#: Above this many callers the longest idle ones are forgotten; a forgotten one starts with a full bucket.
_MOST_CALLERS = 10_000
_MINUTE = 60.0


@dataclass(slots=True)
class _TokenBucket:
    left: float
    at: float


class RateLimiter:
    """A token bucket for each caller: so many requests at once, and as many again per minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._buckets: OrderedDict[Hashable, _TokenBucket] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, who: Hashable) -> float:
        """Return the seconds until the caller may ask again; 0 for now."""
        if not self._per_minute:
            return 0.0
        with self._lock:
            return self._shortfall(self._filled(who))

    def take(self, who: Hashable) -> float:
        """Count one request; return the seconds to wait when none is left, and then do not count it."""
        if not self._per_minute:
            return 0.0
        with self._lock:
            bucket = self._filled(who)
            wait = self._shortfall(bucket)
            if not wait:
                bucket.left -= 1
            return wait

    def _shortfall(self, bucket: _TokenBucket) -> float:
        return 0.0 if bucket.left >= 1 else (1 - bucket.left) * _MINUTE / self._per_minute

    def _filled(self, who: Hashable) -> _TokenBucket:
        now = self._clock()
        bucket = self._buckets.get(who)
        if bucket is None:
            bucket = self._buckets[who] = _TokenBucket(float(self._per_minute), now)
            if len(self._buckets) > _MOST_CALLERS:
                self._buckets.popitem(last=False)
            return bucket
        self._buckets.move_to_end(who)
        bucket.left = min(float(self._per_minute), bucket.left + (now - bucket.at) * self._per_minute / _MINUTE)
        bucket.at = now
        return bucket
