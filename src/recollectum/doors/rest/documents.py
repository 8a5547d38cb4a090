"""Describes the response bodies for OpenAPI; responses themselves are made from our own values."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from recollectum.doors.rest.requests import KindName

Moment = str


class MemoryDocument(BaseModel):
    """One thing that is remembered."""

    id: str = Field(examples=["mem_01j8zqk3v5x7m2n4p6r8t0w2y4"])
    content: str = Field(examples=["Ada drinks oolong tea in the morning."])
    created_at: Moment
    updated_at: Moment
    key: str | None
    kind: KindName
    importance: float
    trust: str
    author: str
    agent: str | None
    message_id: str | None
    version: int
    state: str
    valid_from: Moment | None
    valid_to: Moment | None
    supersedes: str | None
    superseded_by: str | None
    archive_at: Moment | None
    retention_expires_at: Moment | None
    expires_at: Moment | None
    deleted_at: Moment | None
    hard_delete_at: Moment | None


class OneMemory(BaseModel):
    """One memory; its version is in the ETag."""

    memory: MemoryDocument


class SavedMemory(BaseModel):
    """What was remembered, and whether it was new."""

    outcome: Literal["created", "renewed", "changed", "saved"]
    memory: MemoryDocument


class MemoryPage(BaseModel):
    """The newest memories in one state."""

    memories: list[MemoryDocument]
    next: str | None


class VersionDocument(BaseModel):
    """What a memory said from one time until it was changed."""

    memory_id: str
    version: int
    content: str
    recorded_at: Moment
    replaced_at: Moment | None
    author: str


class EventDocument(BaseModel):
    """One line of the audit trail."""

    number: int
    at: Moment
    type: str
    subject: str
    subject_id: str
    actor: str
    state: str | None
    payload: dict[str, Any]


class MemoryHistory(BaseModel):
    """Everything a memory has said, and everything that happened to it, oldest first."""

    versions: list[VersionDocument]
    events: list[EventDocument]


class CitationDocument(BaseModel):
    """Characters of one message that a memory came from."""

    session_id: str
    message_id: str
    position: int = Field(description="Of the message in its session, from 1.")
    start: int
    end: int
    exact: bool = Field(description="Whether these very words were cited; else the characters are all of the message.")


class MemorySources(BaseModel):
    """The places in conversations that a memory came from, in the order in which they were said."""

    sources: list[CitationDocument]


class EventPage(BaseModel):
    """The newest events."""

    events: list[EventDocument]
    next: str | None


class HitDocument(BaseModel):
    """One piece of text that answers a query, with its place and the reasons for its rank."""

    text: str
    score: float
    source: dict[str, Any]
    trust: str
    author: str
    created_at: Moment
    reasons: dict[str, Any]
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class RecallDocument(BaseModel):
    """The hits, best first, and how they were found."""

    hits: list[HitDocument]
    rung: Literal["hybrid", "text", "substring"]
    degraded: str | None
    #: Hits of untrusted origin that were left out; ask with `untrusted` to see them.
    held_back: int


class PurgePreview(BaseModel):
    """What a purge would take, and the token that lets it be done within ten minutes."""

    confirm: str
    preview: dict[str, Any]


class PurgeDone(BaseModel):
    """The signed receipt of a purge."""

    receipt: dict[str, Any]


class SessionDocument(BaseModel):
    """One conversation."""

    id: str
    key: str = Field(examples=["agent:main:main"])
    created_at: Moment
    updated_at: Moment
    ended_at: Moment | None
    title: str | None
    summary: str | None
    project: str | None
    imported: bool
    message_count: int
    token_estimate: int
    extra: dict[str, Any]


class OneSession(BaseModel):
    """One conversation."""

    session: SessionDocument


class SessionPage(BaseModel):
    """The newest conversations."""

    sessions: list[SessionDocument]
    next: str | None


class MessageDocument(BaseModel):
    """One message of a conversation."""

    id: str
    session_id: str
    position: int
    role: str
    content: str | list[Any]
    created_at: Moment
    tool_calls: list[dict[str, Any]]
    trust: str


class OneMessage(BaseModel):
    """One message."""

    message: MessageDocument


class MessagePage(BaseModel):
    """Messages in their order; `next` leads to those before them."""

    messages: list[MessageDocument]
    next: str | None


class ContextDocument(BaseModel):
    """What a model gets to see, and the account of its tokens."""

    text: str
    messages: list[dict[str, Any]]
    ledger: dict[str, Any]


class ProfileAnswer(BaseModel):
    """Who the person is, in a few points; null while nothing is known."""

    profile: dict[str, Any] | None


class LearningDocument(BaseModel):
    """What an agent learned of how to work with the person."""

    id: str
    text: str
    category: str
    day: str
    agent: str | None


class OneLearning(BaseModel):
    """One learning."""

    learning: LearningDocument


class LearningPage(BaseModel):
    """The newest learnings."""

    learnings: list[LearningDocument]
    next: str | None


class ProposalDocument(BaseModel):
    """A change to what is known that waits for a person, or what they decided."""

    id: str
    finding: dict[str, Any]
    decision: Literal["waiting", "approved", "rejected", "stale"]
    created_at: Moment
    decided_at: Moment | None
    decided_by: str | None
    memory_id: str | None
    run_id: str | None


class OneProposal(BaseModel):
    """One proposal."""

    proposal: ProposalDocument


class ProposalDiff(BaseModel):
    """One proposal, and what it would change."""

    proposal: ProposalDocument
    diff: list[str]


class ProposalPage(BaseModel):
    """The newest proposals."""

    proposals: list[ProposalDocument]
    next: str | None


class ReceiptList(BaseModel):
    """The receipts of what was erased, oldest first."""

    receipts: list[dict[str, Any]]


class ReceiptChecked(BaseModel):
    """Whether the home signed a receipt and nothing in it was changed."""

    id: str
    genuine: bool
    public_key: str


class HealthDocument(BaseModel):
    """Whether the server is there."""

    status: Literal["ok", "ready"]


class KeyDocument(BaseModel):
    """An API key by its id; the secret is not kept."""

    id: str
    person: str
    permissions: list[str]
    created_at: Moment
    revoked_at: Moment | None
    owners: list[str]


class OneKey(BaseModel):
    """One key."""

    key: KeyDocument


class NewKeyDocument(BaseModel):
    """A new key, with its secret, which is shown this once."""

    key: KeyDocument
    secret: str


class KeyList(BaseModel):
    """The keys, oldest first."""

    keys: list[KeyDocument]
