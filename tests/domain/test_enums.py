"""A word is a member of an enum, or is refused with the choices; an alias lists the words of its enum."""

from enum import StrEnum
from typing import get_args

import pytest

from recollectum.domain.access.caller import Permission, PermissionName, Scope, ScopeName
from recollectum.domain.errors import InvalidInput
from recollectum.domain.event import EventType, EventTypeName
from recollectum.domain.hit import SourceKind, SourceName
from recollectum.domain.ids import parse_enum, parse_optional_enum
from recollectum.domain.learning import CATEGORIES, CategoryName
from recollectum.domain.memory import Kind, KindName, State, StateName
from recollectum.domain.message import Role, RoleName
from recollectum.domain.proposal import Decision, DecisionName
from recollectum.domain.trust import Trust, TrustName
from recollectum.storage.tables.learning.jobs import JobState, JobStateName

#: Each enum whose words callers may write, and the type of those words.
NAMES: dict[type[StrEnum], object] = {
    Decision: DecisionName,
    EventType: EventTypeName,
    JobState: JobStateName,
    Kind: KindName,
    Permission: PermissionName,
    Role: RoleName,
    Scope: ScopeName,
    SourceKind: SourceName,
    State: StateName,
    Trust: TrustName,
}


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


def test_only_a_value_that_was_not_given_is_none() -> None:
    assert parse_optional_enum(Drink, None, "drink") is None
    assert parse_optional_enum(Drink, "tea", "drink") is Drink.TEA
    with pytest.raises(InvalidInput, match="drink '' is unknown; use one of tea, coffee"):
        parse_optional_enum(Drink, "", "drink")


def _words(alias: object) -> tuple[object, object]:
    """The enum of an alias, and the words of its Literal."""
    enum, words = get_args(alias)
    return enum, get_args(words)


@pytest.mark.parametrize("enum", NAMES)
def test_an_alias_lists_the_word_of_every_member(enum: type[StrEnum]) -> None:
    assert _words(NAMES[enum]) == (enum, tuple(one.value for one in enum))


def test_the_alias_of_categories_lists_the_word_of_each() -> None:
    assert _words(CategoryName) == (Kind, tuple(one.value for one in CATEGORIES))
