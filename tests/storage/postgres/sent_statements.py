"""Tells which statements that a server saw are no constants of the storage: a value that got into one would show.

Two kinds of constants are known: whole statements, and templates, whose places take other constants. What stands in a
place of a template is not compared, so that a test also searches the statements for its own values.
"""

import importlib
import pkgutil
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import cache

from recollectum import storage
from recollectum.storage.postgres.dialect import numbered_insert, to_postgres, to_postgres_rows
from recollectum.storage.postgres.scopes import catalog_scope, vault_scope

_STATEMENT = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b")
#: What frames a transaction, and says how it plans; a connection that is only checked gets nothing.
_FRAMES = (
    "",
    "COMMIT",
    "ROLLBACK",
    "SET LOCAL plan_cache_mode = force_generic_plan",
    "SET LOCAL plan_cache_mode = force_custom_plan",
)
_PARAMETER = re.compile(r"\$\d+|(?<!:):\w*\{\w+\}|%s")
_PLACE = re.compile(r"\\\{\w*\\\}")
_LIST = re.compile(r"::\w+(?: \w+)?\[\]")
_VAULT = re.compile(r"vault = '?\d*'?(?=[ ;]|$)")
_LIMIT = re.compile(r"(lock|statement)_timeout = \d+")


def foreign_statements(sent: Collection[str]) -> set[str]:
    """Those of some statements that are no constants."""
    whole, templates = _known()
    return {
        one for one in map(_plain, sent) if one not in whole and not any(known.fullmatch(one) for known in templates)
    }


@cache
def _known() -> tuple[frozenset[str], list[re.Pattern[str]]]:
    forms = {_plain(form) for text in (*_constants(), *_beginnings(), *_FRAMES) for form in _forms(text)}
    templates = {one for one in forms if re.search(r"\{\w+\}", one)}
    return frozenset(forms - templates), [_pattern(one) for one in sorted(templates)]


def _pattern(template: str) -> re.Pattern[str]:
    one = _PLACE.sub(".+?", re.escape(template))
    return re.compile(f"{one}(?: UNION ALL {one})*")


def _plain(text: str) -> str:
    """A statement without what is a number or a type: its parameters, the types of lists, the vault and the limits."""
    text = _LIST.sub("::type[]", _PARAMETER.sub("$", " ".join(text.split())))
    return _LIMIT.sub(r"\1_timeout = 0", _VAULT.sub("vault = 0", text))


def _forms(text: str) -> Iterator[str]:
    """A constant in every form in which it is sent."""
    yield text
    numbered = numbered_insert(text)
    for in_vault, given in ((True, text), (False, text), *([(True, numbered.sql)] if numbered else [])):
        translated = to_postgres(_PARAMETER.sub(":x", given), in_vault=in_vault)
        yield translated.text
        # Not every INSERT can be one of many rows.
        with suppress(ValueError):
            yield to_postgres_rows(given, ["type" for _ in translated.names], in_vault=in_vault)


def _beginnings() -> Iterator[str]:
    for scope in (vault_scope(1, "", lock_ms=1, statement_ms=1), catalog_scope("", lock_ms=1, statement_ms=1)):
        yield from (one.decode() for one in (scope.read, scope.write, scope.claim, scope.written))


def _constants() -> Iterator[str]:
    for found in pkgutil.walk_packages(storage.__path__, f"{storage.__name__}."):
        for value in vars(importlib.import_module(found.name)).values():
            yield from _texts(value)


def _texts(value: object) -> Iterator[str]:
    match value:
        case str() if _STATEMENT.match(value):
            yield value
        case dict():
            for one in value.values():  # pyright: ignore[reportUnknownVariableType]
                yield from _texts(one)  # pyright: ignore[reportUnknownArgumentType]
        case tuple():
            for one in value:  # pyright: ignore[reportUnknownVariableType]
                yield from _texts(one)  # pyright: ignore[reportUnknownArgumentType]
        case _:
            pass
