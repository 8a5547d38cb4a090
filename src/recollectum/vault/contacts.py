"""Contacts: whom "my girlfriend" means and how she is reached, as far as memories say."""

from collections.abc import Iterator

from recollectum.domain.caller import Permission, Scope
from recollectum.domain.contact import Contact, Resolved
from recollectum.domain.memory import Memory, State
from recollectum.policy.clock import Reading
from recollectum.policy.lifecycle import state_at
from recollectum.storage.port import Tx
from recollectum.storage.tables import memories
from recollectum.text.cleaning import clean
from recollectum.text.contact_statements import mentions
from recollectum.vault.contacts_joining import Told, join
from recollectum.vault.contacts_resolving import resolve
from recollectum.vault.footing import Footing
from recollectum.vault.gate import Gate, operation

_READ = operation(Permission.READ, Scope.USER)


class Contacts:
    """The people whom one vault's memories tell of. Nothing else is a source: not what was merely said."""

    def __init__(self, footing: Footing) -> None:
        self._footing = footing

    @property
    def gate(self) -> Gate:
        """The gate every operation passes."""
        return self._footing.gate

    @_READ
    def resolve(self, text: str) -> Resolved:
        """Whom a name, nickname or relation means: one clear match with its addresses, a question, or nothing known.

        An address that stems only from a tool, an import or an unknown source is asked about and never a match.
        """
        return resolve(clean(text), self._footing.read(_told))

    @_READ
    def all(self) -> list[Contact]:
        """Everybody that the memories tell of, by name, whatever the source; each address says how it is trusted."""
        return [one.contact for one in join(self._footing.read(_told))]


def _told(tx: Tx, reading: Reading) -> list[Told]:
    return [told for _, memory in memories.everything(tx) if _holds(memory, reading) for told in _statements(memory)]


def _holds(memory: Memory, reading: Reading) -> bool:
    """Whether a memory is active, stands, and is true now."""
    if memory.superseded_by is not None or state_at(memory, reading) is not State.ACTIVE:
        return False
    begun = memory.valid_from is None or memory.valid_from <= reading.now
    return begun and (memory.valid_to is None or memory.valid_to > reading.now)


def _statements(memory: Memory) -> Iterator[Told]:
    for mention in mentions(memory.content, memory.key):
        yield Told(
            mention=mention,
            memory_id=memory.id,
            trust=memory.trust,
            created_at=memory.created_at,
            updated_at=memory.updated_at,
            since=memory.created_at if memory.version == 1 else memory.updated_at,
        )
