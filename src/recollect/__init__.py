"""Recollect: the memory and state layer for AI agents."""

from recollect.domain.errors import (
    Conflict,
    Damaged,
    Denied,
    DiskFull,
    InvalidInput,
    KeyProblem,
    NotFound,
    RecollectError,
    StepRefused,
    StorageError,
)
from recollect.domain.event import Event
from recollect.domain.hit import Hit, Source
from recollect.domain.memory import Kind, Memory, State
from recollect.domain.message import Message, Role, TokenCount, ToolCall
from recollect.domain.owner import Owner
from recollect.domain.session import Session, SessionKey
from recollect.domain.trust import Trust
from recollect.engine import Recollect
from recollect.vault.chat import Chat
from recollect.vault.draft import Draft
from recollect.vault.vault import Vault

__all__ = [
    "Chat",
    "Conflict",
    "Damaged",
    "Denied",
    "DiskFull",
    "Draft",
    "Event",
    "Hit",
    "InvalidInput",
    "KeyProblem",
    "Kind",
    "Memory",
    "Message",
    "NotFound",
    "Owner",
    "Recollect",
    "RecollectError",
    "Role",
    "Session",
    "SessionKey",
    "Source",
    "State",
    "StepRefused",
    "StorageError",
    "TokenCount",
    "ToolCall",
    "Trust",
    "Vault",
]
