"""Notice: what a write did to its text besides storing it. It names kinds and counts, and never a secret."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field

from recollectum.domain.records import dataclass

#: How many characters of one memory or message are searched; what follows is stored and not indexed.
INDEXED = 200_000
#: Marks the field of a noun that its JSON leaves out: the answer to a write carries the notice beside the noun.
BESIDE = {"beside": True}
_MOST_PLACES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What happened to a text on its way into a vault; false when it was stored and indexed as it was given."""

    #: How many secrets were replaced, by kind.
    replaced: Mapping[str, int] = field(default_factory=dict[str, int])
    #: Where they are kept in the credential store, each as service and account; empty when they are kept nowhere.
    kept: tuple[str, ...] = ()
    #: How many characters are stored but not searched, because their text is longer than what recall searches.
    unindexed: int = 0

    def __bool__(self) -> bool:
        """Return whether there is anything to tell."""
        return bool(self.replaced or self.unindexed)

    def __add__(self, other: "Notice") -> "Notice":
        """Return both in one."""
        if not (self and other):
            return self or other
        return Notice(
            replaced=dict(Counter(self.replaced) + Counter(other.replaced)),
            kept=tuple(dict.fromkeys((*self.kept, *other.kept))),
            unindexed=self.unindexed + other.unindexed,
        )

    def sentences(self) -> list[str]:
        """Return what a person should be told, one sentence for each thing, without full stops."""
        told: list[str] = []
        if count := sum(self.replaced.values()):
            kinds = ", ".join(kind if much == 1 else f"{kind} ({much})" for kind, much in self.replaced.items())
            told.append(
                f"{'1 secret was' if count == 1 else f'{count} secrets were'} replaced: {kinds}{self._places()}"
            )
        if self.unindexed:
            told.append(
                f"{self.unindexed:,} characters are stored but not searched: "
                f"recall searches the first {INDEXED:,} of a memory or message"
            )
        return told

    def _places(self) -> str:
        if not self.kept:
            return ""
        more = len(self.kept) - _MOST_PLACES
        shown = ", ".join(self.kept[:_MOST_PLACES]) + (f" and {more} more" if more > 0 else "")
        return f"; kept in the credential store as {shown}"


#: For a text that was stored as it was given.
NO_NOTICE = Notice()


def total(notices: Iterable[Notice]) -> Notice:
    """Return all notices in one."""
    return sum(notices, NO_NOTICE)
