"""A bucket empties with requests and fills with time."""

from recollectum.doors.http.rate_limit import RateLimiter


class Turning:
    """A clock that is turned by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_fills_again() -> None:
    clock = Turning()
    rates = RateLimiter(60, clock)
    assert [rates.take("a") for _ in range(60)] == [0.0] * 60
    assert rates.take("a") == rates.wait("a") == 1.0
    assert rates.take("b") == 0.0
    clock.now = 1.0
    assert rates.take("a") == 0.0
    assert rates.take("a") > 0
    clock.now = 1000.0
    assert [rates.take("a") for _ in range(61)].count(0.0) == 60


def test_no_limit_is_none() -> None:
    rates = RateLimiter(0, Turning())
    assert not any(rates.take("a") for _ in range(1000))


def test_many_callers_do_not_fill_the_memory() -> None:
    rates = RateLimiter(1, Turning())
    for number in range(30_000):
        rates.take(number)
    assert len(vars(rates)["_buckets"]) == 10_000
