"""The types that writers accept: text that has passed the intake. Only this room creates them; a test enforces that."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import NewType

from recollectum.domain.memory import Kind
from recollectum.domain.message import Message, ToolCall
from recollectum.domain.proposal import Act, Finding
from recollectum.domain.records import dataclass
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
    #: The id of the project that it is limited to.
    project: str | None
    #: The trust in its caller; the message it came from may be trusted less.
    trust: Trust
    #: Whether it certainly tells of no person and no address; False is not known.
    tells_of_nobody: bool = False

    def said_in(self, message_id: str, agent: str | None) -> "AdmittedMemory":
        """Return the same draft, saved from a message by an agent."""
        return replace(self, message_id=message_id, agent=agent)

    def in_project(self, project: str | None) -> "AdmittedMemory":
        """Return the same draft, limited to a project."""
        return replace(self, project=project)


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

    def placed(
        self,
        session_id: str,
        message_id: str | None = None,
        now: datetime | None = None,
        position: int | None = None,
    ) -> "AdmittedMessage":
        """Return the same message with its session, id and position; `now` is its time unless it has one."""
        message = self.message
        return AdmittedMessage(
            # Not `replace`, which takes twice as long: every message passes here.
            Message(
                id=message_id or message.id,
                session_id=session_id,
                position=message.position if position is None else position,
                role=message.role,
                content=message.content,
                created_at=message.created_at if self.has_time or now is None else now,
                tool_calls=message.tool_calls,
                thoughts=message.thoughts,
                tokens=message.tokens,
                token_estimate=message.token_estimate,
                model=message.model,
                native_id=message.native_id,
                speaker=message.speaker,
                trust=message.trust,
                extra=message.extra,
                notice=message.notice,
            )
        )

    def copied(self, message_id: str, session_id: str, trust: Trust, copy_of: tuple[str, str]) -> "AdmittedMessage":
        """Return a copy for another session, with the field and id that name the original."""
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
        """Return the same session as an imported one with these counts."""
        counted = replace(self.session, imported=True, message_count=messages, token_estimate=tokens)
        return AdmittedSession(counted)

    def keyed(self, key: SessionKey) -> "AdmittedSession":
        """Return the same session with another key."""
        return AdmittedSession(replace(self.session, key=key))


@dataclass(frozen=True, slots=True)
class AdmittedFinding:
    """A finding whose text may be written or shown in the review inbox."""

    finding: Finding

    @property
    def content(self) -> AdmittedText:
        """The text of the finding."""
        return AdmittedText(self.finding.content)

    def to_memory(
        self, *, message_id: str | None, agent: str | None, project: str | None, trust: Trust
    ) -> AdmittedMemory:
        """Return the memory that it adds."""
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
            project=project,
            trust=trust,
        )

    def aimed(self, act: Act, targets: tuple[str, ...]) -> "AdmittedFinding":
        """Return the same text as another act on other memories, which needs a person's decision."""
        return AdmittedFinding(replace(self.finding, act=act, targets=targets, certain=False))

    def trusted(self, trust: Trust, *, certain: bool) -> "AdmittedFinding":
        """Return the same finding with another trust."""
        return AdmittedFinding(replace(self.finding, trust=trust, certain=certain))

    def approved(self, content: AdmittedText | None) -> "AdmittedFinding":
        """Return the finding as a person approved it, in the same or in other words; it now has that person's trust."""
        return AdmittedFinding(replace(self.finding, content=content or self.finding.content, certain=False))


def stored_text(text: str) -> AdmittedText:
    """Return a text read from the vault's own rows as admitted, because rows hold only admitted text."""
    return AdmittedText(text)


def stored_message(message: Message) -> AdmittedMessage:
    """Return a message read from the vault's own rows as admitted."""
    return AdmittedMessage(message)


def stored_finding(finding: Finding) -> AdmittedFinding:
    """Return a finding read from the vault's own rows as admitted."""
    return AdmittedFinding(finding)
