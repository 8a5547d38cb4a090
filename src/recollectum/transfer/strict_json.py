"""JSON from strangers: what the standard reader lets through and we do not."""

import json
from typing import NoReturn, cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json
from recollectum.text.cleaning import clean_json

_MAX_CONTAINERS = 500_000


def parse(text: str) -> Json:
    """The value of a JSON text: no key twice, no NaN or infinity, no depth bomb, nothing a database cannot hold."""
    return clean_json(parse_raw(text))


def parse_raw(text: str) -> Json:
    """The same, but strings and depth are as they were written."""
    # Two bytes of text make an object of sixty-four; what is all brackets would swell beyond any file's size.
    if len(text) > _MAX_CONTAINERS and text.count("{") + text.count("[") > _MAX_CONTAINERS:
        raise InvalidInput(f"it holds more than {_MAX_CONTAINERS} objects and lists")
    try:
        return cast("Json", _DECODER.decode(text))
    except json.JSONDecodeError as error:
        # The reader's own words are kept to the kind of fault: they never quote the text.
        raise InvalidInput(f"it is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise InvalidInput("it is nested too deep to be read") from None
    except ValueError:
        # What is left is an integer of more digits than Python converts.
        raise InvalidInput("it holds a number that is too long") from None


def canonical(value: Json) -> bytes:
    """The one spelling of a value, for checksums and for lines that must come out the same every time."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidInput("it holds a key twice in one object")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidInput(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant)
