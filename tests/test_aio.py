"""The awaited face: the same names, the same signatures, the same results."""

import asyncio
import inspect
from pathlib import Path
from typing import Any

import pytest

from recollectum import Recollectum, aio
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


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")} - {"gate"}


def run(home: Path) -> dict[str, Any]:
    """Every face of an open home, the plain one beside the awaited one."""

    async def faces() -> dict[str, Any]:
        async with aio.AsyncRecollectum(home, settings={"encryption": "off"}) as r:
            vault = await r.vault("user:alice")
            chat = await vault.sessions.open(channel="telegram", agent="main")
            return {"r": r, "vault": vault, "chat": chat}

    return asyncio.run(faces())


PAIRS: list[tuple[type, type]] = [
    (Memories, aio.AsyncMemories),
    (Sessions, aio.AsyncSessions),
    (Chat, aio.AsyncChat),
    (Summaries, aio.AsyncSummaries),
    (Checkpoints, aio.AsyncCheckpoints),
    (Profiles, aio.AsyncProfiles),
    (Events, aio.AsyncEvents),
    (Lifecycle, aio.AsyncLifecycle),
    (Index, aio.AsyncIndex),
    (Notes, aio.AsyncNotes),
    (Learnings, aio.AsyncLearnings),
    (GlobalNotesFile, aio.AsyncGlobalNotes),
    (Transcripts, aio.AsyncTranscripts),
    (Consolidation, aio.AsyncConsolidation),
    (Review, aio.AsyncReview),
    (Purge, aio.AsyncPurge),
    (Receipts, aio.AsyncReceipts),
    (Contacts, aio.AsyncContacts),
    (Trash, aio.AsyncTrash),
    (Undo, aio.AsyncUndo),
    (Quarantines, aio.AsyncQuarantines),
    (People, aio.AsyncPeople),
    (Keys, aio.AsyncKeys),
    (Vault, aio.AsyncVault),
    (Recollectum, aio.AsyncRecollectum),
]


def awaited(face: type, tmp_path: Path) -> object:
    parts = run(tmp_path)
    vault, r = parts["vault"], parts["r"]
    held = [
        r,
        vault,
        parts["chat"],
        vault.memories,
        vault.sessions,
        vault.summaries,
        vault.checkpoints,
        vault.profile,
        vault.events,
        vault.lifecycle,
        vault.index,
        vault.notes,
        vault.learnings,
        vault.global_notes,
        vault.transcripts,
        vault.consolidation,
        vault.review,
        vault.purge,
        r.receipts,
        vault.contacts,
        vault.trash,
        vault.undo,
        vault.quarantine,
        r.people,
        r.keys,
    ]
    return next(one for one in held if isinstance(one, face))


@pytest.mark.parametrize(("plain", "face"), PAIRS)
def test_the_awaited_face_has_the_same_names_and_signatures(plain: type, face: type, tmp_path: Path) -> None:
    twin = awaited(face, tmp_path)
    methods = {name for name, _ in inspect.getmembers(plain, inspect.isfunction) if not name.startswith("_")}
    assert methods <= public(twin)
    assert public(twin) - public(plain) <= {
        "id",
        "key",
        "owner",
        "memories",
        "sessions",
        "summaries",
        "checkpoints",
        "profile",
        "events",
        "lifecycle",
        "index",
        "notes",
        "learnings",
        "global_notes",
        "transcripts",
        "consolidation",
        "review",
        "contacts",
        "trash",
        "undo",
    } | {
        "caller",
        "people",
        "keys",
        "of",
    }
    for name in methods - {"of"}:
        expected = list(inspect.signature(getattr(plain, name)).parameters.values())[1:]
        assert list(inspect.signature(getattr(twin, name)).parameters.values()) == expected, name


def test_the_awaited_face_gives_the_same_results(tmp_path: Path) -> None:
    async def converse() -> list[str]:
        async with aio.AsyncRecollectum(tmp_path, settings={"encryption": "off"}) as r:
            alice = await r.vault("user:alice")
            memory = (await alice.memories.save("Grace is my girlfriend", key="girlfriend")).memory
            chat = await alice.sessions.open(channel="telegram", agent="main")
            await asyncio.gather(*(chat.add("user", f"I am vegetarian, message {n}") for n in range(20)))
            hits = await alice.recall("vegetarian", limit=30)
            await alice.memories.forget(memory.id)
            assert await alice.recall("girlfriend") == []
            return [hit.text for hit in hits]

    told = asyncio.run(converse())
    with Recollectum(tmp_path, settings={"encryption": "off"}) as r:
        assert [hit.text for hit in r.vault("user:alice").recall("vegetarian", limit=30)] == told
    assert len(told) == 20
