"""A program as a user writes it: it imports from `recollectum` alone, and the type checker accepts it."""

# A typo that the type checker no longer finds leaves an unused comment behind, which is an error here.
# pyright: reportUnnecessaryTypeIgnoreComment=error
from pathlib import Path
from typing import assert_type

import pytest

from recollectum import (
    Event,
    InvalidInput,
    Kind,
    LearnResult,
    Memory,
    NewKey,
    Page,
    Preview,
    PurgeRequest,
    RecallResult,
    Recollectum,
    SaveOutcome,
    SaveResult,
    StepRefused,
    Vault,
)


def remember(vault: Vault, text: str) -> SaveResult:
    return vault.memories.save(text, kind="preference")


def all_memories(vault: Vault) -> list[Memory]:
    page = vault.memories.list(limit=2)
    found = list(page)
    while page.next:
        page = vault.memories.list(cursor=page.next, limit=2)
        found += page
    return found


def planned(vault: Vault, session_id: str) -> Preview:
    return vault.privacy.purge.preview(PurgeRequest.sessions(session_id))


def test_a_program_of_a_user_is_typed_and_runs(tmp_path: Path) -> None:
    with Recollectum(tmp_path, settings={"encryption": "off"}) as r:
        vault = r.vault("user:alice")
        saved = [remember(vault, f"I like dish number {number}") for number in range(5)]
        assert {one.outcome for one in saved} == {SaveOutcome.CREATED}
        assert {one.id for one in all_memories(vault)} == {one.id for one in saved}
        learned = assert_type(vault.learn([{"role": "user", "content": "I live in Lyon"}]), LearnResult)
        assert assert_type(vault.recall("Lyon"), RecallResult)
        assert planned(vault, learned.session_id).token
        events = assert_type(vault.admin.events.list(), Page[Event])
        assert events[0].number > 0
        key = assert_type(r.keys.add("user:alice"), NewKey)
        assert r.login(key.secret).vault("user:alice").memories.get(saved[0].id) == saved[0].memory


def test_a_typo_in_a_word_is_an_error_of_types_and_a_sentence_at_run_time(tmp_path: Path) -> None:
    with Recollectum(tmp_path, settings={"encryption": "off"}) as r:
        vault = r.vault("user:alice")
        vault.memories.save("I like tea", kind=Kind.PREFERENCE)
        with pytest.raises(InvalidInput, match="kind 'preferense' is unknown; use one of fact, preference"):
            vault.memories.save("I like tea", kind="preferense")  # pyright: ignore[reportArgumentType]
        with pytest.raises(StepRefused, match="use active, archived or soft_deleted"):
            vault.memories.list(state="frozen")  # pyright: ignore[reportArgumentType]
        with pytest.raises(InvalidInput, match="source 'memory' is unknown; use one of memories"):
            vault.recall("tea", source="memory")  # pyright: ignore[reportArgumentType]
        with pytest.raises(InvalidInput, match="trust 'owned' is unknown; use one of owner"):
            vault.recall("tea", trust="owned")  # pyright: ignore[reportArgumentType]
        with pytest.raises(InvalidInput, match="role 'human' is unknown; use one of system, user"):
            vault.sessions.open().add("human", "hello")  # pyright: ignore[reportArgumentType]
        with pytest.raises(InvalidInput, match="permission 'reed' is unknown; use one of read"):
            r.keys.add("user:alice", permissions=("reed",))  # pyright: ignore[reportArgumentType]
        with pytest.raises(InvalidInput, match="decision 'approve' is unknown; use one of waiting"):
            vault.admin.review.list(decision="approve")  # pyright: ignore[reportArgumentType]
