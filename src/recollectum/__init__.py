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
    from recollectum.domain.agent_state.account import Account
    from recollectum.domain.agent_state.interface import InterfaceValue
    from recollectum.domain.agent_state.shell_command import ShellCommand
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
    from recollectum.domain.files.extension import (
        Extension,
        ExtensionFile,
        ExtensionPreview,
        ExtensionSetting,
        ExtensionState,
        McpServerEntry,
        MergedExtensions,
    )
    from recollectum.domain.files.note import Note, NoteFolder, SyncReport
    from recollectum.domain.files.project import ListedProject, Project
    from recollectum.domain.files.task import Task, TaskSweep, TaskWorkspace
    from recollectum.domain.files.transcript import FollowedPath, TranscriptReport
    from recollectum.domain.hit import ArchivedMatches, Hit, IndexHealth, RecallResult, Source, SourceName
    from recollectum.domain.ids import Clock
    from recollectum.domain.learning import CategoryName, Learning, LearningsReport
    from recollectum.domain.memory import Citation, Kind, KindName, Memory, SaveOutcome, SaveResult, State, StateName
    from recollectum.domain.message import Json, Message, Part, Role, RoleName, TokenCount, ToolCall, ToolUse
    from recollectum.domain.models.language_model import Estimate
    from recollectum.domain.notice import Notice
    from recollectum.domain.page import Cursor, Page
    from recollectum.domain.proposal import DecisionName, Finding, Proposal
    from recollectum.domain.session import Checkpoint, Session, SessionKey, Summary
    from recollectum.domain.trust import Trust, TrustName
    from recollectum.engine import Recollectum
    from recollectum.home.paths import Home
    from recollectum.models.embedding.port import Embedder
    from recollectum.models.language.port import LanguageModel
    from recollectum.models.rerank.port import Reranker
    from recollectum.models.search import SearchModels
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
    from recollectum.vault.admin import VaultAdmin, VaultPrivacy, VaultState
    from recollectum.vault.agent_state.accounts import Accounts
    from recollectum.vault.agent_state.interfaces import InterfaceState
    from recollectum.vault.agent_state.shell_history import ShellHistory
    from recollectum.vault.consolidation.job import ConsolidationOutcome
    from recollectum.vault.consolidation.learn import LearnResult
    from recollectum.vault.consolidation.revert import Reverted
    from recollectum.vault.consolidation.service import Consolidation
    from recollectum.vault.contacts.service import Contacts
    from recollectum.vault.context.profile import Profiles
    from recollectum.vault.events import Events
    from recollectum.vault.extensions.service import Extensions
    from recollectum.vault.files.foreign_sources import DamagedPart
    from recollectum.vault.idempotency import Idempotency
    from recollectum.vault.imports.service import ForeignImport, ImportContent, ImportPreview, ImportResult, Imports
    from recollectum.vault.index import Index, IndexStatus
    from recollectum.vault.intake.draft import Draft
    from recollectum.vault.intake.new_message import NewMessage
    from recollectum.vault.intake.served import Served
    from recollectum.vault.learnings.service import Learnings
    from recollectum.vault.memories.history import History, Totals
    from recollectum.vault.memories.service import Memories
    from recollectum.vault.notes.file_hosts import FileHosts
    from recollectum.vault.notes.global_notes import GlobalNotes, GlobalNotesFile
    from recollectum.vault.notes.service import Notes
    from recollectum.vault.projects.service import ForgottenProject, Projects
    from recollectum.vault.purge.receipts import Receipts
    from recollectum.vault.purge.request import Preview, PurgeRequest, Receipt
    from recollectum.vault.purge.service import Purge
    from recollectum.vault.retention.lifecycle import DueMove, Lifecycle, LifecycleReport
    from recollectum.vault.retention.quarantine import Quarantines, Released, SourceRows
    from recollectum.vault.retention.trash import Restored, Trash
    from recollectum.vault.review.service import Review
    from recollectum.vault.sessions.chat import Chat
    from recollectum.vault.sessions.checkpoints import Checkpoints
    from recollectum.vault.sessions.echoes import EchoReport, StoredEchoes
    from recollectum.vault.sessions.service import AdoptResult, Sessions
    from recollectum.vault.sessions.summaries import Summaries
    from recollectum.vault.tasks.service import Tasks
    from recollectum.vault.transcripts.service import Transcripts
    from recollectum.vault.undo.diff import Diff
    from recollectum.vault.undo.service import Undo, Undone
    from recollectum.vault.undo.steps import UndoStep
    from recollectum.vault.vault import Vault

    __version__: str

__all__ = [
    "Account",
    "Accounts",
    "AdoptResult",
    "ApiKey",
    "ArchivedMatches",
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
    "DamagedPart",
    "DecisionName",
    "Denied",
    "Diff",
    "DiskFull",
    "Draft",
    "DueMove",
    "EchoReport",
    "Embedder",
    "Estimate",
    "Event",
    "EventTypeName",
    "Events",
    "Extension",
    "ExtensionFile",
    "ExtensionPreview",
    "ExtensionSetting",
    "ExtensionState",
    "Extensions",
    "FileHosts",
    "Finding",
    "FollowedPath",
    "ForeignImport",
    "ForgottenProject",
    "GlobalNotes",
    "GlobalNotesFile",
    "Grant",
    "History",
    "Hit",
    "Home",
    "HomeAdmin",
    "Idempotency",
    "Import",
    "ImportContent",
    "ImportPreview",
    "ImportResult",
    "Imports",
    "Index",
    "IndexHealth",
    "IndexStatus",
    "InterfaceState",
    "InterfaceValue",
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
    "ListedProject",
    "LoadedSettings",
    "McpServerEntry",
    "Memories",
    "Memory",
    "Merge",
    "MergePreview",
    "MergedExtensions",
    "Message",
    "NewKey",
    "NewMessage",
    "NotFound",
    "Note",
    "NoteFolder",
    "Notes",
    "Notice",
    "Owner",
    "Page",
    "Part",
    "People",
    "PermissionName",
    "Person",
    "Preview",
    "Profile",
    "Profiles",
    "Project",
    "Projects",
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
    "Reranker",
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
    "SearchModels",
    "Served",
    "Session",
    "SessionKey",
    "Sessions",
    "Settings",
    "ShellCommand",
    "ShellHistory",
    "Source",
    "SourceName",
    "SourceRows",
    "State",
    "StateName",
    "StepRefused",
    "StorageError",
    "StoredEchoes",
    "Summaries",
    "Summary",
    "Sweep",
    "SyncReport",
    "Task",
    "TaskSweep",
    "TaskWorkspace",
    "Tasks",
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
    "VaultState",
]

# Imported on first use: a program that needs one module does not pay for all of them.
_NAMES_OF = {
    "recollectum.domain.access.caller": "ApiKey Caller Grant NewKey PermissionName ScopeName",
    "recollectum.domain.access.owner": "Owner",
    "recollectum.domain.access.person": "Merge MergePreview Person RetentionPreset RetentionPresetName Tenant",
    "recollectum.domain.agent_state.account": "Account",
    "recollectum.domain.agent_state.interface": "InterfaceValue",
    "recollectum.domain.agent_state.shell_command": "ShellCommand",
    "recollectum.domain.contact": "Contact Resolved",
    "recollectum.domain.context": "Context Profile",
    "recollectum.domain.errors": "Conflict Damaged Denied DiskFull InvalidInput KeyProblem NotFound RecollectumError "
    "StepRefused StorageError",
    "recollectum.domain.event": "Event EventTypeName",
    "recollectum.domain.files.extension": (
        "Extension ExtensionFile ExtensionPreview ExtensionSetting ExtensionState McpServerEntry MergedExtensions"
    ),
    "recollectum.domain.files.note": "Note NoteFolder SyncReport",
    "recollectum.domain.files.project": "ListedProject Project",
    "recollectum.domain.files.task": "Task TaskSweep TaskWorkspace",
    "recollectum.domain.files.transcript": "FollowedPath TranscriptReport",
    "recollectum.domain.hit": "ArchivedMatches Hit IndexHealth RecallResult Source SourceName",
    "recollectum.domain.ids": "Clock",
    "recollectum.domain.learning": "CategoryName Learning LearningsReport",
    "recollectum.domain.memory": "Citation Kind KindName Memory SaveOutcome SaveResult State StateName",
    "recollectum.domain.message": "Json Message Part Role RoleName TokenCount ToolCall ToolUse",
    "recollectum.domain.models.language_model": "Estimate",
    "recollectum.domain.notice": "Notice",
    "recollectum.domain.page": "Cursor Page",
    "recollectum.domain.proposal": "DecisionName Finding Proposal",
    "recollectum.domain.session": "Checkpoint Session SessionKey Summary",
    "recollectum.domain.trust": "Trust TrustName",
    "recollectum.engine": "Recollectum",
    "recollectum.home.paths": "Home",
    "recollectum.models.embedding.port": "Embedder",
    "recollectum.models.language.port": "LanguageModel",
    "recollectum.models.rerank.port": "Reranker",
    "recollectum.models.search": "SearchModels",
    "recollectum.policy.clock": "ClockReading",
    "recollectum.policy.lifecycle": "Retention",
    "recollectum.settings.load": "LoadedSettings",
    "recollectum.settings.model": "Settings",
    "recollectum.storage.engine": "VaultPlace",
    "recollectum.storage.keystore": "KeyStore",
    "recollectum.storage.tables.content.imports": "Import",
    "recollectum.storage.tables.learning.jobs": "Job JobStateName",
    "recollectum.storage.tables.learning.runs": "ConsolidationRun",
    "recollectum.storage.tables.trail.quarantines": "Quarantine",
    "recollectum.storage.tables.trail.sweeps": "Sweep",
    "recollectum.upkeep.home_admin": "HomeAdmin",
    "recollectum.vault.access.keys": "Keys",
    "recollectum.vault.access.people": "People",
    "recollectum.vault.admin": "VaultAdmin VaultPrivacy VaultState",
    "recollectum.vault.agent_state.accounts": "Accounts",
    "recollectum.vault.agent_state.interfaces": "InterfaceState",
    "recollectum.vault.agent_state.shell_history": "ShellHistory",
    "recollectum.vault.consolidation.job": "ConsolidationOutcome",
    "recollectum.vault.consolidation.learn": "LearnResult",
    "recollectum.vault.consolidation.revert": "Reverted",
    "recollectum.vault.consolidation.service": "Consolidation",
    "recollectum.vault.contacts.service": "Contacts",
    "recollectum.vault.context.profile": "Profiles",
    "recollectum.vault.events": "Events",
    "recollectum.vault.extensions.service": "Extensions",
    "recollectum.vault.files.foreign_sources": "DamagedPart",
    "recollectum.vault.idempotency": "Idempotency",
    "recollectum.vault.imports.service": "ForeignImport ImportContent ImportPreview ImportResult Imports",
    "recollectum.vault.index": "Index IndexStatus",
    "recollectum.vault.intake.draft": "Draft",
    "recollectum.vault.intake.new_message": "NewMessage",
    "recollectum.vault.intake.served": "Served",
    "recollectum.vault.learnings.service": "Learnings",
    "recollectum.vault.memories.history": "History Totals",
    "recollectum.vault.memories.service": "Memories",
    "recollectum.vault.notes.file_hosts": "FileHosts",
    "recollectum.vault.notes.global_notes": "GlobalNotes GlobalNotesFile",
    "recollectum.vault.notes.service": "Notes",
    "recollectum.vault.projects.service": "ForgottenProject Projects",
    "recollectum.vault.purge.receipts": "Receipts",
    "recollectum.vault.purge.request": "Preview PurgeRequest Receipt",
    "recollectum.vault.purge.service": "Purge",
    "recollectum.vault.retention.lifecycle": "DueMove Lifecycle LifecycleReport",
    "recollectum.vault.retention.quarantine": "Quarantines Released SourceRows",
    "recollectum.vault.retention.trash": "Restored Trash",
    "recollectum.vault.review.service": "Review",
    "recollectum.vault.sessions.chat": "Chat",
    "recollectum.vault.sessions.checkpoints": "Checkpoints",
    "recollectum.vault.sessions.service": "AdoptResult Sessions",
    "recollectum.vault.sessions.echoes": "EchoReport StoredEchoes",
    "recollectum.vault.sessions.summaries": "Summaries",
    "recollectum.vault.tasks.service": "Tasks",
    "recollectum.vault.transcripts.service": "Transcripts",
    "recollectum.vault.undo.diff": "Diff",
    "recollectum.vault.undo.service": "Undo Undone",
    "recollectum.vault.undo.steps": "UndoStep",
    "recollectum.vault.vault": "Vault",
}
_HOME_OF = {name: module for module, names in _NAMES_OF.items() for name in names.split()}


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
