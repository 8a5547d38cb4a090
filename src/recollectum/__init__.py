"""Recollectum: the memory and state layer for AI agents."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollectum.domain.access.owner import Owner
    from recollectum.domain.errors import (
        Conflict,
        Damaged,
        Denied,
        DiskFull,
        InvalidInput,
        KeyProblem,
        NotFound,
        RecollectumError,
        StepRefused,
        StorageError,
    )
    from recollectum.domain.event import Event
    from recollectum.domain.hit import Hit, Source
    from recollectum.domain.memory import Kind, Memory, SaveOutcome, SaveResult, State
    from recollectum.domain.message import Message, Role, TokenCount, ToolCall, ToolUse
    from recollectum.domain.session import Session, SessionKey
    from recollectum.domain.trust import Trust
    from recollectum.engine import Recollectum
    from recollectum.vault.intake.draft import Draft
    from recollectum.vault.sessions.chat import Chat
    from recollectum.vault.vault import Vault

    __version__: str

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
    "Recollectum",
    "RecollectumError",
    "Role",
    "SaveOutcome",
    "SaveResult",
    "Session",
    "SessionKey",
    "Source",
    "State",
    "StepRefused",
    "StorageError",
    "TokenCount",
    "ToolCall",
    "ToolUse",
    "Trust",
    "Vault",
]

# Loaded when first asked for: a program that only wants one module does not pay for all of them.
_HOME_OF = {
    "Chat": "recollectum.vault.sessions.chat",
    "Conflict": "recollectum.domain.errors",
    "Damaged": "recollectum.domain.errors",
    "Denied": "recollectum.domain.errors",
    "DiskFull": "recollectum.domain.errors",
    "Draft": "recollectum.vault.intake.draft",
    "Event": "recollectum.domain.event",
    "Hit": "recollectum.domain.hit",
    "InvalidInput": "recollectum.domain.errors",
    "KeyProblem": "recollectum.domain.errors",
    "Kind": "recollectum.domain.memory",
    "Memory": "recollectum.domain.memory",
    "Message": "recollectum.domain.message",
    "NotFound": "recollectum.domain.errors",
    "Owner": "recollectum.domain.access.owner",
    "Recollectum": "recollectum.engine",
    "RecollectumError": "recollectum.domain.errors",
    "Role": "recollectum.domain.message",
    "SaveOutcome": "recollectum.domain.memory",
    "SaveResult": "recollectum.domain.memory",
    "Session": "recollectum.domain.session",
    "SessionKey": "recollectum.domain.session",
    "Source": "recollectum.domain.hit",
    "State": "recollectum.domain.memory",
    "StepRefused": "recollectum.domain.errors",
    "StorageError": "recollectum.domain.errors",
    "TokenCount": "recollectum.domain.message",
    "ToolCall": "recollectum.domain.message",
    "ToolUse": "recollectum.domain.message",
    "Trust": "recollectum.domain.trust",
    "Vault": "recollectum.vault.vault",
}


def __getattr__(name: str) -> object:
    """A public name, from the module it lives in."""
    if name == "__version__":
        return _version()
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """The public names."""
    return list(__all__)


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - it costs 20 ms, and few ask

    return version(__name__)
