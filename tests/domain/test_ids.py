"""Ids made together are those that calls one after the other make, in their order."""

from datetime import UTC, datetime

import pytest

from recollectum.domain.ids import IdMaker, is_id

_TIMES = (datetime(2026, 5, 1, tzinfo=UTC), datetime(1969, 5, 1, tzinfo=UTC))


@pytest.mark.parametrize("at", _TIMES)
@pytest.mark.parametrize("first", [0, 1020, 1023, (1 << 20) - 3, (1 << 80) - 3])
def test_many_are_as_one_by_one(at: datetime, first: int) -> None:
    def chance(_: int) -> int:
        return first

    together, apart = IdMaker(lambda: at, chance), IdMaker(lambda: at, chance)
    made = [*together.many("mem", 5), together("ses"), *together.many("mem", 2_100), *together.many("mem", 0)]
    assert made == [apart("ses" if place == 5 else "mem") for place in range(len(made))]
    assert len(set(made)) == len(made)
    assert sorted(one[4:] for one in made) == [one[4:] for one in made]
    assert all(is_id(one, one[:3]) for one in made)


def test_many_begin_after_what_was_made_before() -> None:
    ids = IdMaker()
    made = [one for _ in range(50) for one in (ids("mem"), *ids.many("mem", 7))]
    assert made == sorted(set(made))
