"""Citations: the places in conversations that a memory came from, as a reader of the memory may see them."""

from recollectum.domain.citation import Citation
from recollectum.domain.memory import Memory
from recollectum.storage.port import Tx
from recollectum.storage.tables import citations, messages


def citations_of(tx: Tx, memory: Memory) -> list[Citation]:
    """The words that were cited, and the message it was remembered from where none of its words were."""
    found = citations.places(tx, memory.id)
    if memory.message_id is None or any(one.message_id == memory.message_id for one in found):
        return found
    said = messages.find(tx, memory.message_id)
    if said is None:
        # Its conversation was deleted; the memory is kept.
        return found
    whole = Citation(
        session_id=said.session_id,
        message_id=said.id,
        position=said.position,
        start=0,
        end=len(said.text),
        exact=False,
    )
    return sorted([*found, whole], key=lambda one: (one.session_id, one.position, one.start, one.end))
