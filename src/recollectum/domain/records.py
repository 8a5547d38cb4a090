"""A `dataclass` decorator that starts fast: it makes the same frozen classes as the standard one from less source.

The standard decorator compiles six functions for each frozen class, which takes most of the time of an import: half a
millisecond for each of hundreds of classes. Here only `__init__` is compiled, and only after some instances were made,
because of most classes a process makes one or none. The other methods are closures. Any other class than a frozen one
with slots goes to the standard decorator.
"""

import dataclasses
import sys
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, cast, dataclass_transform

T = TypeVar("T")
_Key = Callable[[object], tuple[Any, ...]]


class _Factory:
    """Stands for a default in the signature of `__init__` that is made anew for each instance."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()
#: How many instances are made before `__init__` is compiled.
_CALLS_BEFORE = 4


@dataclass_transform(field_specifiers=(dataclasses.field,))
def dataclass(
    *,
    frozen: bool = False,
    slots: bool = False,
    kw_only: bool = False,
    repr: bool = True,
    eq: bool = True,
    order: bool = False,
    weakref_slot: bool = False,
) -> Callable[[type[T]], type[T]]:
    """Return a decorator that makes a class as `dataclasses.dataclass` does."""
    if not (frozen and slots and eq) or order:
        return dataclasses.dataclass(
            frozen=frozen,
            slots=slots,
            kw_only=kw_only,
            repr=repr,
            eq=eq,
            order=order,
            weakref_slot=weakref_slot,
        )

    def decorate(cls: type[T]) -> type[T]:
        # A class with an `__eq__` alone has None as its `__hash__`.
        own = {name for name, value in vars(cls).items() if value is not None}
        made = dataclasses.dataclass(
            init=False, repr=False, eq=False, slots=True, kw_only=kw_only, weakref_slot=weakref_slot
        )(cls)
        methods = {"__init__": _LazyInitialiser(made), **_COMMON, **_comparisons(made)}
        if repr:
            methods["__repr__"] = _repr
        for name, method in methods.items():
            if name not in own:
                setattr(made, name, method)
        return made

    return decorate


class _LazyInitialiser:
    """Stands for `__init__` in a class until it is looked at, or called a few times; then it is compiled.

    To compile it takes as long as some thirty calls of this one, and of most classes a process makes one or two
    instances.
    """

    def __init__(self, cls: type) -> None:
        self._cls = cls
        self._calls = 0

    def __get__(self, instance: object, owner: type | None = None) -> Callable[..., None]:
        self._calls += 1
        if instance is not None and self._calls <= _CALLS_BEFORE:
            return partial(self._set_fields, instance)
        made = self._compile()
        return made if instance is None else made.__get__(instance, owner)

    def _set_fields(self, instance: Any, /, *given: object, **named: object) -> None:  # noqa: ANN401
        """Do what the compiled one does."""
        fields = dataclasses.fields(self._cls)
        taken = {one.name: one for one in fields if one.init}
        values = {**dict(zip((name for name, one in taken.items() if not one.kw_only), given, strict=False)), **named}
        missing = any(_has_no_default(one) for name, one in taken.items() if name not in values)
        if missing or len(values) < len(given) + len(named) or not values.keys() <= taken.keys():
            # The compiled one says what is wrong with these arguments.
            self._compile()(instance, *given, **named)
            return
        for one in fields:
            if one.name in values:
                object.__setattr__(instance, one.name, values[one.name])
            elif one.default_factory is not dataclasses.MISSING:
                object.__setattr__(instance, one.name, one.default_factory())
            elif one.default is not dataclasses.MISSING:
                object.__setattr__(instance, one.name, one.default)
        if hasattr(self._cls, "__post_init__"):
            instance.__post_init__()

    def _compile(self) -> Callable[..., None]:
        # Two threads may both get here: they compile the same.
        made = _initialiser(self._cls)
        type.__setattr__(self._cls, "__init__", made)
        return made


def _has_no_default(one: "dataclasses.Field[Any]") -> bool:
    return one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING


def _initialiser(cls: type) -> Callable[..., None]:
    """Compile `__init__`: it sets each field through its slot, which no `__setattr__` guards."""
    known: dict[str, Any] = {"_FACTORY": _FACTORY}
    positional: list[str] = []
    named: list[str] = []
    lines: list[str] = []
    types: dict[str, Any] = {}
    for one in dataclasses.fields(cls):
        name, value = one.name, one.name
        known[f"_set_{name}"] = getattr(cls, name).__set__
        parameter = name
        if one.default_factory is not dataclasses.MISSING:
            known[f"_make_{name}"] = one.default_factory
            value = f"_make_{name}() if {name} is _FACTORY else {name}" if one.init else f"_make_{name}()"
            parameter = f"{name}=_FACTORY"
        elif one.default is not dataclasses.MISSING:
            known[f"_default_{name}"] = one.default
            value = name if one.init else f"_default_{name}"
            parameter = f"{name}=_default_{name}"
        elif not one.init:
            # It is set later, or never.
            continue
        lines.append(f"    _set_{name}(self, {value})")
        if one.init:
            (named if one.kw_only else positional).append(parameter)
            types[name] = one.type
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()")
    parameters = ", ".join(["self", *positional, *(["*", *named] if named else [])])
    body = "\n".join([f"  def __init__({parameters}):", *(lines or ["    pass"]), "  return __init__"])
    found: dict[str, Any] = {}
    # In the names of the module of the class, in which its annotations are evaluated.
    exec(f"def make({', '.join(known)}):\n{body}", vars(sys.modules[cls.__module__]), found)
    made = found["make"](**known)
    made.__annotations__ = {**types, "return": None}
    made.__module__ = cls.__module__
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _comparisons(cls: type) -> dict[str, Callable[..., Any]]:
    """Return `__eq__` and `__hash__`, which compare the fields of two instances of one class."""
    key = _key(tuple(one.name for one in dataclasses.fields(cls) if one.compare))
    hashed = _key(tuple(one.name for one in dataclasses.fields(cls) if (one.compare if one.hash is None else one.hash)))

    def equal(self: object, other: object) -> bool:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def hash_(self: object) -> int:
        return hash(hashed(self))

    return {"__eq__": equal, "__hash__": hash_}


def _key(names: tuple[str, ...]) -> _Key:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


@recursive_repr()
def _repr(self: Any) -> str:  # noqa: ANN401 - an instance of any class
    said = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in dataclasses.fields(self) if one.repr)
    return f"{self.__class__.__qualname__}({said})"


def _refuse_set(self: Any, name: str, value: object) -> None:  # noqa: ANN401
    if _is_field(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_delete(self: Any, name: str) -> None:  # noqa: ANN401
    if _is_field(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_field(one: object, name: str) -> bool:
    """Return whether nothing may be set: any name of a frozen class, and the fields of a plain class below one."""
    kind = cast(Any, type(one))
    return "__dataclass_fields__" in vars(kind) or name in kind.__dataclass_fields__


def _values(self: Any) -> list[object]:  # noqa: ANN401
    """Return the state for `pickle` and `copy`."""
    return [getattr(self, one.name) for one in dataclasses.fields(self)]


def _set_values(self: Any, state: list[object]) -> None:  # noqa: ANN401
    for one, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)


_COMMON: dict[str, Callable[..., Any]] = {
    "__setattr__": _refuse_set,
    "__delattr__": _refuse_delete,
    "__getstate__": _values,
    "__setstate__": _set_values,
}
