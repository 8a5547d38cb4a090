"""Reads pickled data without running any of it: containers, texts and numbers, and objects as their fields alone.

No class is looked up and nothing is called, whatever the bytes say. What is not plain data is refused.
"""

from collections.abc import Callable
from typing import Any, cast

from recollectum.domain.errors import InvalidInput

#: Opcodes that put their argument on the stack.
_VALUES = frozenset(
    {
        *("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "BINFLOAT", "BININT", "BININT1", "BININT2", "LONG1"),
        *("SHORT_BINBYTES", "BINBYTES"),
    }
)
#: A class is named by `GLOBAL`, and is not looked up.
_CONSTANTS: dict[str, object] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "GLOBAL": None}
_PUTS = frozenset({"BINPUT", "LONG_BINPUT"})
_GETS = frozenset({"BINGET", "LONG_BINGET"})
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_IGNORED = frozenset({"PROTO", "FRAME"})
_FIELDS = "__dict__"
_MARK = object()


def plain_value(data: bytes) -> Any:  # noqa: ANN401  (any data)
    """Return the value of a pickle, with a dict of its fields for each object; raise for anything but plain data."""
    # It takes some milliseconds, and few people have such a file.
    from pickletools import genops  # noqa: PLC0415

    machine = _Machine()
    try:
        for opcode, argument, _ in genops(data):
            if opcode.name == "STOP":
                return machine.pop()
            machine.run(opcode.name, argument)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError):
        # The bytes are damaged, or no pickle.
        raise InvalidInput("its pickled data cannot be read") from None
    raise InvalidInput("its pickled data is cut off")


class _Machine:
    """The stack and the memo of one pickle."""

    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._steps: dict[str, Callable[[], None]] = {
            "MARK": lambda: self._stack.append(_MARK),
            "EMPTY_DICT": lambda: self._stack.append({}),
            "EMPTY_LIST": lambda: self._stack.append([]),
            "EMPTY_SET": lambda: self._stack.append([]),
            "EMPTY_TUPLE": lambda: self._stack.append([]),
            "MEMOIZE": lambda: self._remember(len(self._memo)),
            "SETITEM": lambda: self._set([self.pop(), self.pop()][::-1]),
            "SETITEMS": lambda: self._set(self._marked()),
            "APPEND": lambda: self._extend([self.pop()]),
            "APPENDS": lambda: self._extend(self._marked()),
            "ADDITEMS": lambda: self._extend(self._marked()),
            "TUPLE": lambda: self._stack.append(self._marked()),
            "STACK_GLOBAL": lambda: self._name(),
            "NEWOBJ": lambda: self._object(),
            "REDUCE": lambda: self._object(),
            "BUILD": lambda: self._build(),
        }

    def pop(self) -> Any:  # noqa: ANN401  (any data)
        """Take the last value."""
        return self._stack.pop()

    def run(self, name: str, argument: Any) -> None:  # noqa: ANN401  (any data)
        """Do what one opcode says; raise for one that plain data does not need."""
        if name in _VALUES:
            self._stack.append(argument)
        elif name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name])
        elif name in _PUTS:
            self._remember(argument)
        elif name in _GETS:
            self._stack.append(self._memo[argument])
        elif name in _TUPLES:
            self._stack.append([self.pop() for _ in range(_TUPLES[name])][::-1])
        elif name in self._steps:
            self._steps[name]()
        elif name not in _IGNORED:
            raise InvalidInput(f"its pickled data has {name}, which plain data does not need")

    def _remember(self, place: int) -> None:
        self._memo[place] = self._stack[-1]

    def _marked(self) -> list[Any]:
        """Take the values after the last mark."""
        taken: list[Any] = []
        while (value := self.pop()) is not _MARK:
            taken.append(value)
        return taken[::-1]

    def _set(self, pairs: list[Any]) -> None:
        target = cast("dict[Any, Any]", self._stack[-1])
        target.update(zip(pairs[::2], pairs[1::2], strict=True))

    def _extend(self, values: list[Any]) -> None:
        cast("list[Any]", self._stack[-1]).extend(values)

    def _name(self) -> None:
        """Replace the names of a module and of a class by nothing: the class is not looked up."""
        self.pop()
        self.pop()
        self._stack.append(None)

    def _object(self) -> None:
        """Replace a class or a function and its arguments by an object without fields: nothing is called."""
        self.pop()
        self.pop()
        self._stack.append({})

    def _build(self) -> None:
        """Give an object its fields; Pydantic has them beside what it knows of them."""
        given = self.pop()
        # Objects with slots have two parts.
        state = cast("dict[str, Any]", given[0] if isinstance(given, list) else given)
        cast("dict[str, Any]", self._stack[-1]).update(state.get(_FIELDS, state))
