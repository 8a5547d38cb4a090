"""Laws of undo: one step back is where it was, two are where it is, and what was purged never comes back."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollectum.domain.errors import RecollectumError
from recollectum.domain.memory import State
from recollectum.vault.purge.request import PurgeRequest
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.vault.undo.test_undo import shown

pytestmark = pytest.mark.process

TEXTS = ("I drink tea", "I drink coffee", "I live in Oslo", "I live in Rome")
KEYS = (None, "drink", "home")


def _purge(vault: Vault, memory_id: str) -> None:
    vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.memories(memory_id)).token)


#: What may be done with a memory, by a text, a key and the id of one that was made before.
DEEDS: dict[str, Callable[[Vault, str, str | None, str], object]] = {
    "save": lambda v, text, key, _: v.memories.save(text, key=key),
    "edit": lambda v, text, _, one: v.memories.edit(one, text),
    "weigh": lambda v, text, _, one: v.memories.edit(one, importance=len(text) / 100),
    "supersede": lambda v, text, _, one: v.memories.supersede(one, text),
    "archive": lambda v, _, __, one: v.memories.move(one, State.ARCHIVED),
    "forget": lambda v, _, __, one: v.memories.forget(one),
    "restore": lambda v, _, __, one: v.memories.move(one, "active"),
    "purge": lambda v, _, __, one: _purge(v, one),
    "undo": lambda v, _, __, ___: v.privacy.undo.last(),
}
DEED = st.tuples(
    st.sampled_from(["save", "save", "save", *DEEDS]),
    st.sampled_from(TEXTS),
    st.sampled_from(KEYS),
    st.integers(0, 5),
)


class World:
    """A vault, every memory that was made in it, and those that were purged."""

    def __init__(self, folder: Path) -> None:
        self.clock = Turning()
        self.home = open_home(folder, self.clock)
        self.vault = self.home.vault("user:alice")
        self.ids: list[str] = []
        self.purged: set[str] = set()

    def do(self, deed: str, text: str, key: str | None, which: int) -> bool:
        """Whether the deed could be done."""
        self.clock.turn(timedelta(minutes=1))
        one = self.ids[which % len(self.ids)] if self.ids else "mem_none"
        try:
            DEEDS[deed](self.vault, text, key, one)
        except RecollectumError:
            return False
        if deed == "purge":
            self.purged.add(one)
        self.ids += sorted({str(found[0]) for found in shown(self.vault)} - set(self.ids))
        return True

    def newest(self) -> int:
        """The number of the newest event."""
        return next((event.number for event in self.vault.admin.events.list(limit=1)), 0)


@settings(max_examples=60, deadline=None)
@given(before=st.lists(DEED, max_size=7), deed=DEED)
def test_undoing_one_step_is_where_it_was_and_undoing_that_is_where_it_is(
    before: list[tuple[str, str, str | None, int]], deed: tuple[str, str, str | None, int]
) -> None:
    with quick_folder() as folder:
        world = World(folder)
        with world.home:
            for one in before:
                world.do(*one)
            was, newest = shown(world.vault), world.newest()
            done = world.do(*deed)
            if not done or deed[0] == "purge" or world.newest() == newest:
                return
            now = shown(world.vault)
            world.vault.privacy.undo.last()
            assert shown(world.vault) == was
            world.vault.privacy.undo.last()
            assert shown(world.vault) == now
            assert world.vault.admin.index.verify().sound


@settings(max_examples=40, deadline=None)
@given(deeds=st.lists(DEED, min_size=4, max_size=14), back=st.integers(1, 14))
def test_nothing_purged_comes_back_however_far_one_goes(
    deeds: list[tuple[str, str, str | None, int]], back: int
) -> None:
    with quick_folder() as folder:
        world = World(folder)
        with world.home:
            for one in deeds:
                world.do(*one)
            for _ in range(2):
                try:
                    world.vault.privacy.undo.last(back)
                except RecollectumError:
                    continue
                every = {one[0] for one in shown(world.vault)} | {one.id for one in world.vault.privacy.trash.list()}
                assert not every & world.purged
                assert world.vault.admin.index.verify().sound
