"""The same calls, awaited: one thread hop per operation, the same names and signatures, no logic."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, TypeVar

from recollectum.domain.ids import Clock, system_clock
from recollectum.engine import Recollectum
from recollectum.vault.access.keys import Keys
from recollectum.vault.access.people import People
from recollectum.vault.consolidation.service import Consolidation
from recollectum.vault.contacts.service import Contacts
from recollectum.vault.context.profile import Profiles
from recollectum.vault.events import Events
from recollectum.vault.index import Index
from recollectum.vault.learnings.service import Learnings
from recollectum.vault.memories.service import Memories
from recollectum.vault.notes.global_notes import GlobalNotesFile
from recollectum.vault.notes.service import Notes
from recollectum.vault.purge.receipts import Receipts
from recollectum.vault.purge.service import Purge
from recollectum.vault.retention.lifecycle import Lifecycle
from recollectum.vault.retention.quarantine import Quarantines
from recollectum.vault.retention.trash import Trash
from recollectum.vault.review.service import Review
from recollectum.vault.sessions.chat import Chat
from recollectum.vault.sessions.checkpoints import Checkpoints
from recollectum.vault.sessions.service import Sessions
from recollectum.vault.sessions.summaries import Summaries
from recollectum.vault.transcripts.service import Transcripts
from recollectum.vault.undo.service import Undo
from recollectum.vault.vault import Vault

P = ParamSpec("P")
R = TypeVar("R")
W = TypeVar("W")


def threaded(method: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """The same call, awaited."""

    @wraps(method)
    async def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, *args, **kwargs)

    return call


def threaded_as(wrap: Callable[[R], W], method: Callable[P, R]) -> Callable[P, Awaitable[W]]:
    """The same call, awaited, with its result in its awaited form."""

    @wraps(method)
    async def call(*args: P.args, **kwargs: P.kwargs) -> W:
        return wrap(await asyncio.to_thread(method, *args, **kwargs))

    return call


class AsyncMemories:
    """`Memories`, awaited."""

    def __init__(self, service: Memories) -> None:
        self.save, self.save_many = threaded(service.save), threaded(service.save_many)
        self.get, self.find = threaded(service.get), threaded(service.find)
        self.page, self.edit = threaded(service.page), threaded(service.edit)
        self.supersede, self.move = threaded(service.supersede), threaded(service.move)
        self.restore, self.forget = threaded(service.restore), threaded(service.forget)
        self.history, self.as_of = threaded(service.history), threaded(service.as_of)


class AsyncChat:
    """`Chat`, awaited."""

    def __init__(self, service: Chat) -> None:
        self.id = service.id
        self.key = service.key
        self.add = threaded(service.add)
        self.add_many = threaded(service.add_many)
        self.info = threaded(service.info)
        self.messages = threaded(service.messages)
        self.after = threaded(service.after)
        self.window = threaded(service.window)
        self.record_call = threaded(service.record_call)
        self.describe = threaded(service.describe)
        self.end = threaded(service.end)


class AsyncSessions:
    """`Sessions`, awaited."""

    def __init__(self, service: Sessions) -> None:
        self.open = threaded_as(AsyncChat, service.open)
        self.open_key = threaded_as(AsyncChat, service.open_key)
        self.get = threaded_as(AsyncChat, service.get)
        self.page = threaded(service.page)
        self.delete = threaded(service.delete)
        self.adopt = threaded(service.adopt)
        self.imports = threaded(service.imports)


class AsyncSummaries:
    """`Summaries`, awaited."""

    def __init__(self, service: Summaries) -> None:
        self.find = threaded(service.find)
        self.update = threaded(service.update)


class AsyncCheckpoints:
    """`Checkpoints`, awaited."""

    def __init__(self, service: Checkpoints) -> None:
        self.save = threaded(service.save)
        self.all = threaded(service.all)
        self.resume = threaded_as(AsyncChat, service.resume)
        self.fork = threaded_as(AsyncChat, service.fork)
        self.delete = threaded(service.delete)


class AsyncProfiles:
    """`Profiles`, awaited."""

    def __init__(self, service: Profiles) -> None:
        self.get = threaded(service.get)


class AsyncEvents:
    """`Events`, awaited."""

    def __init__(self, service: Events) -> None:
        self.page = threaded(service.page)
        self.of = threaded(service.of)


class AsyncLifecycle:
    """`Lifecycle`, awaited."""

    def __init__(self, service: Lifecycle) -> None:
        self.preview = threaded(service.preview)
        self.run = threaded(service.run)
        self.accept_clock = threaded(service.accept_clock)


class AsyncTrash:
    """`Trash`, awaited."""

    def __init__(self, service: Trash) -> None:
        self.find = threaded(service.find)
        self.restore = threaded(service.restore)
        self.sweep = threaded(service.sweep)
        self.reports = threaded(service.reports)


class AsyncQuarantines:
    """`Quarantines`, awaited."""

    def __init__(self, service: Quarantines) -> None:
        self.preview, self.put = threaded(service.preview), threaded(service.put)
        self.all, self.release = threaded(service.all), threaded(service.release)


class AsyncUndo:
    """`Undo`, awaited."""

    def __init__(self, service: Undo) -> None:
        self.steps = threaded(service.steps)
        self.event = threaded(service.event)
        self.last = threaded(service.last)
        self.run = threaded(service.run)
        self.diff = threaded(service.diff)
        self.brought = threaded(service.brought)


class AsyncIndex:
    """`Index`, awaited."""

    def __init__(self, service: Index) -> None:
        self.status = threaded(service.status)
        self.update = threaded(service.update)
        self.catch_up = threaded(service.catch_up)
        self.rollback = threaded(service.rollback)
        self.verify = threaded(service.verify)


class AsyncNotes:
    """`Notes`, awaited."""

    def __init__(self, service: Notes) -> None:
        self.add = threaded(service.add)
        self.remove = threaded(service.remove)
        self.folders = threaded(service.folders)
        self.page = threaded(service.page)
        self.sync = threaded(service.sync)
        self.watch = threaded(service.watch)


class AsyncLearnings:
    """`Learnings`, awaited."""

    def __init__(self, service: Learnings) -> None:
        self.add = threaded(service.add)
        self.page = threaded(service.page)
        self.remove = threaded(service.remove)
        self.file = threaded(service.file)
        self.sync = threaded(service.sync)


class AsyncGlobalNotes:
    """`GlobalNotesFile`, awaited."""

    def __init__(self, service: GlobalNotesFile) -> None:
        self.read = threaded(service.read)
        self.save = threaded(service.save)


class AsyncTranscripts:
    """`Transcripts`, awaited."""

    def __init__(self, service: Transcripts) -> None:
        self.follow = threaded(service.follow)
        self.unfollow = threaded(service.unfollow)
        self.followed = threaded(service.followed)
        self.sync = threaded(service.sync)
        self.watch = threaded(service.watch)


class AsyncConsolidation:
    """`Consolidation`, awaited."""

    def __init__(self, service: Consolidation) -> None:
        self.run = threaded(service.run)
        self.preview = threaded(service.preview)
        self.estimate = threaded(service.estimate)
        self.reset = threaded(service.reset)
        self.unread = threaded(service.unread)
        self.note_idle = threaded(service.note_idle)
        self.work = threaded(service.work)
        self.end_idle = threaded(service.end_idle)
        self.jobs = threaded(service.jobs)
        self.runs = threaded(service.runs)
        self.revert = threaded(service.revert)


class AsyncReview:
    """`Review`, awaited."""

    def __init__(self, service: Review) -> None:
        self.page = threaded(service.page)
        self.get = threaded(service.get)
        self.diff = threaded(service.diff)
        self.approve = threaded(service.approve)
        self.reject = threaded(service.reject)
        self.analyse = threaded(service.analyse)
        self.grow = threaded(service.grow)
        self.propose = threaded(service.propose)


class AsyncContacts:
    """`Contacts`, awaited."""

    def __init__(self, service: Contacts) -> None:
        self.resolve = threaded(service.resolve)
        self.all = threaded(service.all)


class AsyncPurge:
    """`Purge`, awaited."""

    def __init__(self, service: Purge) -> None:
        self.preview = threaded(service.preview)
        self.run = threaded(service.run)
        self.finish = threaded(service.finish)
        self.receipts = threaded(service.receipts)


class AsyncReceipts:
    """`Receipts`, awaited."""

    def __init__(self, service: Receipts) -> None:
        self.all = threaded(service.all)
        self.get = threaded(service.get)
        self.key = threaded(service.key)
        self.verify = threaded(service.verify)
        self.read = threaded(service.read)
        self.finish = threaded(service.finish)


class AsyncPeople:
    """`People`, awaited."""

    def __init__(self, service: People) -> None:
        self.add, self.get = threaded(service.add), threaded(service.get)
        self.all, self.link = threaded(service.all), threaded(service.link)
        self.unlink, self.find = threaded(service.unlink), threaded(service.find)
        self.merge_preview, self.merge = threaded(service.merge_preview), threaded(service.merge)
        self.unmerge, self.merges = threaded(service.unmerge), threaded(service.merges)
        self.tenants, self.save_tenant = threaded(service.tenants), threaded(service.save_tenant)


class AsyncKeys:
    """`Keys`, awaited."""

    def __init__(self, service: Keys) -> None:
        self.create, self.all = threaded(service.create), threaded(service.all)
        self.rotate = threaded(service.rotate)
        self.revoke, self.grant = threaded(service.revoke), threaded(service.grant)
        self.grants, self.withdraw = threaded(service.grants), threaded(service.withdraw)


class AsyncVault:
    """`Vault`, awaited."""

    def __init__(self, vault: Vault) -> None:
        self.owner = vault.owner
        self.memories = AsyncMemories(vault.memories)
        self.sessions = AsyncSessions(vault.sessions)
        self.summaries = AsyncSummaries(vault.summaries)
        self.checkpoints = AsyncCheckpoints(vault.checkpoints)
        self.profile = AsyncProfiles(vault.profile)
        self.events = AsyncEvents(vault.events)
        self.lifecycle = AsyncLifecycle(vault.lifecycle)
        self.trash = AsyncTrash(vault.trash)
        self.undo = AsyncUndo(vault.undo)
        self.quarantine = AsyncQuarantines(vault.quarantine)
        self.index = AsyncIndex(vault.index)
        self.notes = AsyncNotes(vault.notes)
        self.learnings = AsyncLearnings(vault.learnings)
        self.global_notes = AsyncGlobalNotes(vault.global_notes)
        self.transcripts = AsyncTranscripts(vault.transcripts)
        self.consolidation = AsyncConsolidation(vault.consolidation)
        self.review = AsyncReview(vault.review)
        self.purge = AsyncPurge(vault.purge)
        self.contacts = AsyncContacts(vault.contacts)
        self.recall = threaded(vault.recall)
        self.context = threaded(vault.context)
        self.citations, self.totals = threaded(vault.citations), threaded(vault.totals)
        self.clock = threaded(vault.clock)
        self.rebuild_index = threaded(vault.rebuild_index)


class AsyncRecollectum:
    """`Recollectum`, awaited: `async with AsyncRecollectum() as r: vault = await r.vault("user:alice")`."""

    def __init__(
        self,
        home: str | Path | None = None,
        *,
        api_key: str | None = None,
        passphrase: str | None = None,
        settings: Mapping[str, object] | None = None,
        environ: Mapping[str, str] | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self._open = partial(
            Recollectum, home, api_key=api_key, passphrase=passphrase, settings=settings, environ=environ, clock=clock
        )

    async def __aenter__(self) -> "AsyncRecollectum":
        """Open the home."""
        self._bind(await asyncio.to_thread(self._open))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the home."""
        await self.close()

    @classmethod
    def of(cls, engine: Recollectum) -> "AsyncRecollectum":
        """The awaited face of a home that is open already."""
        face = cls()
        face._bind(engine)
        return face

    def _bind(self, engine: Recollectum) -> None:
        self.caller = engine.caller
        self.home = engine.home
        self.settings = engine.settings
        self.loaded_settings = engine.loaded_settings
        self.people = AsyncPeople(engine.people)
        self.keys = AsyncKeys(engine.keys)
        self.receipts = AsyncReceipts(engine.receipts)
        self.vault = threaded_as(AsyncVault, engine.vault)
        self.chat = threaded_as(AsyncChat, engine.chat)
        self.owners = threaded(engine.owners)
        self.vault_path = threaded(engine.vault_path)
        self.upgrade = threaded(engine.upgrade)
        self.login = threaded_as(AsyncRecollectum.of, engine.login)
        self.with_client = threaded_as(AsyncRecollectum.of, engine.with_client)
        self.as_person = threaded_as(AsyncRecollectum.of, engine.as_person)
        self.encryption = threaded(engine.encryption)
        self.admin = threaded(lambda: engine.admin)
        self.close = threaded(engine.close)
