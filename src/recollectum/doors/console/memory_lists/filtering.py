"""Filters the list of memories by state, kind and words, in bounded steps."""

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from recollectum.domain.ids import parse_optional_enum
from recollectum.domain.memory import Kind, Memory, State, parse_listable_state
from recollectum.domain.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollectum.vault.vault import Vault

#: How many memories are compared with the words for one page; the next page goes on from there.
LOOKED = 20_000
_BATCH = 1_000
_LONGEST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Which memories are listed."""

    state: State = State.ACTIVE
    kind: Kind | None = None
    #: Every word must occur in the text or the key; capital letters do not matter.
    text: str = ""

    @classmethod
    def parse(cls, state: str, kind: str, text: str) -> "MemoryFilter":
        """Return the filter of an address or a form; raise for a state or kind that does not exist."""
        return cls(
            state=parse_listable_state(state or State.ACTIVE),
            kind=parse_optional_enum(Kind, kind or None, "kind"),
            text=text.strip()[:_LONGEST],
        )

    @property
    def narrows(self) -> bool:
        """Whether it leaves out memories of its state."""
        return bool(self.text or self.kind)

    def query(self, **more: str) -> str:
        """Return the filter as the query of an address."""
        fields: Mapping[str, str] = {"state": self.state.value, "kind": self.kind or "", "q": self.text, **more}
        return urlencode({name: value for name, value in fields.items() if value})


@dataclass(frozen=True, slots=True)
class FilteredPage:
    """The memories found, and where to go on."""

    memories: list[Memory]
    #: The cursor of the next page; None when all memories were looked at.
    next: str | None
    #: Whether the page ended because enough memories were compared, not because it is full.
    cut: bool = False


def find_memories(vault: "Vault", wanted: MemoryFilter, *, before: str | None, limit: int) -> FilteredPage:
    """Return the newest memories that a filter lets through."""
    if not wanted.text:
        page = vault.memories.list(state=wanted.state, kind=wanted.kind, cursor=before, limit=limit)
        return FilteredPage(list(page), page.next)
    words = wanted.text.casefold().split()
    found: list[Memory] = []
    cursor = before
    for _ in range(LOOKED // _BATCH):
        page = vault.memories.list(state=wanted.state, kind=wanted.kind, cursor=cursor, limit=_BATCH)
        for memory in page:
            if _has_all(memory, words):
                if len(found) == limit:
                    return FilteredPage(found, found[-1].id)
                found.append(memory)
        cursor = page.next
        if cursor is None:
            return FilteredPage(found, None)
    return FilteredPage(found, cursor, cut=True)


def _has_all(memory: Memory, words: list[str]) -> bool:
    text = f"{memory.content}\n{memory.key or ''}".casefold()
    return all(word in text for word in words)
