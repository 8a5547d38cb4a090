"""Keeps JSON documents as keyed memories: recall finds their words, changes keep versions, and a purge erases them.

The key of such a memory is made of digests: one for each of the first labels of the document's folder, so that an index
finds what is in a folder, and one for its whole name. The content is a JSON object with the folder, the name and the
body, so that the vault redacts secrets inside its strings and leaves it JSON.
"""

import builtins
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, cast

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.memory import State
from recollectum.domain.message import Json, ToolUse
from recollectum.domain.page import every
from recollectum.domain.records import dataclass
from recollectum.text.cleaning import clean, clean_json
from recollectum.vault.intake.draft import MAX_PAGE, Draft
from recollectum.vault.intake.redaction import redact_text

if TYPE_CHECKING:
    from recollectum.domain.hit import Hit
    from recollectum.domain.memory import Memory, SaveResult
    from recollectum.vault.vault import Vault

Folder = tuple[str, ...]

#: So many labels of a folder are in the key; deeper folders are compared by their content.
_LEVELS = 3
_LEVEL_BYTES, _NAME_BYTES, _MARK_BYTES = 5, 15, 5
_NO_LABEL = "0" * 8
#: The same labels come with every document of a folder.
_CACHED = 1024
#: Hits that are asked for in a second step, for each document that is wanted.
_SPARE = 3
#: The most hits of a recall, unless the settings say otherwise.
_MOST_HITS = 1000
_FOLDER, _NAME, _BODY, _MARK = "folder", "name", "body", "mark"
# Made once: `json.dumps` makes an encoder for each call that does not escape.
_WRITTEN = json.JSONEncoder(ensure_ascii=False).encode
_ESCAPED = json.JSONEncoder().encode
#: Two digits of base 32 (RFC 4648, in lower case) for each number of ten bits.
_DIGITS = "abcdefghijklmnopqrstuvwxyz234567"
_PAIRS = tuple(first + second for first in _DIGITS for second in _DIGITS)


@dataclass(frozen=True, slots=True)
class Document:
    """One document, and the memory that holds it."""

    folder: Folder
    name: str
    body: dict[str, Json]
    memory: "Memory"


class Documents:
    """The documents of one kind in one vault; `kind` begins their keys, and `agent` names who keeps them.

    One that is saved alone is put into the index at once if the framework has a search, and by the next recall if not.
    """

    def __init__(self, vault: "Vault", kind: str, agent: str, *, has_search: bool = True) -> None:
        self._has_search = has_search
        self._vault = vault
        self._kind = kind
        self._agent = agent

    def find(self, folder: Folder, name: str) -> Document | None:
        """Return the document of that name, or None."""
        memory = self._vault.memories.find(self._key(folder, name))
        return None if memory is None else _parse(memory)

    def of(self, memory: "Memory") -> Document | None:
        """Return the document that a memory holds; None if it is no document of this kind."""
        mine = memory.state is State.ACTIVE and (memory.key or "").startswith(f"{self._kind}_")
        return _parse(memory) if mine else None

    def save(
        self,
        documents: Iterable[tuple[Folder, str, Mapping[str, Json], timedelta | None]],
        *,
        said_by: ToolUse | None = None,
    ) -> "builtins.list[SaveResult]":
        """Save documents, each with its time to live, in one transaction; return what was stored.

        One of the same name is replaced. With `said_by` a model wrote them with a tool, which is recorded and decides
        their trust.
        """
        drafts: builtins.list[Draft] = []
        for folder, name, body, ttl in documents:
            place = _place(self._kind, folder)
            content = place.content(name, body, ttl)
            drafts.append(Draft(content=content, key=place.key(name), ttl=ttl, agent=self._agent))
        memories = self._vault.memories
        if len(drafts) == 1 and self._has_search:
            (only,) = drafts
            return [memories.save(only.content, key=only.key, ttl=only.ttl, agent=only.agent, said_by=said_by)]
        return memories.save_many(drafts, said_by=said_by) if drafts else []

    def edit(self, document: Document, body: Mapping[str, Json]) -> "Memory":
        """Replace the body of a document; raise Conflict when it changed since it was read."""
        content = _place(self._kind, document.folder).content(document.name, body, None)
        return self._vault.memories.edit(document.memory.id, content, version=document.memory.version)

    def renew(self, document: Document, ttl: timedelta) -> None:
        """Let the time to live of a document begin anew."""
        memory = document.memory
        self._vault.memories.save(memory.content, key=memory.key, ttl=ttl, agent=self._agent)

    def forget(self, folder: Folder, name: str) -> bool:
        """Delete a document; return whether there was one. It stays in the trash until its grace window ends."""
        memory = self._vault.memories.find(self._key(folder, name))
        return memory is not None and self.forget_memory(memory)

    def forget_memory(self, memory: "Memory") -> bool:
        """Delete the document of a memory; return whether it was still there."""
        try:
            return self._vault.memories.forget(memory.id).state is State.SOFT_DELETED
        except NotFound:
            # Another process deleted it in between.
            return False

    def list(self, folder: Folder = ()) -> Iterator[Document]:
        """Return the documents in a folder and below it, newest first."""
        prefix = self._prefix(folder)
        memories = self._vault.memories
        for memory in every(lambda cursor: memories.list(key_prefix=prefix, cursor=cursor, limit=MAX_PAGE)):
            if (found := _parse(memory)) and found.folder[: len(folder)] == folder:
                yield found

    def of_memories(self, memory_ids: Sequence[str]) -> Iterator[Document]:
        """Return the documents that memories hold, in the order of their ids, without those that are gone or none."""
        return (one for memory in self._vault.memories.list(ids=memory_ids) if (one := self.of(memory)) is not None)

    def of_memory(self, memory_id: str) -> Document | None:
        """Return the document that a memory holds; None if it is gone, or is no document of this kind."""
        try:
            memory = self._vault.memories.get(memory_id)
        except NotFound:
            return None
        return self.of(memory)

    def _key(self, folder: Folder, name: str) -> str:
        return _place(self._kind, folder).key(name)

    def _prefix(self, folder: Folder) -> str:
        return f"{self._kind}_" + "".join(_level(folder[: depth + 1]) for depth in range(min(len(folder), _LEVELS)))


def ask_steps(wanted: int, most: int) -> Iterator[int]:
    """Return how many hits to ask for: as many as are wanted, then more while others of the vault take the places."""
    limits = (wanted, _SPARE * wanted, most)
    return iter(dict.fromkeys(min(limit, most, _MOST_HITS) for limit in limits if wanted))


def scores_of(hits: "Iterable[Hit]") -> dict[str, float]:
    """Return the score of each memory among hits, best first; several parts of a long one may be hits."""
    scores: dict[str, float] = {}
    for hit in hits:
        scores.setdefault(hit.source.memory_id or "", hit.score)
    return scores


class _Place:
    """A folder with what the keys and the texts of its documents have in common."""

    __slots__ = ("_begun", "_folder", "_levels")

    def __init__(self, kind: str, folder: Folder) -> None:
        for label in folder:
            _check_name(label)
        levels = [_level(folder[: depth + 1]) if depth < len(folder) else _NO_LABEL for depth in range(_LEVELS)]
        self._levels = f"{kind}_{''.join(levels)}"
        self._folder = _WRITTEN(list(folder))
        # JSON keeps the labels apart: a label may hold any character. The name is the last of the list.
        self._begun = blake2b(f"{_ESCAPED([*folder, ''])[:-1]}, ".encode(), digest_size=_NAME_BYTES)

    def key(self, name: str) -> str:
        """Return the key of the document of that name."""
        _check_name(name)
        digest = self._begun.copy()
        digest.update(f"{_ESCAPED(name)}]".encode())
        return self._levels + _base32(digest.digest())

    def content(self, name: str, body: Mapping[str, Json], ttl: timedelta | None) -> str:
        """Return the text of a document. Memories that differ only in case are duplicates; the mark prevents that."""
        written = _WRITTEN(clean_json(body))
        mark = _digest([written, str(ttl)], _MARK_BYTES)
        # The body comes first: it is what a search reads.
        rest = f'"{_FOLDER}": {self._folder}, "{_NAME}": {_WRITTEN(name)}, "{_MARK}": "{mark}"'
        return f'{{"{_BODY}": {written}, {rest}}}'


@lru_cache(_CACHED)
def _place(kind: str, folder: Folder) -> _Place:
    return _Place(kind, folder)


@lru_cache(_CACHED)
def _level(labels: Folder) -> str:
    return _digest(labels, _LEVEL_BYTES)


def _digest(labels: Sequence[str], size: int) -> str:
    written = f"[{', '.join(map(_ESCAPED, labels))}]".encode()
    return _base32(blake2b(written, digest_size=size).digest())


def _base32(data: bytes) -> str:
    """Return bytes in base 32, ten bits at a time; `base64` takes several times as long."""
    number = int.from_bytes(data)
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(8 * len(data) - 10, -1, -10)])


def _parse(memory: "Memory") -> Document | None:
    """Return the document of a memory; None for a text that somebody else wrote under such a key."""
    try:
        found: object = json.loads(memory.content)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    parts = cast("dict[str, object]", found)
    folder, name, body = parts.get(_FOLDER), parts.get(_NAME), parts.get(_BODY)
    if not isinstance(folder, list) or not isinstance(name, str) or not isinstance(body, dict):
        return None
    return Document(tuple(map(str, cast("list[object]", folder))), name, cast("dict[str, Json]", body), memory)


def body_of(content: str) -> dict[str, Json]:
    """Return the body in the text of a document, or of an earlier version of it."""
    return cast("dict[str, dict[str, Json]]", json.loads(content))[_BODY]


@lru_cache(_CACHED)
def _check_name(name: str) -> None:
    """Raise for a name that the vault would store in another form, so that no two documents share one."""
    if clean(name) != name:
        raise InvalidInput(f"name {name!r} holds a character that cannot be stored; choose another one")
    if redact_text(name) != name:
        raise InvalidInput("this name contains a secret, and a name is stored without redaction; choose another one")
