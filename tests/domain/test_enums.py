"""A word is a member of an enum, or is refused with the choices."""

from enum import StrEnum

import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import parse_enum


class Drink(StrEnum):
    TEA = "tea"
    COFFEE = "coffee"


def test_a_word_is_the_member_of_that_value() -> None:
    assert parse_enum(Drink, "tea", "drink") is Drink.TEA
    assert parse_enum(Drink, Drink.COFFEE, "drink") is Drink.COFFEE


@pytest.mark.parametrize("value", ["", "TEA", "milk", "TEA "])
def test_any_other_word_is_refused_with_the_choices(value: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_enum(Drink, value, "drink")
    assert str(refused.value) == f"drink {value!r} is unknown; use one of tea, coffee"
