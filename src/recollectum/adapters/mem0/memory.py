"""Has the methods of mem0's `Memory` on vaults: each user's memories are in the vault of that user."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from recollectum.adapters.documents import Document, Documents, Folder, body_of
from recollectum.adapters.mem0.filters import SCOPES, Fields, fits, scopes_of
from recollectum.domain.access.owner import OwnerKind
from recollectum.domain.errors import NotFound
from recollectum.domain.memory import State
from recollectum.domain.page import every
from recollectum.vault.intake.draft import MAX_PAGE

if TYPE_CHECKING:
    from recollectum.domain.memory import Memory as SavedMemory
    from recollectum.domain.message import Json
    from recollectum.engine import Recollectum
    from recollectum.vault.vault import Vault

_KIND, _AGENT = "mem0", "mem0"
_MOST_HITS = 1000

Result = dict[str, Any]


class RecollectumMemory:
    """mem0's memory on vaults. An id names its vault too, so that it is found without a user."""

    def __init__(self, home: "Recollectum") -> None:
        self._home = home

    def add(
        self,
        messages: str | Mapping[str, str] | Sequence[Mapping[str, str]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, object] | None = None,
        expiration_date: str | None = None,
        infer: bool = True,
    ) -> Result:
        """Add messages as memories; with `infer` a language model, if there is one, extracts what is worth keeping."""
        scope = _scope(user_id, agent_id, run_id)
        said = _messages(messages)
        vault = self._vault(scope)
        if infer and self._home.language_model is not None:
            learned = vault.learn(said, channel=_AGENT, agent=agent_id or _AGENT)
            return {"results": [_event(_id(one.id, vault), one.content) for one in learned.memories]}
        ttl = _lifetime(expiration_date, vault)
        bodies = [_body(one, scope, metadata) for one in said if one.get("role") != "system"]
        ids = self._documents(vault).save((_folder(scope), str(uuid4()), body, ttl) for body in bodies)
        saved = zip(ids, bodies, strict=True)
        return {
            "results": [{**_event(_id(one, vault), str(body["memory"])), "role": body["role"]} for one, body in saved]
        }

    def search(
        self, query: str, *, filters: Fields | None = None, top_k: int = 20, threshold: float = 0.1, **wrong: object
    ) -> Result:
        """Return the memories that have to do with a query, best first."""
        _refuse_scopes(wrong)
        if not query.strip():
            raise ValueError("Invalid query: cannot be empty or whitespace-only.")
        vault = self._vault(scopes_of(filters or {}))
        found: dict[str, Result] = {}
        for hit in vault.recall(query, limit=min(3 * top_k, _MOST_HITS), source="memories", untrusted=True):
            document = self._load(vault, hit.source.memory_id or "")
            if document and hit.score >= threshold and fits(_fields(document), filters or {}):
                found.setdefault(document.memory.id, {**_shown(document, vault), "score": hit.score})
        return {"results": list(found.values())[:top_k]}

    def get_all(self, *, filters: Fields | None = None, top_k: int = 20, **wrong: object) -> Result:
        """Return the memories that a filter takes, newest first."""
        _refuse_scopes(wrong)
        vault = self._vault(scopes_of(filters or {}))
        kept = (one for one in self._all(vault) if fits(_fields(one), filters or {}))
        return {"results": [_shown(one, vault) for one in islice(kept, top_k)]}

    def get(self, memory_id: str) -> Result | None:
        """Return one memory, or None."""
        found = self._find(memory_id)
        return None if found is None else _shown(found[1], found[0])

    def update(
        self, memory_id: str, text: str | None = None, metadata: Mapping[str, object] | None = None
    ) -> dict[str, str]:
        """Change the text or the metadata of a memory; the previous version is kept."""
        vault, document = self._get(memory_id)
        body = dict(document.body)
        if not document.name:
            # The words of a model that extracted it: a plain memory, without metadata.
            vault.memories.edit(document.memory.id, text, version=document.memory.version)
            return {"message": "Memory updated successfully!"}
        if text is not None:
            body |= {"memory": text, "hash": _hash(text)}
        if metadata is not None:
            body["metadata"] = cast("Json", dict(metadata))
        self._documents(vault).edit(document, body)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Delete a memory; it can be restored until its grace window ends."""
        vault, document = self._get(memory_id)
        self._documents(vault).forget_memory(document.memory)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Delete all memories of a user, an agent or a run."""
        scope = _scope(user_id, agent_id, run_id)
        vault = self._vault(scope)
        for one in [one for one in self._all(vault) if fits(_fields(one), scope)]:
            self._documents(vault).forget_memory(one.memory)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[Result]:
        """Return the versions of a memory, oldest first."""
        found = self._find(memory_id)
        return [] if found is None else list(_versions(memory_id, *found))

    def _vault(self, scope: Mapping[str, str]) -> "Vault":
        if "user_id" in scope:
            return self._home.vault(f"user:{scope['user_id']}")
        return self._home.vault(f"agent:{scope.get('agent_id', _AGENT)}")

    def _documents(self, vault: "Vault") -> Documents:
        return Documents(vault, _KIND, _AGENT)

    def _find(self, memory_id: str) -> "tuple[Vault, Document] | None":
        name, _, owner = memory_id.partition("@")
        if owner not in map(str, self._home.list_owners()):
            return None
        vault = self._home.vault(owner)
        found = self._load(vault, name)
        return None if found is None else (vault, found)

    def _load(self, vault: "Vault", memory_id: str) -> Document | None:
        try:
            memory = vault.memories.get(memory_id)
        except NotFound:
            return None
        return self._parsed(vault, memory)

    def _all(self, vault: "Vault") -> Iterator[Document]:
        """Return the memories of a vault that mem0 would know, newest first."""
        memories = vault.memories
        listed = every(lambda cursor: memories.list(cursor=cursor, limit=MAX_PAGE))
        return (one for memory in listed if (one := self._parsed(vault, memory)) is not None)

    def _parsed(self, vault: "Vault", memory: "SavedMemory") -> Document | None:
        """Return what mem0 added, or a plain memory of the vault as such; None for the state of other programs."""
        found = self._documents(vault).of(memory)
        if found is not None or memory.state is not State.ACTIVE or memory.content.startswith("{"):
            return found
        owner = vault.owner
        scope = "agent_id" if owner.kind is OwnerKind.AGENT else "user_id"
        body: dict[str, Json] = {"memory": memory.content, "hash": _hash(memory.content), scope: owner.name}
        return Document((), "", body, memory)

    def _get(self, memory_id: str) -> "tuple[Vault, Document]":
        found = self._find(memory_id)
        if found is None:
            raise ValueError(f"Memory with id {memory_id} not found. Please provide a valid 'memory_id'")
        return found


def _scope(user_id: str | None, agent_id: str | None, run_id: str | None) -> dict[str, str]:
    given = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
    scope = {name: str(value).strip() for name, value in given.items() if value is not None}
    if not scope:
        raise ValueError("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.")
    for name, value in scope.items():
        if not value or any(char.isspace() for char in value):
            raise ValueError(f"Invalid {name}: cannot be empty or contain whitespace. Provide a valid identifier.")
    return scope


def _refuse_scopes(wrong: Mapping[str, object]) -> None:
    for name in wrong:
        cure = f"use filters={{'{name}': ...}}" if name in SCOPES else "leave it out"
        raise ValueError(f"The parameter {name!r} is not supported here; {cure}.")


def _messages(messages: str | Mapping[str, str] | Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    return [messages] if isinstance(messages, Mapping) else list(messages)


def _body(message: Mapping[str, str], scope: Mapping[str, str], metadata: Fields | None) -> "dict[str, Json]":
    text = message["content"]
    body: dict[str, Json] = {"memory": text, "hash": _hash(text), "role": message.get("role", "user"), **scope}
    return {**body, "metadata": cast("Json", dict(metadata))} if metadata else body


def _hash(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _folder(scope: Mapping[str, str]) -> Folder:
    return tuple(scope.get(name, "") for name in SCOPES)


def _lifetime(expiration_date: str | None, vault: "Vault") -> timedelta | None:
    """Return the time until the end of a day; raise when it is over."""
    if expiration_date is None:
        return None
    end = datetime.combine(date.fromisoformat(expiration_date), datetime.max.time(), UTC)
    return end - vault.admin.clock().now


def _id(memory_id: str, vault: "Vault") -> str:
    return f"{memory_id}@{vault.owner}"


def _event(memory_id: str, text: str) -> Result:
    return {"id": memory_id, "memory": text, "event": "ADD"}


def _fields(document: Document) -> Fields:
    metadata = document.body.get("metadata")
    return {**(metadata if isinstance(metadata, Mapping) else {}), **document.body}


def _shown(document: Document, vault: "Vault") -> Result:
    body, memory = document.body, document.memory
    changed = memory.updated_at.isoformat() if memory.version > 1 else memory.created_at.isoformat()
    return {
        "id": _id(memory.id, vault),
        "memory": body["memory"],
        "hash": body["hash"],
        "metadata": body.get("metadata"),
        "created_at": memory.created_at.isoformat(),
        "updated_at": changed,
        **{name: body[name] for name in (*SCOPES, "role") if name in body},
    }


def _versions(memory_id: str, vault: "Vault", document: Document) -> Iterator[Result]:
    before: str | None = None
    for version in vault.memories.history(document.memory.id).versions:
        after = str(body_of(version.content)["memory"]) if document.name else version.content
        yield {
            "id": f"{version.memory_id}:{version.version}",
            "memory_id": memory_id,
            "old_memory": before,
            "new_memory": after,
            "event": "ADD" if before is None else "UPDATE",
            "created_at": document.memory.created_at.isoformat(),
            "updated_at": version.recorded_at.isoformat(),
            "is_deleted": False,
            "actor_id": None,
            "role": document.body.get("role"),
        }
        before = after
