"""Random lives of a vault on both engines: the same steps give the same answers, orders and scores."""

from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from recollectum import Recollectum
from recollectum.domain.errors import RecollectumError
from recollectum.domain.hit import SourceName
from recollectum.domain.ids import IdMaker, system_clock
from recollectum.domain.message import RoleName
from recollectum.testing import ScriptedEmbedder
from recollectum.vault.purge.request import PurgeRequest
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.plugins.pgbouncer import POOLED, pooled_servers
from tests.plugins.postgres import available, database_on

pytestmark = pytest.mark.slow

WORDS = ["tea", "garden", "roses", "running", "boat", "C++", "東京", "北京", "grace@example.org", "the", "yesterday"]
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
QUESTION = st.lists(st.sampled_from([*WORDS, "runs", "東", "who is"]), min_size=1, max_size=4).map(" ".join)
#: Counted from the newest: things happen to what others have just happened to.
WHICH = st.integers(0, 3)


def _no_chance(_: int) -> int:
    return 0


class TwoHomes(RuleBasedStateMachine):
    """The same vault on SQLite and on one server."""

    version: str

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        database = self.stack.enter_context(database_on(self.version))
        self.patch = self.stack.enter_context(pytest.MonkeyPatch.context())
        # Ids count up from their time, so that both engines make the same.
        self.patch.setattr(IdMaker.__init__, "__defaults__", (system_clock, _no_chance))
        self.clock = Turning()
        self.embedder = "first"
        self.settings: list[dict[str, object]] = [{}, {"storage.url": database.url(), "encryption": "auto"}]
        self.folders = [self.stack.enter_context(quick_folder()) for _ in self.settings]
        self.homes: list[Recollectum] = []
        self.open()

    def open(self) -> None:
        self.homes = [
            open_home(folder, self.clock, settings=one, embedder=ScriptedEmbedder(self.embedder))
            for folder, one in zip(self.folders, self.settings, strict=True)
        ]

    def close(self) -> None:
        for home in self.homes:
            home.close()

    def teardown(self) -> None:
        self.close()
        self.stack.close()

    def same(self, work: Callable[[Vault], object]) -> object:
        """Do the same in both, and compare what they return or raise."""
        self.clock.turn(timedelta(seconds=1))
        found: list[object] = []
        for home in self.homes:
            try:
                found.append(work(home.vault("user:alice")))
            except RecollectumError as error:
                found.append((type(error), str(error)))
        assert found[0] == found[1]
        return found[0]


class TwoEngines(TwoHomes):
    """What people do with a vault, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.memories: list[str] = []

    def _some(self, which: int) -> str:
        return self.memories[-1 - which % len(self.memories)]

    @initialize()
    def begin(self) -> None:
        """Something to work on, so that no step is spent on getting there."""
        for content in ("tea in the garden", "roses in the garden", "Grace has a boat"):
            self.save(content, None)
        self.talk("tea garden yesterday", "user")

    @rule(content=TEXT, key=st.sampled_from([None, None, "drink", "place"]))
    def save(self, content: str, key: str | None) -> None:
        memory = self.same(lambda vault: vault.memories.save(content, key=key).memory.id)
        if isinstance(memory, str) and memory not in self.memories:
            self.memories.append(memory)

    @rule(text=TEXT, role=st.sampled_from(["user", "assistant", "tool"]))
    def talk(self, text: str, role: RoleName) -> None:
        self.same(lambda vault: vault.sessions.open(channel="chat").add(role, text, speaker="Ann"))

    @rule(which=WHICH, content=TEXT)
    def edit(self, which: int, content: str) -> None:
        self.same(lambda vault: vault.memories.edit(self._some(which), content))

    @rule(which=WHICH)
    def forget(self, which: int) -> None:
        self.same(lambda vault: vault.memories.forget(self._some(which)))

    @rule(which=WHICH)
    def restore(self, which: int) -> None:
        self.same(lambda vault: vault.memories.move(self._some(which), "active"))

    @rule(which=WHICH)
    def purge(self, which: int) -> None:
        def erase(vault: Vault) -> object:
            preview = vault.privacy.purge.preview(PurgeRequest.memories(self._some(which)))
            return vault.privacy.purge.run(preview.token).counts

        self.same(erase)

    @rule()
    def undo(self) -> None:
        self.same(lambda vault: vault.privacy.undo.last())

    @rule()
    def rebuild(self) -> None:
        self.same(lambda vault: vault.admin.index.rebuild())

    @rule()
    def take_another_model(self) -> None:
        self.close()
        self.embedder = "second" if self.embedder == "first" else "first"
        self.open()
        self.same(lambda vault: vault.admin.index.update())

    @rule(question=QUESTION, source=st.sampled_from([None, None, "memories", "sessions"]), meaning=st.booleans())
    def ask(self, question: str, source: SourceName | None, *, meaning: bool) -> None:
        # So that no question depends on how far the background thread has come.
        self.same(lambda vault: vault.admin.index.update())
        self.same(lambda vault: vault.recall(question, source=source, meaning=meaning, limit=20))

    @rule()
    def compare_the_trail(self) -> None:
        self.same(lambda vault: vault.admin.events.list(limit=1000))
        self.same(lambda vault: vault.memories.list(limit=1000))
        self.same(lambda vault: vault.admin.totals())
        self.same(lambda vault: vault.admin.index.verify())


@pytest.mark.parametrize(
    "version", [*available(), *pooled_servers("tests/conformance/test_two_engines.py", available())]
)
def test_the_same_steps_give_the_same_answers_on_both_engines(version: str) -> None:
    made = type("TwoEnginesOnOneServer", (TwoEngines,), {"version": version})
    # The pooler changes how statements travel, not what they do.
    examples = 2 if version.endswith(POOLED) else 8
    run_state_machine_as_test(made, settings=settings(max_examples=examples, stateful_step_count=25, deadline=None))
