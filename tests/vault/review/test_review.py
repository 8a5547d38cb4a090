"""The review inbox: proposals are decided once, by the write path of any memory, and a no stays a no."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum.domain.errors import Conflict, InvalidInput, NotFound
from recollectum.domain.memory import Kind
from recollectum.domain.proposal import Act, Decision, Finding
from recollectum.domain.trust import Trust
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning
from tests.vault.scripted_homes import echoing, home_with

TEA = "I drink green tea every morning"


@pytest.fixture
def inbox(place: Path, clock: Turning) -> Iterator[Vault]:
    """A vault in whose inbox one thing waits that a tool said."""
    with home_with(place, clock, echoing(TEA)) as home:
        vault = home.vault("user:alice")
        hear(vault)
        yield vault


def hear(vault: Vault, channel: str = "telegram") -> int:
    """A tool says it; how many proposals came of it."""
    chat = vault.sessions.open(channel=channel)
    chat.add("tool", TEA)
    run = vault.admin.consolidation.run(chat.id).run
    assert run is not None
    return run.proposed


def proposed(vault: Vault, act: Act, content: str, *targets: str) -> str:
    finding = Finding(act=act, content=content, kind=Kind.FACT, importance=0.5, spans=(), targets=targets)
    (proposal,) = vault.admin.review.propose([finding])
    return proposal.id


def contents(vault: Vault) -> list[str]:
    return sorted(memory.content for memory in vault.memories.list())


@pytest.mark.feature("A10")
def test_what_is_approved_becomes_a_memory_once(inbox: Vault) -> None:
    (waiting,) = inbox.admin.review.list()
    assert (waiting.decision, waiting.finding.trust, contents(inbox)) == (Decision.WAITING, Trust.TOOL, [])
    first = inbox.admin.review.approve(waiting.id)
    second = inbox.admin.review.approve(waiting.id)
    assert first.memory_id == second.memory_id is not None
    (memory,) = inbox.memories.list()
    assert (memory.content, memory.version, memory.trust) == (TEA, 1, Trust.OWNER)
    assert inbox.admin.review.list() == []
    assert [one.id for one in inbox.admin.review.list(decision="approved")] == [waiting.id]


@pytest.mark.feature("A10")
def test_it_can_be_put_in_other_words(inbox: Vault) -> None:
    (waiting,) = inbox.admin.review.list()
    inbox.admin.review.approve(waiting.id, "I drink sencha")
    assert contents(inbox) == ["I drink sencha"]


@pytest.mark.feature("A10")
def test_a_rejected_one_stays_rejected(inbox: Vault) -> None:
    (waiting,) = inbox.admin.review.list()
    assert inbox.admin.review.reject(waiting.id).decision is Decision.REJECTED
    assert inbox.admin.review.reject(waiting.id).decision is Decision.REJECTED
    with pytest.raises(Conflict, match="rejected already"):
        inbox.admin.review.approve(waiting.id)
    assert hear(inbox) == hear(inbox, "whatsapp") == 0
    # Also when the person says it themselves, in another conversation: they said no.
    assert (inbox.admin.review.list(), contents(inbox)) == ([], [])
    first = inbox.sessions.list()[-1]
    inbox.sessions.delete(first.id)
    assert hear(inbox, "signal") == 0


def test_what_waits_is_not_proposed_again(inbox: Vault) -> None:
    assert hear(inbox, "whatsapp") == 0
    assert len(inbox.admin.review.list()) == 1


def test_an_approved_one_cannot_be_rejected(inbox: Vault) -> None:
    (waiting,) = inbox.admin.review.list()
    inbox.admin.review.approve(waiting.id)
    with pytest.raises(Conflict, match="approved already"):
        inbox.admin.review.reject(waiting.id)
    assert contents(inbox) == [TEA]


def test_each_act_does_what_it_says(vault: Vault) -> None:
    one, two = vault.memories.save("I like tea").memory, vault.memories.save("I like green tea", importance=0.9).memory
    vault.admin.review.approve(proposed(vault, Act.MERGE, TEA, one.id, two.id))
    (merged,) = vault.memories.list()
    assert (merged.id, merged.content, merged.version) == (one.id, TEA, 2)
    assert vault.memories.get(two.id).superseded_by == one.id
    vault.admin.review.approve(proposed(vault, Act.SUPERSEDE, "I drink coffee now", one.id))
    assert contents(vault) == ["I drink coffee now"]
    vault.admin.review.approve(proposed(vault, Act.FORGET, "", vault.memories.list()[0].id))
    assert contents(vault) == []


def test_a_diff_shows_the_old_and_the_new(vault: Vault) -> None:
    old = vault.memories.save("I like tea\nand cake").memory
    found = vault.admin.review.diff(proposed(vault, Act.UPDATE, "I like green tea\nand cake", old.id))
    assert found == ["--- known", "+++ proposed", "@@ -1,2 +1,2 @@", "-I like tea", "+I like green tea", " and cake"]
    added = vault.admin.review.diff(proposed(vault, Act.ADD, "something new"))
    assert added[2:] == ["@@ -0,0 +1 @@", "+something new"]


def test_a_proposal_whose_target_changed_is_stale_and_writes_nothing(vault: Vault) -> None:
    old = vault.memories.save("I like tea").memory
    waiting = proposed(vault, Act.UPDATE, TEA, old.id)
    vault.memories.edit(old.id, "I like coffee")
    assert vault.admin.review.get(waiting).decision is Decision.STALE
    assert vault.admin.review.list() == []
    with pytest.raises(Conflict, match="is stale"):
        vault.admin.review.approve(waiting)
    assert contents(vault) == ["I like coffee"]
    assert [one.id for one in vault.admin.review.list(decision="stale")] == [waiting]


def test_a_proposal_says_nothing_of_what_was_forgotten(vault: Vault, clock: Turning) -> None:
    old = vault.memories.save("I like tea").memory
    waiting = proposed(vault, Act.UPDATE, TEA, old.id)
    made = vault.admin.review.approve(proposed(vault, Act.ADD, "my number is 42"))
    vault.memories.forget(old.id)
    vault.memories.forget(made.memory_id or "")
    shown = repr(
        [
            vault.admin.review.get(waiting),
            vault.admin.review.diff(waiting),
            vault.admin.review.list(decision="approved"),
        ]
    )
    assert "tea" not in shown
    assert "my number" not in shown
    clock.turn(timedelta(days=8))
    vault.admin.lifecycle.run()
    with pytest.raises(NotFound):
        vault.admin.review.get(waiting)


def test_a_proposal_goes_with_its_conversation(inbox: Vault) -> None:
    (session,) = inbox.sessions.list()
    inbox.sessions.delete(session.id)
    assert inbox.admin.review.list() == []


def test_what_has_no_target_is_not_laid_in(vault: Vault) -> None:
    finding = Finding(act=Act.UPDATE, content=TEA, kind=Kind.FACT, importance=0.5, spans=(), targets=("mem_none",))
    assert vault.admin.review.propose([finding]) == []


def test_wrong_questions_are_answered_in_words(vault: Vault) -> None:
    with pytest.raises(InvalidInput, match="decision 'maybe' is unknown"):
        vault.admin.review.list(decision="maybe")  # pyright: ignore[reportArgumentType]
    with pytest.raises(NotFound, match="no proposal 'prp_none'"):
        vault.admin.review.get("prp_none")
    with pytest.raises(InvalidInput, match="empty"):
        vault.admin.review.approve("prp_none", " ")
