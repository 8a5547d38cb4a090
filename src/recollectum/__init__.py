"""Recollectum: the memory and state layer for AI agents."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollectum.domain.access.caller import ApiKey, Caller, Grant, NewKey, PermissionName, ScopeName
    from recollectum.domain.access.owner import Owner
    from recollectum.domain.access.person import (
        Merge,
        MergePreview,
        Person,
        RetentionPreset,
        RetentionPresetName,
        Tenant,
    )
    from recollectum.domain.contact import Contact, Resolved
    from recollectum.domain.context import Context, Profile
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
    from recollectum.domain.event import Event, EventTypeName
    from recollectum.domain.hit import Hit, IndexHealth, RecallResult, Source, SourceName
    from recollectum.domain.ids import Clock
    from recollectum.domain.learning import CategoryName, Learning, LearningsReport
    from recollectum.domain.memory import Citation, Kind, KindName, Memory, SaveOutcome, SaveResult, State, StateName
    from recollectum.domain.message import Json, Message, Part, Role, RoleName, TokenCount, ToolCall, ToolUse
    from recollectum.domain.models.language_model import Estimate
    from recollectum.domain.note import Note, NoteFolder, SyncReport
    from recollectum.domain.page import Cursor, Page
    from recollectum.domain.proposal import DecisionName, Finding, Proposal
    from recollectum.domain.session import Checkpoint, Session, SessionKey, Summary
    from recollectum.domain.transcript import FollowedPath, TranscriptReport
    from recollectum.domain.trust import Trust, TrustName
    from recollectum.engine import Recollectum
    from recollectum.home.paths import Home
    from recollectum.models.embedding.port import Embedder
    from recollectum.models.language.port import LanguageModel
    from recollectum.policy.clock import ClockReading
    from recollectum.policy.lifecycle import Retention
    from recollectum.settings.load import LoadedSettings
    from recollectum.settings.model import Settings
    from recollectum.storage.engine import VaultPlace
    from recollectum.storage.keystore import KeyStore
    from recollectum.storage.tables.content.imports import Import
    from recollectum.storage.tables.learning.jobs import Job, JobStateName
    from recollectum.storage.tables.learning.runs import ConsolidationRun
    from recollectum.storage.tables.trail.quarantines import Quarantine
    from recollectum.storage.tables.trail.sweeps import Sweep
    from recollectum.upkeep.home_admin import HomeAdmin
    from recollectum.vault.access.keys import Keys
    from recollectum.vault.access.people import People
    from recollectum.vault.admin import VaultAdmin, VaultPrivacy
    from recollectum.vault.consolidation.job import ConsolidationOutcome
    from recollectum.vault.consolidation.learn import LearnResult
    from recollectum.vault.consolidation.revert import Reverted
    from recollectum.vault.consolidation.service import Consolidation
    from recollectum.vault.contacts.service import Contacts
    from recollectum.vault.context.profile import Profiles
    from recollectum.vault.events import Events
    from recollectum.vault.idempotency import Idempotency
    from recollectum.vault.index import Index, IndexStatus
    from recollectum.vault.intake.draft import Draft
    from recollectum.vault.intake.new_message import NewMessage
    from recollectum.vault.intake.served import Served
    from recollectum.vault.learnings.service import Learnings
    from recollectum.vault.memories.history import History, Totals
    from recollectum.vault.memories.service import Memories
    from recollectum.vault.notes.global_notes import GlobalNotes, GlobalNotesFile
    from recollectum.vault.notes.service import Notes
    from recollectum.vault.purge.receipts import Receipts
    from recollectum.vault.purge.request import Preview, PurgeRequest, Receipt
    from recollectum.vault.purge.service import Purge
    from recollectum.vault.retention.lifecycle import DueMove, Lifecycle, LifecycleReport
    from recollectum.vault.retention.quarantine import Quarantines, Released, SourceRows
    from recollectum.vault.retention.trash import Restored, Trash
    from recollectum.vault.review.service import Review
    from recollectum.vault.sessions.chat import Chat
    from recollectum.vault.sessions.checkpoints import Checkpoints
    from recollectum.vault.sessions.service import AdoptResult, Sessions
    from recollectum.vault.sessions.summaries import Summaries
    from recollectum.vault.transcripts.service import Transcripts
    from recollectum.vault.undo.diff import Diff
    from recollectum.vault.undo.service import Undo, Undone
    from recollectum.vault.undo.steps import UndoStep
    from recollectum.vault.vault import Vault

    __version__: str

__all__ = [
    "AdoptResult",
    "ApiKey",
    "Caller",
    "CategoryName",
    "Chat",
    "Checkpoint",
    "Checkpoints",
    "Citation",
    "Clock",
    "ClockReading",
    "Conflict",
    "Consolidation",
    "ConsolidationOutcome",
    "ConsolidationRun",
    "Contact",
    "Contacts",
    "Context",
    "Cursor",
    "Damaged",
    "DecisionName",
    "Denied",
    "Diff",
    "DiskFull",
    "Draft",
    "DueMove",
    "Embedder",
    "Estimate",
    "Event",
    "EventTypeName",
    "Events",
    "Finding",
    "FollowedPath",
    "GlobalNotes",
    "GlobalNotesFile",
    "Grant",
    "History",
    "Hit",
    "Home",
    "HomeAdmin",
    "Idempotency",
    "Import",
    "Index",
    "IndexHealth",
    "IndexStatus",
    "InvalidInput",
    "Job",
    "JobStateName",
    "Json",
    "KeyProblem",
    "KeyStore",
    "Keys",
    "Kind",
    "KindName",
    "LanguageModel",
    "LearnResult",
    "Learning",
    "Learnings",
    "LearningsReport",
    "Lifecycle",
    "LifecycleReport",
    "LoadedSettings",
    "Memories",
    "Memory",
    "Merge",
    "MergePreview",
    "Message",
    "NewKey",
    "NewMessage",
    "NotFound",
    "Note",
    "NoteFolder",
    "Notes",
    "Owner",
    "Page",
    "Part",
    "People",
    "PermissionName",
    "Person",
    "Preview",
    "Profile",
    "Profiles",
    "Proposal",
    "Purge",
    "PurgeRequest",
    "Quarantine",
    "Quarantines",
    "RecallResult",
    "Receipt",
    "Receipts",
    "Recollectum",
    "RecollectumError",
    "Released",
    "Resolved",
    "Restored",
    "Retention",
    "RetentionPreset",
    "RetentionPresetName",
    "Reverted",
    "Review",
    "Role",
    "RoleName",
    "SaveOutcome",
    "SaveResult",
    "ScopeName",
    "Served",
    "Session",
    "SessionKey",
    "Sessions",
    "Settings",
    "Source",
    "SourceName",
    "SourceRows",
    "State",
    "StateName",
    "StepRefused",
    "StorageError",
    "Summaries",
    "Summary",
    "Sweep",
    "SyncReport",
    "Tenant",
    "TokenCount",
    "ToolCall",
    "ToolUse",
    "Totals",
    "TranscriptReport",
    "Transcripts",
    "Trash",
    "Trust",
    "TrustName",
    "Undo",
    "UndoStep",
    "Undone",
    "Vault",
    "VaultAdmin",
    "VaultPlace",
    "VaultPrivacy",
]

# Imported on first use: a program that needs one module does not pay for all of them.
_HOME_OF = {
    "AdoptResult": "recollectum.vault.sessions.service",
    "ApiKey": "recollectum.domain.access.caller",
    "Caller": "recollectum.domain.access.caller",
    "CategoryName": "recollectum.domain.learning",
    "Chat": "recollectum.vault.sessions.chat",
    "Checkpoint": "recollectum.domain.session",
    "Checkpoints": "recollectum.vault.sessions.checkpoints",
    "Citation": "recollectum.domain.memory",
    "Clock": "recollectum.domain.ids",
    "ClockReading": "recollectum.policy.clock",
    "Conflict": "recollectum.domain.errors",
    "Consolidation": "recollectum.vault.consolidation.service",
    "ConsolidationOutcome": "recollectum.vault.consolidation.job",
    "ConsolidationRun": "recollectum.storage.tables.learning.runs",
    "Contact": "recollectum.domain.contact",
    "Contacts": "recollectum.vault.contacts.service",
    "Context": "recollectum.domain.context",
    "Cursor": "recollectum.domain.page",
    "Damaged": "recollectum.domain.errors",
    "DecisionName": "recollectum.domain.proposal",
    "Denied": "recollectum.domain.errors",
    "Diff": "recollectum.vault.undo.diff",
    "DiskFull": "recollectum.domain.errors",
    "Draft": "recollectum.vault.intake.draft",
    "DueMove": "recollectum.vault.retention.lifecycle",
    "Embedder": "recollectum.models.embedding.port",
    "Estimate": "recollectum.domain.models.language_model",
    "Event": "recollectum.domain.event",
    "Events": "recollectum.vault.events",
    "EventTypeName": "recollectum.domain.event",
    "Finding": "recollectum.domain.proposal",
    "FollowedPath": "recollectum.domain.transcript",
    "GlobalNotes": "recollectum.vault.notes.global_notes",
    "GlobalNotesFile": "recollectum.vault.notes.global_notes",
    "Grant": "recollectum.domain.access.caller",
    "History": "recollectum.vault.memories.history",
    "Hit": "recollectum.domain.hit",
    "Home": "recollectum.home.paths",
    "HomeAdmin": "recollectum.upkeep.home_admin",
    "Idempotency": "recollectum.vault.idempotency",
    "Import": "recollectum.storage.tables.content.imports",
    "Index": "recollectum.vault.index",
    "IndexHealth": "recollectum.domain.hit",
    "IndexStatus": "recollectum.vault.index",
    "InvalidInput": "recollectum.domain.errors",
    "Job": "recollectum.storage.tables.learning.jobs",
    "JobStateName": "recollectum.storage.tables.learning.jobs",
    "Json": "recollectum.domain.message",
    "KeyProblem": "recollectum.domain.errors",
    "Keys": "recollectum.vault.access.keys",
    "KeyStore": "recollectum.storage.keystore",
    "Kind": "recollectum.domain.memory",
    "KindName": "recollectum.domain.memory",
    "LanguageModel": "recollectum.models.language.port",
    "Learning": "recollectum.domain.learning",
    "Learnings": "recollectum.vault.learnings.service",
    "LearningsReport": "recollectum.domain.learning",
    "LearnResult": "recollectum.vault.consolidation.learn",
    "Lifecycle": "recollectum.vault.retention.lifecycle",
    "LifecycleReport": "recollectum.vault.retention.lifecycle",
    "LoadedSettings": "recollectum.settings.load",
    "Memories": "recollectum.vault.memories.service",
    "Memory": "recollectum.domain.memory",
    "Merge": "recollectum.domain.access.person",
    "MergePreview": "recollectum.domain.access.person",
    "Message": "recollectum.domain.message",
    "NewKey": "recollectum.domain.access.caller",
    "NewMessage": "recollectum.vault.intake.new_message",
    "Note": "recollectum.domain.note",
    "NoteFolder": "recollectum.domain.note",
    "Notes": "recollectum.vault.notes.service",
    "NotFound": "recollectum.domain.errors",
    "Owner": "recollectum.domain.access.owner",
    "Page": "recollectum.domain.page",
    "Part": "recollectum.domain.message",
    "People": "recollectum.vault.access.people",
    "PermissionName": "recollectum.domain.access.caller",
    "Person": "recollectum.domain.access.person",
    "Preview": "recollectum.vault.purge.request",
    "Profile": "recollectum.domain.context",
    "Profiles": "recollectum.vault.context.profile",
    "Proposal": "recollectum.domain.proposal",
    "Purge": "recollectum.vault.purge.service",
    "PurgeRequest": "recollectum.vault.purge.request",
    "Quarantine": "recollectum.storage.tables.trail.quarantines",
    "Quarantines": "recollectum.vault.retention.quarantine",
    "RecallResult": "recollectum.domain.hit",
    "Receipt": "recollectum.vault.purge.request",
    "Receipts": "recollectum.vault.purge.receipts",
    "Recollectum": "recollectum.engine",
    "RecollectumError": "recollectum.domain.errors",
    "Released": "recollectum.vault.retention.quarantine",
    "Resolved": "recollectum.domain.contact",
    "Restored": "recollectum.vault.retention.trash",
    "Retention": "recollectum.policy.lifecycle",
    "RetentionPreset": "recollectum.domain.access.person",
    "RetentionPresetName": "recollectum.domain.access.person",
    "Reverted": "recollectum.vault.consolidation.revert",
    "Review": "recollectum.vault.review.service",
    "Role": "recollectum.domain.message",
    "RoleName": "recollectum.domain.message",
    "SaveOutcome": "recollectum.domain.memory",
    "SaveResult": "recollectum.domain.memory",
    "ScopeName": "recollectum.domain.access.caller",
    "Served": "recollectum.vault.intake.served",
    "Session": "recollectum.domain.session",
    "SessionKey": "recollectum.domain.session",
    "Sessions": "recollectum.vault.sessions.service",
    "Settings": "recollectum.settings.model",
    "Source": "recollectum.domain.hit",
    "SourceName": "recollectum.domain.hit",
    "SourceRows": "recollectum.vault.retention.quarantine",
    "State": "recollectum.domain.memory",
    "StateName": "recollectum.domain.memory",
    "StepRefused": "recollectum.domain.errors",
    "StorageError": "recollectum.domain.errors",
    "Summaries": "recollectum.vault.sessions.summaries",
    "Summary": "recollectum.domain.session",
    "Sweep": "recollectum.storage.tables.trail.sweeps",
    "SyncReport": "recollectum.domain.note",
    "Tenant": "recollectum.domain.access.person",
    "TokenCount": "recollectum.domain.message",
    "ToolCall": "recollectum.domain.message",
    "ToolUse": "recollectum.domain.message",
    "Totals": "recollectum.vault.memories.history",
    "TranscriptReport": "recollectum.domain.transcript",
    "Transcripts": "recollectum.vault.transcripts.service",
    "Trash": "recollectum.vault.retention.trash",
    "Trust": "recollectum.domain.trust",
    "TrustName": "recollectum.domain.trust",
    "Undo": "recollectum.vault.undo.service",
    "Undone": "recollectum.vault.undo.service",
    "UndoStep": "recollectum.vault.undo.steps",
    "Vault": "recollectum.vault.vault",
    "VaultAdmin": "recollectum.vault.admin",
    "VaultPlace": "recollectum.storage.engine",
    "VaultPrivacy": "recollectum.vault.admin",
}


def __getattr__(name: str) -> object:
    """Return a public name from its module."""
    if name == "__version__":
        return _version()
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Return the public names."""
    return list(__all__)


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - takes 20 ms to import, and few need it

    return version(__name__)
