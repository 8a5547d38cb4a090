"""Random lives of memories in a real vault, step by step against a plain dict."""

from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from unittest import mock

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from recollectum.domain.errors import NotFound, RecollectumError
from recollectum.domain.memory import Memory
from recollectum.vault.deferred.renewals import Renewals
from recollectum.vault.vault import Vault
from tests.conformance.memory_model import ACTIVE, ARCHIVED, DELETED, LIVE, Model, Record, Unsettled
from tests.matrix.homes import Turning, let_expire, open_home, quick_folder

pytestmark = pytest.mark.slow

CONTENTS = st.sampled_from(["alpha one", "Alpha one!", "beta one", "gamma one"])
KEYS = st.sampled_from(["k_one", None, "k_one", "k_two"])
TTLS = st.none() | st.sampled_from([timedelta(hours=1), timedelta(days=3), timedelta(days=40)])
#: Counted from the newest: things happen to what others have just happened to.
WHICH = st.integers(0, 3)
#: A sweep that is later than this is a finding of its own; see tests/matrix/test_findings.py.
_LATEST_SWEEP = timedelta(days=40)


class Standing(RuleBasedStateMachine):
    """One vault and its model, what time does to them, and what must hold after every step."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.folder = self.stack.enter_context(quick_folder())
        # Use renews, and every step here is followed by a search; tests/vault/test_renewals.py is about that.
        self.stack.enter_context(mock.patch.object(Renewals, "add"))
        self.clock = Turning()
        self.home = open_home(self.folder, self.clock)
        let_expire(self.home)
        self.model = Model()
        self.ids: list[str] = []
        self.swept = self.clock.now

    @property
    def vault(self) -> Vault:
        return self.home.vault("user:alice")

    def teardown(self) -> None:
        self.home.close()
        self.stack.close()

    @rule()
    def sweep(self) -> None:
        self.vault.admin.lifecycle.run()
        self.model.sweep(self.clock.now)
        self.swept = self.clock.now
        counts = self.vault.admin.totals().memories
        assert sum(counts.values()) == len(self.model.records)

    @rule(hours=st.sampled_from([1, 2, 25, 24 * 4, 24 * 8, 24 * 30]))
    def wait(self, hours: int) -> None:
        if self.clock.now + timedelta(hours=hours) - self.swept > _LATEST_SWEEP:
            self.sweep()
        self.clock.turn(timedelta(hours=hours))

    @rule()
    def reopen(self) -> None:
        self.home.close()
        self.home = open_home(self.folder, self.clock)

    @invariant()
    def every_way_of_reading_agrees(self) -> None:
        now, vault = self.clock.now, self.vault
        for state in (ACTIVE, ARCHIVED, DELETED):
            paged = [memory.id for memory in vault.memories.list(state=state, limit=1000)]
            # Lists are in the order of addition; the ids of one moment are not.
            assert sorted(paged) == sorted(self.model.seen(state, now))
        active = self.model.seen(ACTIVE, now)
        assert {hit.source.memory_id for hit in vault.recall("one", limit=1000)} == active
        assert {memory.id for memory in vault.memories.as_of(now)} == active
        assert {line.id for line in vault.context("one").ledger if line.id.startswith("mem_")} == active
        for key in ("k_one", "k_two"):
            found = vault.memories.find(key)
            holder = [id_ for id_ in active if self.model.records[id_].key == key]
            assert [found.id if found else None] == (holder or [None])

    @invariant()
    def every_id_reads_as_it_should(self) -> None:
        for id_ in self.ids:
            record = self.model.records.get(id_)
            state = record.seen(self.clock.now) if record else None
            if record is None or state not in LIVE:
                with pytest.raises(NotFound):
                    self.vault.memories.get(id_)
                continue
            memory = self.vault.memories.get(id_)
            assert (memory.content, memory.key, memory.state, memory.version, memory.expires_at) == (
                record.content,
                record.key,
                state,
                record.version,
                record.expires,
            )
            assert [version.version for version in self.vault.memories.history(id_).versions] == list(
                range(1, record.version + 1)
            )

    @invariant()
    def the_index_is_sound(self) -> None:
        assert self.vault.admin.index.verify().sound


class Lives(Standing):
    """What people do with memories, in any order."""

    @initialize(which=WHICH)
    def begin(self, which: int) -> None:
        """Something to work on, so that no step is spent on getting there."""
        for content, key in (("alpha one", "k_one"), ("beta one", "k_two"), ("gamma one", None)):
            self.save(content, key, None)
        self.forget(which)

    def _some(self, which: int) -> str:
        return self.ids[-1 - which % len(self.ids)]

    def _agrees(self, expected: Callable[[], str], real: Callable[[], Memory]) -> Memory | None:
        """Make one change in both, from a swept vault: what waits for a sweep is the matrix's to test."""
        self.sweep()
        try:
            outcome = expected()
        except Unsettled:
            return None
        memory = found = None
        try:
            memory = real()
            found = memory.id
        except RecollectumError as error:
            found = type(error).__name__
        assert found == outcome or (outcome == "new" and memory)
        return memory

    @rule(content=CONTENTS, key=KEYS, ttl=TTLS)
    def save(self, content: str, key: str | None, ttl: timedelta | None) -> None:
        expires = self.clock.now + ttl if ttl else None
        now = self.clock.now
        memory = self._agrees(
            lambda: self.model.save(content, key, expires, now) or "new",
            lambda: self.vault.memories.save(content, key=key, ttl=ttl).memory,
        )
        if memory and memory.id not in self.ids:
            self.model.add(memory.id, Record(content, key, expires=expires), now)
            self.ids.append(memory.id)

    @rule(which=WHICH, content=CONTENTS)
    def edit(self, which: int, content: str) -> None:
        id_ = self._some(which)
        self._agrees(lambda: self.model.edit(id_, content), lambda: self.vault.memories.edit(id_, content))

    @rule(which=WHICH, content=CONTENTS)
    def supersede(self, which: int, content: str) -> None:
        id_ = self._some(which)
        new: list[Memory] = []

        def real() -> Memory:
            new.append(self.vault.memories.supersede(id_, content))
            return self.vault.memories.get(id_)

        if self._agrees(lambda: self.model.supersede(id_, self.clock.now), real):
            self.model.add(new[0].id, Record(content, self.model.records[id_].key, dated=True), self.clock.now)
            self.ids.append(new[0].id)

    @rule(which=WHICH)
    def archive(self, which: int) -> None:
        id_ = self._some(which)
        self._agrees(
            lambda: self.model.move(id_, ARCHIVED, self.clock.now), lambda: self.vault.memories.move(id_, ARCHIVED)
        )

    @rule(which=WHICH)
    def forget(self, which: int) -> None:
        id_ = self._some(which)
        self._agrees(lambda: self.model.move(id_, DELETED, self.clock.now), lambda: self.vault.memories.forget(id_))

    @rule(which=WHICH)
    def restore(self, which: int) -> None:
        id_ = self._some(which)
        self._agrees(lambda: self.model.restore(id_, self.clock.now), lambda: self.vault.memories.move(id_, "active"))

    @rule(which=WHICH, content=CONTENTS)
    def hand_over(self, which: int, content: str) -> None:
        """Let another memory have the key, and see whether the first gets it back."""
        record = self.model.records.get(self._some(which))
        key = record.key if record else None
        self.forget(which)
        held = len(self.ids)
        self.save(content, key, None)
        self.restore(which + len(self.ids) - held)


@pytest.mark.feature("M1")
@pytest.mark.feature("M2")
@pytest.mark.feature("M5")
@pytest.mark.feature("M8")
class TestLives(Lives.TestCase):
    settings = settings(max_examples=40, stateful_step_count=30)
