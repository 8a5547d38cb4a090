"""Owner: whose memory a vault holds, and its canonical text form."""

from enum import StrEnum
from functools import lru_cache

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import check_name, skeleton
from recollectum.domain.records import dataclass


class OwnerKind(StrEnum):
    """The kind of a vault's owner."""

    USER = "user"
    AGENT = "agent"
    GROUP = "group"
    GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class Owner:
    """`user:alice`, `agent:coder`, `group:whatsapp:123`, `global`, or `user:alice/agent:coder`."""

    kind: OwnerKind
    name: str = ""
    #: Set only when isolation is per agent: one person's vault for one agent.
    agent: str | None = None

    def __post_init__(self) -> None:
        """Raise for an owner whose text form would not parse to the same owner."""
        if self.agent is not None:
            _same(self.agent, check_name(self.agent, "agent"))
        match self.kind:
            case OwnerKind.GLOBAL:
                _same(self.name, "")
            case OwnerKind.GROUP:
                _same(self.name, _group_name(self.name))
            case _:
                _same(self.name, check_name(self.name, self.kind))

    @classmethod
    def parse(cls, text: str) -> "Owner":
        """Parse an owner from its text form; raise when it is invalid."""
        return _parse(text)

    def __str__(self) -> str:
        """Return the owner's canonical text form."""
        if self.kind is OwnerKind.GLOBAL:
            return "global"
        person = f"{self.kind}:{self.name}"
        return f"{person}/agent:{self.agent}" if self.agent else person

    @property
    def person(self) -> "Owner":
        """The same owner without the agent."""
        return Owner(self.kind, self.name) if self.agent else self

    def skeleton(self) -> str:
        """Return what the owner looks like to a reader; see `names.skeleton`."""
        seen = f"{self.kind}:{skeleton(self.name)}"
        return f"{seen}/agent:{skeleton(self.agent)}" if self.agent else seen


def _agent_suffix(text: str, suffix: str) -> str:
    head, _, name = suffix.partition(":")
    if head != "agent":
        raise InvalidInput(f"{text!r} is not an owner; after the slash write agent:NAME")
    return check_name(name, "agent")


def _same(given: str, checked: str) -> None:
    if given != checked:
        raise InvalidInput(f"{given!r} is not how this owner's name is spelled; write {checked!r}")


def _group_name(name: str) -> str:
    channel, _, group = name.partition(":")
    return f"{check_name(channel, 'channel')}:{_check_group(group)}"


def _check_group(group: str) -> str:
    """Return a channel's id of a group, which may hold colons in addition to the characters of a name."""
    return ":".join(check_name(part, "group") for part in group.split(":"))


@lru_cache(maxsize=1024)
def _parse(text: str) -> Owner:
    """Parse an owner; cached, because a server parses the same few on every request."""
    person, slash, suffix = text.partition("/")
    kind, _, name = person.partition(":")
    agent = _agent_suffix(text, suffix) if slash else None
    match kind:
        case OwnerKind.GLOBAL if person == "global" and not slash:
            return Owner(OwnerKind.GLOBAL)
        case OwnerKind.USER | OwnerKind.AGENT:
            return Owner(OwnerKind(kind), check_name(name, kind), agent)
        case OwnerKind.GROUP:
            return Owner(OwnerKind.GROUP, _group_name(name), agent)
        case _:
            raise InvalidInput(f"{text!r} is not an owner; write user:NAME, agent:NAME, group:CHANNEL:ID or global")
