"""Reads JSON files: a list one element at a time, or one object as a whole."""

import codecs
import json
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO, cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json
from recollectum.text.cleaning import clean_json
from recollectum.transfer.foreign_json import as_object, parse
from recollectum.vault.files.foreign_sources import DamagedPart, ForeignItem, Progress

#: The longest element of a list, in characters.
MAX_ELEMENT = 16 * 2**20
#: The largest file that is read as one object.
MAX_OBJECT = 64 * 2**20
_CHUNK = 2**16
_MAX_CONTAINERS = 500_000
#: An error so near to the end of what was read may be one of text that is not read yet.
_NEAR_END = 32
_SPACE = " \t\r\n"


def read_object(file: BinaryIO, progress: Progress) -> dict[str, Json]:
    """Return the object that a file holds."""
    data = file.read(MAX_OBJECT + 1)
    if len(data) > MAX_OBJECT:
        raise InvalidInput(f"it is larger than {MAX_OBJECT // 2**20} MiB, which is too much for one object")
    progress(len(data))
    try:
        return as_object(parse(data.decode("utf-8-sig")), "it")
    except UnicodeDecodeError:
        raise InvalidInput("it is not UTF-8") from None


def list_elements(file: BinaryIO, progress: Progress) -> Iterator[Json | DamagedPart]:
    """Yield the elements of a list; only one is in memory. What cannot be read ends the list, and is reported."""
    reader = _ListReader(file, progress)
    number = 0
    try:
        reader.begin()
        while (found := reader.next()) is not None:
            number += 1
            yield _cleaned(found[0], number)
    except InvalidInput as error:
        yield DamagedPart(f"element {number + 1}", str(error))


def read_conversations(
    file: BinaryIO, progress: Progress, read_one: Callable[[Mapping[str, Json]], Iterator[ForeignItem]]
) -> Iterator[ForeignItem]:
    """Yield what is in the conversations of a list; one that cannot be read affects only itself."""
    for number, value in enumerate(list_elements(file, progress), start=1):
        if isinstance(value, DamagedPart):
            yield value
            continue
        try:
            yield from read_one(as_object(value, "it"))
        except InvalidInput as error:
            yield DamagedPart(f"conversation {number}", str(error))


def _cleaned(value: Json, number: int) -> Json | DamagedPart:
    try:
        return clean_json(value)
    except InvalidInput as error:
        return DamagedPart(f"element {number}", str(error))


class _ListReader:
    """Reads a list in chunks."""

    def __init__(self, file: BinaryIO, progress: Progress) -> None:
        self._file = file
        self._progress = progress
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0
        self._ended = False

    def begin(self) -> None:
        """Read the bracket that opens the list."""
        if self._peek() != "[":
            raise InvalidInput("it is not a list")
        self._at += 1

    def next(self) -> tuple[Json] | None:
        """Return the next element; None after the last."""
        if self._peek() == ",":
            self._at += 1
        if self._peek() == "]":
            return None
        while (found := self._decoded()) is None:
            pass
        return found

    def _decoded(self) -> tuple[Json] | None:
        """Return the element here; None when more had to be read for it."""
        try:
            value, end = _DECODER.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            self._continue(error)
            return None
        except RecursionError:
            raise InvalidInput("it is nested too deep to be read") from None
        except ValueError:
            raise InvalidInput("it holds a number that is too long") from None
        # A number may go on in the next chunk.
        if end < len(self._text) or self._ended or self._text[end - 1] in '}]"':
            self._at = end
            return (cast("Json", value),)
        self._more(_CHUNK)
        return None

    def _continue(self, error: json.JSONDecodeError) -> None:
        """Read more if the text only ends too early; raise if it is wrong."""
        open_text = error.msg.startswith("Unterminated string")
        if self._ended or (not open_text and error.pos < len(self._text) - _NEAR_END):
            reason = "the file is cut short" if self._ended else f"it is not JSON: {error.msg}"
            raise InvalidInput(reason) from None
        length = len(self._text) - self._at
        if length > MAX_ELEMENT:
            raise InvalidInput(f"it is longer than {MAX_ELEMENT} characters")
        # Twice as much each time, so that a long element is not parsed too often.
        self._more(max(_CHUNK, length))
        if self._text.count("{", self._at) + self._text.count("[", self._at) > _MAX_CONTAINERS:
            raise InvalidInput(f"it holds more than {_MAX_CONTAINERS} objects and lists")

    def _peek(self) -> str:
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                raise InvalidInput("the file is cut short")
            self._more(_CHUNK)

    def _more(self, size: int) -> None:
        data = self._file.read(size)
        self._progress(len(data))
        self._ended = not data
        try:
            added = self._decode.decode(data, final=not data)
        except UnicodeDecodeError:
            raise InvalidInput("it is not UTF-8") from None
        self._text = self._text[self._at :] + added
        self._at = 0


def _no_constant(name: str) -> Json:
    raise InvalidInput(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)
