"""The dataclass decorator of the house: it makes the classes that the standard one makes, from less source."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any, get_type_hints

import pytest

from recollectum.domain import records

_Decorator = Callable[..., Callable[[type], type]]


def _point(dataclass: _Decorator, **options: bool) -> Any:  # noqa: ANN401 - a class that only the test knows
    @dataclass(frozen=True, slots=True, **options)
    class Point:
        """A point."""

        x: int
        y: int = 2
        tags: list[str] = dataclasses.field(default_factory=list[str])
        seen: int = dataclasses.field(default=0, compare=False, repr=False)
        made: str = dataclasses.field(default="here", init=False)

        @property
        def total(self) -> int:
            """Return the sum."""
            return self.x + self.y

    return Point


@records.dataclass(frozen=True, slots=True)
class Named:
    """A class that pickle finds."""

    name: str
    parts: tuple[str, ...] = ()


@records.dataclass(frozen=True, slots=True)
class Late:
    """A class whose annotation is a text."""

    of: "Named | None"


@records.dataclass(frozen=True, slots=True, kw_only=True)
class Checked(Named):
    """A subclass with another field and a check."""

    size: int = 1

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError(f"size is {self.size}")


@pytest.mark.parametrize("options", [{}, {"kw_only": True}, {"repr": False}, {"weakref_slot": True}, {"order": True}])
def test_a_class_is_the_one_that_the_standard_decorator_makes(options: dict[str, bool]) -> None:
    ours, standard = _point(records.dataclass, **options), _point(dataclasses.dataclass, **options)
    assert str(inspect.signature(ours)) == str(inspect.signature(standard))
    assert ours.__slots__ == standard.__slots__
    assert ours.__match_args__ == standard.__match_args__
    assert ours.__init__.__qualname__ == standard.__init__.__qualname__
    assert [one.name for one in dataclasses.fields(ours)] == [one.name for one in dataclasses.fields(standard)]
    for given in ({"x": 1}, {"x": 1, "y": 5, "tags": ["a"], "seen": 7}):
        one, other = ours(**given), standard(**given)
        assert dataclasses.asdict(one) == dataclasses.asdict(other)
        assert one.total == other.total
        if options.get("repr", True):
            assert repr(one) == repr(other)
        assert dataclasses.replace(one, y=9).y == 9
    for wrong in ({}, {"x": 1, "z": 2}, {"x": 1, "made": "there"}):
        with pytest.raises(TypeError) as ours_said:
            ours(**wrong)
        with pytest.raises(TypeError) as standard_said:
            standard(**wrong)
        assert str(ours_said.value) == str(standard_said.value)


def test_instances_are_compared_and_hashed_by_their_fields() -> None:
    assert Named("a", ("b",)) == Named("a", ("b",)) != Named("a", ("c",))
    assert len({Named("a"), Named("a"), Named("b")}) == 2
    assert Named("a") != Checked(name="a")
    assert Named("a") != ("a", ())
    point = _point(records.dataclass)
    assert point(1, seen=1) == point(1, seen=2)
    with pytest.raises(TypeError, match="unhashable"):
        hash(point(1))
    one = Named("a")
    object.__setattr__(one, "parts", (one,))
    assert repr(one) == "Named(name='a', parts=(...,))"


def test_every_instance_gets_a_default_of_its_own() -> None:
    point = _point(records.dataclass)
    point(1).tags.append("first")
    assert point(1).tags == []


def test_nothing_of_an_instance_can_be_changed() -> None:
    one = Checked(name="a")
    for name in ("name", "size", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(one, name, "b")
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(one, name)
    assert one == Checked(name="a")
    assert not hasattr(one, "__dict__")


def test_a_plain_class_below_may_have_attributes_of_its_own() -> None:
    class Loose(Named):
        note: str

    one = Loose("a")
    one.note = "b"
    del one.note
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.name = "c"  # pyright: ignore[reportAttributeAccessIssue]


def test_a_check_after_the_fields_are_set_runs_also_for_a_copy_with_changes() -> None:
    one = Checked(name="a", size=3)
    assert (one.name, one.parts, one.size) == ("a", (), 3)
    with pytest.raises(ValueError, match="size is -1"):
        dataclasses.replace(one, size=-1)


def test_an_instance_can_be_copied_and_pickled() -> None:
    for one in (Named("a", ("b",)), Checked(name="c", size=4)):
        assert copy.copy(one) == one
        assert copy.deepcopy(one) == one
        assert pickle.loads(pickle.dumps(one)) == one


def test_annotations_are_evaluated_where_the_class_is_defined() -> None:
    known = {"name": str, "parts": tuple[str, ...], "size": int, "return": type(None)}
    assert get_type_hints(Checked.__init__) == known
    assert get_type_hints(Late.__init__)["of"] == Named | None


def test_a_method_of_the_class_itself_is_kept() -> None:
    @records.dataclass(frozen=True, slots=True)
    class Own:
        """A class with its own words."""

        secret: str

        def __repr__(self) -> str:
            return "Own(…)"

        def __hash__(self) -> int:
            return 7

    assert (repr(Own("a")), hash(Own("a"))) == ("Own(…)", 7)
    assert Own("a") == Own("a")


def test_a_class_that_compares_in_its_own_way_can_still_be_hashed() -> None:
    @records.dataclass(frozen=True, slots=True)
    class Folded:
        """A name without case."""

        name: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Folded) and self.name.lower() == other.name.lower()

    assert Folded("A") == Folded("a")
    assert hash(Folded("A")) == hash(Folded("A"))


def test_a_class_is_compiled_once_it_is_looked_at_or_has_some_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    run = exec

    def counted(source: str, *names: dict[str, object]) -> None:
        compiled.append(source)
        run(source, *names)

    monkeypatch.setattr(records, "exec", counted, raising=False)
    monkeypatch.setattr(dataclasses, "exec", counted, raising=False)
    point = _point(records.dataclass)
    first = point(1, seen=3)
    assert not compiled
    later = [point(1, seen=3) for _ in range(20)]
    assert len(compiled) == 1
    assert all(one == first for one in later)
    assert inspect.signature(_point(records.dataclass)) == inspect.signature(point)
    assert len(compiled) == 2


def _refusal(point: Callable[..., object], given: tuple[object, ...], named: dict[str, object]) -> str:
    with pytest.raises(TypeError) as refused:
        point(*given, **named)
    return str(refused.value)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ((), {}),
        ((), {"y": 1}),
        ((1,), {"x": 1}),
        ((1,), {"z": 2}),
        ((1,), {"made": "there"}),
        ((1, 2, ["a"], 3, 4), {}),
    ],
)
def test_wrong_arguments_are_refused_alike_by_the_first_call_and_later_ones(
    given: tuple[object, ...], named: dict[str, object]
) -> None:
    ours, standard = _point(records.dataclass), _point(dataclasses.dataclass)
    assert [_refusal(ours, given, named) for _ in range(6)] == [_refusal(standard, given, named)] * 6


def test_a_check_and_the_fields_of_a_parent_hold_for_the_first_instance_and_later_ones() -> None:
    @records.dataclass(frozen=True, slots=True, kw_only=True)
    class Sized(Checked):
        """A class below another one."""

        unit: str = "m"

    made = [Sized("a", size=3, parts=("b",)) for _ in range(9)]
    assert {(one.name, one.parts, one.size, one.unit) for one in made} == {("a", ("b",), 3, "m")}
    with pytest.raises(ValueError, match="size is -1"):
        Sized("a", size=-1)
    fresh = _point(records.dataclass)
    assert fresh(1).tags is not fresh(1).tags
