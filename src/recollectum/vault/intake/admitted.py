"""The types that writers accept: text that has passed the intake. Only this room makes them; a test sees to that."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NewType

from recollectum.domain.memory import Kind
from recollectum.domain.message import Message, ToolCall
from recollectum.domain.proposal import Act, Finding
from recollectum.domain.session import Session, SessionKey
from recollectum.domain.trust import Trust

#: A clean text without secrets.
AdmittedText = NewType("AdmittedText", str)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedMemory:
    """A draft that may be written."""

    content: AdmittedText
    key: str | None
    kind: Kind
    importance: float
    ttl: timedelta | None
    valid_from: datetime | None
    valid_to: datetime | None
    message_id: str | None
    agent: str | None
    #: How far its caller is trusted; the message it came from may be trusted less.
    trust: Trust

    def said_in(self, message_id: str, agent: str | None) -> "AdmittedMemory":
        """The same draft, remembered from a message by an agent."""
        return replace(self, message_id=message_id, agent=agent)


@dataclass(frozen=True, slots=True)
class AdmittedCall:
    """A tool call that may be written."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class AdmittedMessage:
    """A message that may be written."""

    message: Message
    #: Whether it has a time; if not, it gets the time of its transaction.
    has_time: bool = True

    def placed(self, session_id: str, message_id: str | None = None, now: datetime | None = None) -> "AdmittedMessage":
        """The same message in a session, under an id; `now` is its time unless it has one."""
        message = self.message
        return AdmittedMessage(
            replace(
                message,
                session_id=session_id,
                id=message_id or message.id,
                created_at=message.created_at if self.has_time or now is None else now,
            )
        )

    def copied(self, message_id: str, session_id: str, trust: Trust, copy_of: tuple[str, str]) -> "AdmittedMessage":
        """A copy in another session, with the field and id that say of what."""
        name, original = copy_of
        extra = {name: original, **self.message.extra}
        return AdmittedMessage(
            replace(self.message, id=message_id, session_id=session_id, trust=trust, extra=extra),
        )


@dataclass(frozen=True, slots=True)
class AdmittedSession:
    """A session whose title, summary and extra fields may be written."""

    session: Session

    def counted(self, messages: int, tokens: int) -> "AdmittedSession":
        """The same session as an imported one with these counts."""
        counted = replace(self.session, imported=True, message_count=messages, token_estimate=tokens)
        return AdmittedSession(counted)

    def keyed(self, key: SessionKey) -> "AdmittedSession":
        """The same session under another key."""
        return AdmittedSession(replace(self.session, key=key))


@dataclass(frozen=True, slots=True)
class AdmittedFinding:
    """A finding whose words may be written or shown in the review inbox."""

    finding: Finding

    @property
    def content(self) -> AdmittedText:
        """What it says."""
        return AdmittedText(self.finding.content)

    def to_memory(self, *, message_id: str | None, agent: str | None, trust: Trust) -> AdmittedMemory:
        """The memory that it adds."""
        return AdmittedMemory(
            content=self.content,
            key=self.finding.key,
            kind=self.finding.kind,
            importance=self.finding.importance,
            ttl=None,
            valid_from=None,
            valid_to=None,
            message_id=message_id,
            agent=agent,
            trust=trust,
        )

    def aimed(self, act: Act, targets: tuple[str, ...]) -> "AdmittedFinding":
        """The same words as another act on other memories, which needs a person's decision."""
        return AdmittedFinding(replace(self.finding, act=act, targets=targets, certain=False))

    def trusted(self, trust: Trust, *, certain: bool) -> "AdmittedFinding":
        """The same words with the trust that they deserve."""
        return AdmittedFinding(replace(self.finding, trust=trust, certain=certain))

    def approved(self, content: AdmittedText | None) -> "AdmittedFinding":
        """The finding as a person approved it, in its words or in theirs: it is their word now, not the message's."""
        return AdmittedFinding(replace(self.finding, content=content or self.finding.content, certain=False))


def stored_text(text: str) -> AdmittedText:
    """A text that was read from the vault's own rows, which hold only what was admitted."""
    return AdmittedText(text)


def stored_message(message: Message) -> AdmittedMessage:
    """A message that was read from the vault's own rows."""
    return AdmittedMessage(message)


def stored_finding(finding: Finding) -> AdmittedFinding:
    """A finding that was read from the vault's own rows."""
    return AdmittedFinding(finding)
