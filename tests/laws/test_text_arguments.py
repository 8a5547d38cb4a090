"""The law of texts: every text argument of every public operation refuses what is no text, by name."""

from collections.abc import Callable, Iterator
from inspect import unwrap
from pathlib import Path
from typing import Any

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import InvalidInput
from recollectum.vault.gate import declared_operation, text_parameters
from recollectum.vault.intake.draft import Draft
from tests.matrix.homes import Turning, open_home

pytestmark = pytest.mark.process

_BAD: tuple[object, ...] = (7, b"bytes", ["a", "list"])


def _methods(thing: object, seen: set[int]) -> Iterator[Callable[..., Any]]:
    """Every declared operation of an object and of the services it holds."""
    if id(thing) in seen or not type(thing).__module__.startswith("recollectum."):
        return
    seen.add(id(thing))
    for name in dir(thing):
        if name.startswith("_"):
            continue
        found = getattr(thing, name)
        if callable(found) and declared_operation(found):
            yield found
        elif not callable(found):
            yield from _methods(found, seen)


def _services(home: Recollectum) -> list[object]:
    vault = home.vault("user:ann")
    chat = vault.sessions.open(channel="test", agent="main")
    return [vault, chat, home, home.people, home.receipts]


def test_every_text_argument_refuses_what_is_no_text(tmp_path: Path) -> None:
    seen: set[int] = set()
    tried = 0
    with open_home(tmp_path, Turning()) as home:
        for method in [one for thing in _services(home) for one in _methods(thing, seen)]:
            for one in text_parameters(unwrap(method)):
                for bad in (*_BAD, *(() if one.optional else (None,))):
                    tried += 1
                    with pytest.raises(InvalidInput, match=f"^{one.name} must be text, not "):
                        method(**{one.name: bad})
    assert tried > 200


def test_the_sentence_names_the_argument_and_what_came(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning()) as home:
        vault = home.vault("user:ann")
        nothing: Any = None
        with pytest.raises(InvalidInput, match=r"^content must be text, not None$"):
            vault.memories.save(nothing)
        with pytest.raises(InvalidInput, match=r"^content must be text, not None$"):
            vault.memories.save_many([Draft(content="kept"), Draft(content=nothing)])
        with pytest.raises(InvalidInput, match=r"^content must be text, not None$"):
            vault.sessions.open(channel="test", agent="main").add("user", nothing)
        with pytest.raises(InvalidInput, match=r"^query must be text, not None$"):
            vault.recall(nothing)
        assert vault.memories.list() == []
