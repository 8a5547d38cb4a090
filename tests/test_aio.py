"""The awaited face: the same names, the same signatures, the same results."""

import asyncio
import inspect
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect, aio
from recollect.vault.chat import Chat
from recollect.vault.checkpoints import Checkpoints
from recollect.vault.consolidation import Consolidation
from recollect.vault.contacts import Contacts
from recollect.vault.events import Events
from recollect.vault.global_notes import GlobalNotesFile
from recollect.vault.index import Index
from recollect.vault.keys import Keys
from recollect.vault.learnings import Learnings
from recollect.vault.lifecycle import Lifecycle
from recollect.vault.memories import Memories
from recollect.vault.notes import Notes
from recollect.vault.people import People
from recollect.vault.profile import Profiles
from recollect.vault.purge import Purge
from recollect.vault.quarantine import Quarantines
from recollect.vault.receipts import Receipts
from recollect.vault.review import Review
from recollect.vault.sessions import Sessions
from recollect.vault.summaries import Summaries
from recollect.vault.transcript_sync import Transcripts
from recollect.vault.trash import Trash
from recollect.vault.undo import Undo
from recollect.vault.vault import Vault


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")} - {"gate"}


def run(home: Path) -> dict[str, Any]:
    """Every face of an open home, the plain one beside the awaited one."""

    async def faces() -> dict[str, Any]:
        async with aio.AsyncRecollect(home, settings={"encryption": "off"}) as r:
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
    (Recollect, aio.AsyncRecollect),
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
        async with aio.AsyncRecollect(tmp_path, settings={"encryption": "off"}) as r:
            alice = await r.vault("user:alice")
            memory = await alice.memories.save("Grace is my girlfriend", key="girlfriend")
            chat = await alice.sessions.open(channel="telegram", agent="main")
            await asyncio.gather(*(chat.add("user", f"I am vegetarian, message {n}") for n in range(20)))
            hits = await alice.recall("vegetarian", limit=30)
            await alice.memories.forget(memory.id)
            assert await alice.recall("girlfriend") == []
            return [hit.text for hit in hits]

    told = asyncio.run(converse())
    with Recollect(tmp_path, settings={"encryption": "off"}) as r:
        assert [hit.text for hit in r.vault("user:alice").recall("vegetarian", limit=30)] == told
    assert len(told) == 20
