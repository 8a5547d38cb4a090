"""Adds, lists and removes what agents learned about working with a person."""

from dataclasses import replace
from pathlib import Path

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.ids import check_name
from recollectum.domain.learning import (
    CATEGORIES,
    DEFAULT_AGENT,
    CategoryName,
    Learning,
    LearningsReport,
    check_category,
)
from recollectum.domain.memory import State
from recollectum.domain.page import Page, cut_page
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.policy.lifecycle import state_at
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories, memory_pages
from recollectum.vault.gate import operation
from recollectum.vault.intake.draft import MAX_PAGE, check_limit
from recollectum.vault.intake.intake import Intake
from recollectum.vault.service import VaultService


class Learnings(VaultService):
    """The learnings of one vault: each agent's own, and those that all agents share."""

    # It may return a learning that was known already, so write permission alone is not enough.
    @operation(Action.MEMORY_WRITE, Scope.USER, reads=True)
    def save(self, text: str, category: CategoryName, *, agent: str | None = None, shared: bool = False) -> Learning:
        """Save a learning for one agent or for all; one that is known already gets today's day."""
        # Imported in each method: most programs have no learnings, and the module is slow to import.
        from recollectum.vault.learnings.saving import open_learning_writer  # noqa: PLC0415

        kind, whose = check_category(category), self._whose(agent, shared=shared)
        with Intake(self._runtime) as intake:
            admitted = intake.content(text)
            said = self._runtime.write(
                lambda tx, reading: open_learning_writer(tx, reading, self._runtime, whose).say(admitted, kind),
            )
            return replace(said, notice=intake.notice)

    @operation(Action.MEMORY_READ, Scope.USER)
    def list(
        self,
        *,
        agent: str | None = None,
        shared: bool = False,
        category: CategoryName | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[Learning]:
        """Return the newest learnings of an agent and the shared ones; without an agent, the shared ones alone."""
        from recollectum.vault.learnings.saving import to_learning  # noqa: PLC0415

        kinds = CATEGORIES if category is None else (check_category(category),)
        whose, size = self._whose(agent, shared=shared), check_limit(limit, MAX_PAGE)

        def read(tx: Tx, reading: ClockReading) -> Page[Learning]:
            found = memory_pages.page_of_agents(tx, reading, {whose, None}, tuple(kinds), cursor, size + 1)
            shown = cut_page(found, size, lambda one: one.id)
            return Page((to_learning(tx, one) for one in shown), shown.next)

        return self._runtime.read(read)

    @operation(Action.MEMORY_DELETE, Scope.USER, reads=True)
    def forget(self, memory_id: str) -> Learning:
        """Move a learning to the trash; the next sync removes it from its file."""
        from recollectum.vault.learnings.saving import open_learning_writer, to_learning  # noqa: PLC0415

        def change(tx: Tx, reading: ClockReading) -> Learning:
            memory = memories.find(tx, memory_id)
            if memory is None or memory.kind not in CATEGORIES or state_at(memory, reading) is not State.ACTIVE:
                raise NotFound(f"there is no learning {memory_id!r} in this vault; `learnings list` lists them")
            learning = to_learning(tx, memory)
            open_learning_writer(tx, reading, self._runtime, memory.agent).forget(memory)
            return learning

        return self._runtime.write(change, frees=True)

    @operation(Action.MEMORY_READ, Scope.USER)
    def file(self, agent: str | None = None, *, shared: bool = False) -> Path:
        """Return the path of an agent's LEARNINGS.md, which the first sync creates."""
        from recollectum.vault.learnings.sync import learnings_path  # noqa: PLC0415

        return learnings_path(self._runtime, self._whose(agent, shared=shared))

    @operation(Action.MEMORY_WRITE, Scope.USER, reads=True, also=(Action.MEMORY_DELETE,))
    def sync(self, agent: str | None = None, *, shared: bool = False) -> LearningsReport:
        """Sync the file and the vault in both directions; changes on both sides are both kept, and reported."""
        from recollectum.vault.learnings.sync import sync_learnings  # noqa: PLC0415

        return sync_learnings(self._runtime, self._whose(agent, shared=shared))

    def _whose(self, agent: str | None, *, shared: bool) -> str | None:
        """Return the agent in question; None for the shared learnings."""
        if shared and agent is not None:
            raise InvalidInput(f"a learning is agent {agent!r}'s or shared by all agents, not both; leave one out")
        if shared:
            return None
        owner = self.gate.owner
        return check_name(agent or (owner and owner.agent) or DEFAULT_AGENT, "agent")
