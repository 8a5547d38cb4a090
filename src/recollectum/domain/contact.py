"""Contact: somebody the person knows, and how they are reached, as far as memories say."""

from dataclasses import dataclass
from enum import StrEnum

from recollectum.domain.trust import Trust


class AddressKind(StrEnum):
    """What sort of address it is."""

    PHONE = "phone"
    EMAIL = "email"
    HANDLE = "handle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A number, an e-mail address or a handle."""

    kind: AddressKind
    #: In the one spelling under which it is compared: a number without its spaces.
    value: str
    #: As it stands in the memory.
    written: str
    #: `work`, `home`, or the platform of a handle; empty when nothing was said.
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactAddress:
    """An address of one contact, and the memory that says so."""

    address: Address
    memory_id: str
    trust: Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """One somebody."""

    #: As first written; empty when only the relation is known.
    name: str
    #: Other names that a memory gives them.
    nicknames: tuple[str, ...] = ()
    #: Such as `girlfriend`; what they are to the person.
    relations: tuple[str, ...] = ()
    addresses: tuple[ContactAddress, ...] = ()
    #: All memories that say any of this.
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
    #: Only with a match: there is nothing to act on otherwise.
    contact: Contact | None = None
    #: What to ask or to tell the person; empty with a match.
    question: str = ""
    candidates: tuple[Contact, ...] = ()
