"""One call that a stranger or an owner makes, and what the rules say of it."""

from collections.abc import Callable
from dataclasses import dataclass

from recollectum.domain.errors import InvalidInput, ModelMissing, NotFound
from recollectum.vault.vault import Vault

NOTHING: frozenset[str] = frozenset()
Run = Callable[[Vault], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One call, and what the rules say of it."""

    name: str
    permission: str
    run: Run
    #: The state of the memory it is about, when it is about one.
    place: str = ""
    #: The number of the session it touches, when that is all it touches.
    session: int | None = None
    #: The places whose canaries it shows to one who may call it.
    shows: frozenset[str] = NOTHING
    #: Whether it finds its object by an id, which may be of another vault.
    by_id: bool = False

    def __str__(self) -> str:
        """The call, for a finding."""
        place = self.place or ("" if self.session is None else f"session {self.session}")
        return f"{self.name}({place})"


def tried(call: Callable[[], object]) -> object:
    """Return the answer of a call, or the sentence with which it refuses what does not exist."""
    try:
        return call()
    except (InvalidInput, ModelMissing, NotFound) as error:
        return str(error)
