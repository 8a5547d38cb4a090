"""Contact: somebody the person knows, and how to reach them, according to memories."""

from enum import StrEnum

from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust


class AddressKind(StrEnum):
    """The kind of an address."""

    PHONE = "phone"
    EMAIL = "email"
    HANDLE = "handle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A number, an e-mail address or a handle."""

    kind: AddressKind
    #: The normalised form used for comparison: a number without its spaces.
    value: str
    #: As written in the memory.
    written: str
    #: `work`, `home`, or the platform of a handle; empty when unknown.
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactAddress:
    """An address of one contact, and the memory it comes from."""

    address: Address
    memory_id: str
    trust: Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """One person that memories describe."""

    #: As first written; empty when only the relation is known.
    name: str
    #: Other names in memories.
    nicknames: tuple[str, ...] = ()
    #: The relation to the person, such as `girlfriend`.
    relations: tuple[str, ...] = ()
    addresses: tuple[ContactAddress, ...] = ()
    #: All memories that describe the contact.
    memory_ids: tuple[str, ...] = ()

    @property
    def described(self) -> str:
        """The contact in a few words: `Anna, your girlfriend`."""
        relation = f"your {' and '.join(self.relations)}" if self.relations else ""
        return ", ".join(filter(None, (self.name, relation)))


class Outcome(StrEnum):
    """How a resolution ended."""

    MATCH = "match"
    QUESTION = "question"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """Exactly one clear match, or a question for the person, or nothing known."""

    outcome: Outcome
    #: Only with a match; otherwise there is nothing to act on.
    contact: Contact | None = None
    #: What to ask or tell the person; empty with a match.
    question: str = ""
    candidates: tuple[Contact, ...] = ()
