"""What came from one source: the messages, and every memory that was made of them."""

from collections.abc import Callable
from dataclasses import dataclass

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.session import SessionKey
from recollectum.storage.port import Tx
from recollectum.storage.tables import erased_lineage as lineage
from recollectum.storage.tables import imports, quarantines

KINDS = "session:ID, agent:NAME, tool:NAME, import:ID, author:NAME or imported"


@dataclass(frozen=True, slots=True)
class Covered:
    """The rows of one source, by id."""

    messages: frozenset[str]
    memories: frozenset[str]


def covered(tx: Tx, source: str) -> Covered:
    """Everything of a source, with the copies that forks made and the memories that cite any of it."""
    kind, _, name = source.partition(":")
    if kind not in _FINDERS or bool(name) is (kind == "imported"):
        raise InvalidInput(f"{source!r} is no source; give {KINDS}")
    messages, memories = _FINDERS[kind](tx, name)
    messages |= lineage.copies_of(tx, messages)
    memories |= lineage.partly_from(tx, messages)
    return Covered(frozenset(messages), frozenset(quarantines.standing(tx, memories)))


def _of_session(tx: Tx, name: str) -> tuple[set[str], set[str]]:
    if not lineage.known(tx, "sessions", [name]):
        raise NotFound(f"there is no session {name!r} in this vault")
    return lineage.messages_of(tx, [name]), set()


def _of_agent(tx: Tx, name: str) -> tuple[set[str], set[str]]:
    held = [id_ for id_, key in quarantines.keys(tx) if SessionKey.parse(key).agent == name]
    return lineage.messages_of(tx, held), quarantines.by_agent(tx, name)


def _of_tool(tx: Tx, name: str) -> tuple[set[str], set[str]]:
    return quarantines.by_tool(tx, name), set()


def _of_import(tx: Tx, name: str) -> tuple[set[str], set[str]]:
    found = imports.messages_of(tx, name)
    if found is None:
        raise NotFound(f"there is no import {name!r} in this vault; see: recollectum sessions imports")
    return found, set()


def _of_author(tx: Tx, name: str) -> tuple[set[str], set[str]]:
    return set(), quarantines.by_author(tx, name)


def _of_imported(tx: Tx, _: str) -> tuple[set[str], set[str]]:
    return lineage.messages_of(tx, lineage.imported(tx)), set()


_FINDERS: dict[str, Callable[[Tx, str], tuple[set[str], set[str]]]] = {
    "session": _of_session,
    "agent": _of_agent,
    "tool": _of_tool,
    "import": _of_import,
    "author": _of_author,
    "imported": _of_imported,
}
