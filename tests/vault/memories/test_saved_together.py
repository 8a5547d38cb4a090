"""Many memories saved at once become what they become one by one: ids, numbers, events, versions and hits."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import IdMaker, system_clock
from recollectum.vault.intake.draft import Draft
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home

DRAFTS = [
    Draft(content="tea in the garden"),
    Draft(content="a boat with two masts", key="boat", importance=0.9),
    Draft(content="Tea in the garden."),
    Draft(content="tea in the garden", kind="preference"),
    Draft(content="a boat with three masts", key="boat"),
    Draft(content="the first text of a key", key="place", ttl=timedelta(days=3)),
    Draft(content="known before this"),
    Draft(content="was known and is in the trash"),
    Draft(content="was known and is in the archive"),
    Draft(content="under the key of an archived memory", key="attic"),
    Draft(content=" ".join(f"word{number}" for number in range(2_000))),
    Draft(content="a boat with two masts"),
    Draft(content="the last one", agent="helper"),
]


def _prepare(vault: Vault) -> None:
    vault.memories.save("known before this", importance=0.2)
    vault.memories.forget(vault.memories.save("was known and is in the trash").memory.id)
    vault.memories.move(vault.memories.save("was known and is in the archive").memory.id, "archived")
    vault.memories.move(vault.memories.save("something old", key="attic").memory.id, "archived")


def _no_chance(_: int) -> int:
    return 0


def _lived(folder: Path, save: Callable[[Vault], object]) -> tuple[object, ...]:
    clock = Turning()
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        # Ids count up from their time, so that both homes make the same.
        patch.setattr(IdMaker.__init__, "__defaults__", (system_clock, _no_chance))
        home = stack.enter_context(open_home(folder, clock))
        vault = home.vault("user:alice")
        _prepare(vault)
        clock.turn(timedelta(hours=1))
        saved = save(vault)
        events = list(vault.admin.events.list(limit=200))
        versions = [vault.memories.history(event.subject_id) for event in events if event.type == "edited"]
        found = [vault.recall(question, limit=20) for question in ("tea garden", "boat masts", "word7", "last one")]
        hits = [[(hit.text, hit.score) for hit in one] for one in found]
        return saved, events, versions, hits, vault.admin.index.verify(), vault.memories.list(limit=100)


def test_many_at_once_are_as_one_after_the_other(tmp_path: Path) -> None:
    together = _lived(tmp_path / "together", lambda vault: vault.memories.save_many(DRAFTS))
    apart = _lived(tmp_path / "apart", lambda vault: [vault.memories.save_many([one])[0] for one in DRAFTS])
    assert together == apart


@pytest.mark.parametrize("bad", [0, 3, 6])
def test_one_that_is_refused_keeps_out_all(vault: Vault, bad: int) -> None:
    drafts: Sequence[Draft] = [Draft(content=f"fact {number}") for number in range(7)]
    wrong = [Draft(content=one.content, ttl=timedelta.max) if place == bad else one for place, one in enumerate(drafts)]
    with pytest.raises(InvalidInput, match="ttl"):
        vault.memories.save_many(wrong)
    assert not list(vault.memories.list())
    assert not list(vault.admin.events.list())


def test_what_a_quarantined_source_saves_is_set_aside_one_by_one(vault: Vault) -> None:
    vault.memories.save("said before", agent="stranger")
    vault.privacy.quarantine.add("agent:stranger")
    saved = vault.memories.save_many(
        [Draft(content="said again", agent="stranger"), Draft(content="said by a friend", agent="friend")]
    )
    assert [one.memory.state.value for one in saved] == ["archived", "active"]


def test_an_empty_list_saves_nothing(vault: Vault) -> None:
    assert vault.memories.save_many([]) == []


@pytest.mark.parametrize("runs", [True, False])
def test_the_garbage_collector_runs_afterwards_if_it_ran_before(tmp_path: Path, *, runs: bool) -> None:
    seen: list[bool] = []

    def drafts(last: str) -> Iterator[Draft]:
        yield Draft(content="The bus leaves at nine.")
        seen.append(gc.isenabled())
        yield Draft(content=last)

    with open_home(tmp_path, Turning()) as home:
        vault = home.vault("user:ann")
        if not runs:
            gc.disable()
        try:
            vault.memories.save_many(drafts("The harbour is closed."))
            with pytest.raises(InvalidInput):
                vault.memories.save_many(drafts(""))
            assert (gc.isenabled(), seen) == (runs, [False, False])
        finally:
            gc.enable()
