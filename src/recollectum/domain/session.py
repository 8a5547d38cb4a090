"""Session: one conversation with its resume key, its checkpoints and its summary."""

import re
from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from hashlib import blake2b

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json
from recollectum.domain.notice import BESIDE, NO_NOTICE, Notice
from recollectum.domain.records import dataclass

MAIN = "main"
_ESCAPED = re.compile("%(25|3A|3a)")
_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")

#: What agents were called here before, or call themselves, and the one name that each has here: that of `mcp install`.
_ONE_NAME = {
    "claude": "claude-code",
    "gemini": "gemini-cli",
    "gemini-cli-mcp-client": "gemini-cli",
    "codex-mcp-client": "codex",
    "cursor-vscode": "cursor",
}


def name_agent(name: str) -> str:
    """Return the one name of an agent."""
    return _ONE_NAME.get(name, name)


class SessionKind(StrEnum):
    """Who takes part in a session."""

    DIRECT = "direct"
    GROUP = "group"
    HOOK = "hook"
    CRON = "cron"


@dataclass(frozen=True, slots=True)
class SessionKey:
    """Where a conversation takes place.

    agent:<agent>:main                              the one direct chat with an agent
    agent:<agent>:<channel>:direct                  a direct chat kept apart by channel
    agent:<agent>:<channel>:group:<id>              a group
    …:topic:<id>                                    a thread inside one of these
    hook:<id>, cron:<id>                            started by a program

    A colon or per cent sign inside a part is written %3A or %25, so that no two keys meet in one text.
    """

    kind: SessionKind = SessionKind.DIRECT
    agent: str = MAIN
    channel: str = MAIN
    #: The id of the group, the hook or the job.
    name: str | None = None
    topic: str | None = None

    def __post_init__(self) -> None:
        """Raise for a key that has no text form."""
        named = self.kind is not SessionKind.DIRECT
        if named != (self.name is not None):
            raise InvalidInput(f"a {self.kind} session key {'needs' if named else 'takes no'} name")
        if self.kind in (SessionKind.HOOK, SessionKind.CRON) and (
            self.topic is not None or (self.agent, self.channel) != (MAIN, MAIN)
        ):
            raise InvalidInput(f"a {self.kind} session key takes no agent, channel or topic")
        for part in (self.agent, self.channel, self.name, self.topic):
            if part is not None and (not part or _CONTROL.search(part)):
                raise InvalidInput(f"session key part {part!r} is empty or holds a control character")

    def under_every_name(self) -> "tuple[SessionKey, ...]":
        """Return the key, and those of the same place under the earlier names of its agent."""
        earlier = [old for old, name in _ONE_NAME.items() if name == self.agent]
        return (self, *(replace(self, agent=old) for old in earlier))

    @classmethod
    def parse(cls, text: str) -> "SessionKey":
        """Parse a key from its text form; raise when it is invalid."""
        head, *rest = text.split(":")
        if head in (SessionKind.HOOK, SessionKind.CRON) and rest:
            return cls(SessionKind(head), name=_unescape(":".join(rest)))
        if head != "agent" or len(rest) < 2:
            raise InvalidInput(f"{text!r} is not a session key; write agent:NAME:main, or see SessionKey")
        agent, channel, *place = rest
        place, topic = _split_topic(place)
        place_of = partial(cls, agent=_unescape(agent), channel=_unescape(channel), topic=topic)
        if place == ["direct"] or (not place and channel == MAIN):
            return place_of(SessionKind.DIRECT)
        if len(place) > 1 and place[0] == "group":
            return place_of(SessionKind.GROUP, name=_unescape(":".join(place[1:])))
        raise InvalidInput(f"{text!r} is not a session key; after the channel write direct or group:ID")

    def __str__(self) -> str:
        """Return the key's canonical text form."""
        if self.kind in (SessionKind.HOOK, SessionKind.CRON):
            return f"{self.kind}:{_escape(self.name or '')}"
        key = f"agent:{_escape(self.agent)}:{_escape(self.channel)}"
        if self.kind is SessionKind.GROUP:
            key += f":group:{_escape(self.name or '')}"
        elif self.channel != MAIN:
            key += ":direct"
        return key if self.topic is None else f"{key}:topic:{_escape(self.topic)}"


def _split_topic(place: list[str]) -> tuple[list[str], str | None]:
    """Split off a trailing `topic:<id>`, if there is one."""
    if len(place) >= 2 and place[-2] == "topic":
        return place[:-2], _unescape(place[-1])
    return place, None


def _escape(part: str) -> str:
    return part.replace("%", "%25").replace(":", "%3A")


def _unescape(part: str) -> str:
    return _ESCAPED.sub(lambda found: "%" if found[1] == "25" else ":", part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation; its messages are stored separately, in order."""

    id: str
    key: SessionKey
    created_at: datetime
    updated_at: datetime
    #: Set when the session was ended; the next open under its key starts a new one.
    ended_at: datetime | None = None
    title: str | None = None
    summary: str | None = None
    #: SHA-256 of the project folder that the conversation was about, if any.
    project: str | None = None
    #: True for an imported conversation: its text is data, not the owner's word.
    imported: bool = False
    message_count: int = 0
    token_estimate: int = 0
    extra: Mapping[str, Json] = field(default_factory=dict[str, Json])
    #: What the write that returned it did to its text; empty for one that was read.
    notice: Notice = field(default=NO_NOTICE, compare=False, repr=False, metadata=BESIDE)


#: The field where a session stores what it was forked from, and where a message stores its origin: the id of the
#: message that it is a copy of, or one of the two below. What is erased takes along what has it as its origin.
FORK, ORIGIN = "forked_from", "copy_of"


def origin_of_transcript(key: SessionKey) -> str:
    """Return the origin of a message whose session is another record of a whole conversation, and goes with it."""
    return f"transcript-{_digest(key)}"


def origin_of_summary(key: SessionKey) -> str:
    """Return the origin of a message that was made from a whole conversation, and goes with any message of it."""
    return f"summary-{_digest(key)}"


def _digest(key: SessionKey) -> str:
    one = replace(key, agent=name_agent(key.agent))
    return blake2b(str(one).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A named position in a conversation."""

    name: str
    session_id: str
    #: The position of its last message.
    position: int
    saved_at: datetime


def copied_to(session: Session) -> int:
    """Return the position up to which a session's messages are copies; 0 when it is not a fork."""
    fork = session.extra.get(FORK)
    copied = fork.get("messages") if isinstance(fork, dict) else None
    return copied if isinstance(copied, int) else 0


#: The author of a summary that no language model wrote.
BY_RULES = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What was said up to a message."""

    text: str
    #: The position of the last message that it covers.
    up_to: int
    #: The model that wrote it, or `rules`.
    by: str
    #: What the write that returned it did to its text; empty for one that was read.
    notice: Notice = field(default=NO_NOTICE, compare=False, repr=False, metadata=BESIDE)
