"""Finds the vault that a request of mem0 is about, and the memories in it that mem0 would know."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from recollectum.adapters.documents import Document, Documents
from recollectum.adapters.mem0.filters import ANY, Fields, Refused, fits, ids_of
from recollectum.adapters.mem0.records import fields_of
from recollectum.domain.access.owner import Owner, OwnerKind
from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.memory import State
from recollectum.domain.page import every
from recollectum.vault.intake.draft import MAX_PAGE

if TYPE_CHECKING:
    from recollectum.domain.memory import Memory as SavedMemory
    from recollectum.domain.message import Json
    from recollectum.engine import Recollectum
    from recollectum.vault.vault import Vault

KIND = AGENT = "mem0"


class Missing(NotFound, ValueError):
    """Raised for a memory that is not there; mem0 raises a ValueError too."""


class Shelf:
    """The vaults of a home by the ids of mem0.

    Without a person, an agent without a user has its own vault, and a run alone is in that of `mem0`. With a person,
    who asks with a key, everything without a user is in the vault of that person.
    """

    def __init__(self, home: "Recollectum", person: Owner | None) -> None:
        self.home = home
        self.person = person

    def of_ids(self, scope: Mapping[str, str]) -> "Vault":
        """Return the vault of these ids."""
        user = scope.get("user_id")
        if user == ANY and self.person is None:
            raise Refused("user_id * names every user, who have a vault each; ask for one user_id at a time")
        if user is not None and user != ANY:
            return self._vault(f"user:{user}")
        return self._vault(str(self.person or f"agent:{scope.get('agent_id', AGENT)}"))

    def of_filters(self, filters: Fields) -> "Vault":
        """Return the vault that a checked filter is about; raise when it names several users."""
        named = {scope: ids_of(filters, scope) for scope in ("user_id", "agent_id")}
        if len(named["user_id"]) > 1:
            raise Refused("filters name several users, who have a vault each; ask for one user_id at a time")
        star = {"user_id": ANY} if filters.get("user_id") == ANY else {}
        return self.of_ids({**star, **{scope: min(ids) for scope, ids in named.items() if ids}})

    def documents(self, vault: "Vault") -> Documents:
        """Return the documents of mem0 in a vault."""
        return Documents(vault, KIND, AGENT)

    def find(self, memory_id: str) -> "tuple[Vault, Document] | None":
        """Return a memory with its vault, or None. An id without an owner is in the vault of the person who asks."""
        name, _, owner = memory_id.partition("@")
        owner = owner or str(self.person or "")
        if owner not in map(str, self.home.list_owners()):
            return None
        vault = self.home.vault(owner)
        found = self.load(vault, name)
        return None if found is None else (vault, found)

    def get(self, memory_id: str) -> "tuple[Vault, Document]":
        """Return a memory with its vault; raise when there is none."""
        found = self.find(memory_id)
        if found is None:
            raise Missing(f"Memory with id {memory_id!r} not found. Please provide a valid memory_id")
        return found

    def load(self, vault: "Vault", memory_id: str) -> Document | None:
        """Return one memory of a vault, or None."""
        try:
            memory = vault.memories.get(memory_id)
        except NotFound:
            return None
        return self._parsed(vault, memory)

    def load_many(self, vault: "Vault", memory_ids: list[str]) -> Iterator[Document]:
        """Return memories of a vault that mem0 would know, in the order of their ids."""
        found = vault.memories.list(ids=memory_ids)
        return (one for memory in found if (one := self._parsed(vault, memory)) is not None)

    def everything(self, vault: "Vault") -> Iterator[Document]:
        """Return the memories of a vault that mem0 would know, newest first."""
        memories = vault.memories
        listed = every(lambda cursor: memories.list(cursor=cursor, limit=MAX_PAGE))
        return (one for memory in listed if (one := self._parsed(vault, memory)) is not None)

    def forget(self, vault: "Vault", wanted: Fields) -> None:
        """Delete the memories of a vault that a filter takes; refused to one who may not, also when there is none."""
        with suppress(NotFound):
            # The gate is asked before the memory is looked for.
            vault.memories.forget("mem_none")
        for one in [one for one in self.everything(vault) if fits(fields_of(one), wanted)]:
            self.documents(vault).forget_memory(one.memory)

    def _vault(self, owner: str) -> "Vault":
        if self.person is None:
            return self.home.vault(owner)
        try:
            wanted = Owner.parse(owner)
        except InvalidInput:
            raise _no_vault() from None
        try:
            # A name in a request makes no vault, except the person's own.
            return self.home.vault(wanted, create=wanted.person == self.person)
        except NotFound:
            raise _no_vault() from None

    def _parsed(self, vault: "Vault", memory: "SavedMemory") -> Document | None:
        """Return what mem0 added, or a plain memory of the vault as such; None for the state of other programs."""
        found = self.documents(vault).of(memory)
        if found is not None or memory.state is not State.ACTIVE or memory.content.startswith("{"):
            return found
        owner = vault.owner
        scope = "agent_id" if owner.kind is OwnerKind.AGENT else "user_id"
        body: dict[str, Json] = {"memory": memory.content, scope: owner.name}
        return Document((), "", body, memory)


def _no_vault() -> NotFound:
    return NotFound("there is no user of that id for this key; use the id of the person whose key it is")
