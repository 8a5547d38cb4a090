"""Recollect: the memory and state layer for AI agents."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

# Loaded when first asked for: a program that only wants one module does not pay for all of them.
_HOME_OF = {
    "Chat": "recollect.vault.chat",
    "Conflict": "recollect.domain.errors",
    "Damaged": "recollect.domain.errors",
    "Denied": "recollect.domain.errors",
    "DiskFull": "recollect.domain.errors",
    "Draft": "recollect.vault.draft",
    "Event": "recollect.domain.event",
    "Hit": "recollect.domain.hit",
    "InvalidInput": "recollect.domain.errors",
    "KeyProblem": "recollect.domain.errors",
    "Kind": "recollect.domain.memory",
    "Memory": "recollect.domain.memory",
    "Message": "recollect.domain.message",
    "NotFound": "recollect.domain.errors",
    "Owner": "recollect.domain.owner",
    "Recollect": "recollect.engine",
    "RecollectError": "recollect.domain.errors",
    "Role": "recollect.domain.message",
    "Session": "recollect.domain.session",
    "SessionKey": "recollect.domain.session",
    "Source": "recollect.domain.hit",
    "State": "recollect.domain.memory",
    "StepRefused": "recollect.domain.errors",
    "StorageError": "recollect.domain.errors",
    "TokenCount": "recollect.domain.message",
    "ToolCall": "recollect.domain.message",
    "Trust": "recollect.domain.trust",
    "Vault": "recollect.vault.vault",
}


def __getattr__(name: str) -> object:
    """A public name, from the module it lives in."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """The public names."""
    return list(__all__)
