"""Gives one caller one owner's vault: memories, sessions, recall and context, and the groups of the other services."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from recollectum.domain.access.caller import Scope
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import InvalidInput
from recollectum.domain.hit import RecallResult, SourceName
from recollectum.domain.memory import KindName
from recollectum.domain.session import MAIN
from recollectum.domain.trust import TrustName
from recollectum.policy.actions import Action
from recollectum.vault.admin import VaultAdmin, VaultPrivacy, VaultState
from recollectum.vault.gate import operation
from recollectum.vault.memories.service import Memories
from recollectum.vault.messages import direct_key
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.service import Service, VaultService
from recollectum.vault.sessions.service import Sessions

if TYPE_CHECKING:
    from recollectum.domain.context import Context
    from recollectum.vault.consolidation.learn import LearnResult
    from recollectum.vault.intake.new_message import NewMessage
    from recollectum.vault.learnings.service import Learnings
    from recollectum.vault.projects.service import Projects
    from recollectum.vault.purge.service import Purge
    from recollectum.vault.task_store.places import TaskPlaces
    from recollectum.vault.tasks.service import Tasks


class Vault(VaultService):
    """One owner's vault, as one caller may use it."""

    learnings: Service["Learnings"] = Service(
        "learnings.service.Learnings", "What agents learned of how to work with the person."
    )
    projects: Service["Projects"] = Service("projects.service.Projects", "The folders that texts belong to.")

    def __init__(
        self,
        owner: Owner,
        runtime: VaultRuntime,
        purging: "Callable[[VaultRuntime], Purge] | None" = None,
        task_places: "TaskPlaces | None" = None,
    ) -> None:
        self.owner = owner
        self._task_places = task_places
        self.memories = Memories(runtime)
        self.sessions = Sessions(runtime)
        self.admin = VaultAdmin(runtime)
        self.privacy = VaultPrivacy(runtime, purging)
        self.state = VaultState(runtime)
        super().__init__(runtime)

    @property
    def tasks(self) -> "Tasks":
        """Tasks of agent servers, each with its workspace."""
        if self._task_places is None:
            raise InvalidInput("this vault was opened without a home; open it through one to keep tasks")
        # Imported here: few programs keep tasks.
        from recollectum.vault.tasks.service import Tasks  # noqa: PLC0415

        return Tasks(self._runtime, self._task_places)

    @operation(Action.MEMORY_SEARCH, Scope.USER)
    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        tokens: int | None = None,
        source: SourceName | None = None,
        session_id: str | None = None,
        kind: KindName | None = None,
        speaker: str | None = None,
        agent: str | None = None,
        channel: str | None = None,
        trust: TrustName | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        untrusted: bool | None = None,
        meaning: bool = True,
        min_score: float | None = None,
        answers_only: bool = False,
        project: str | None = None,
        prefer_project: str | None = None,
        personal: bool = False,
    ) -> RecallResult:
        """Search the vault; return hits best first, each with its source and reasons.

        With `tokens` the hits are cut to an estimated token budget, best first. At most one hit from tools and
        strangers is shown, unless `untrusted` or `trust` says otherwise; `held_back` says how many were left out.
        Without `meaning` only words are compared. A score is the measured chance that the hit is relevant, if the
        result is `calibrated`. Hits below `min_score` are left out. With `answers_only` nothing is returned where even
        the best hit is below the floor of the settings; `nearest` is then that hit. Others are never cut.

        With `project` (a name, an id or a folder), nothing of other projects is returned, and its texts gain a little;
        with `prefer_project` they gain it too. With `personal`, only what belongs to no project is returned.
        Archived memories are not served; `archived` counts those that match.
        """
        # Imported here: a program that only saves does not need ranking.
        from recollectum.vault.recall import RecallRequest, recall  # noqa: PLC0415

        wanted = RecallRequest(
            query=query,
            limit=limit,
            tokens=tokens,
            source=source,
            session_id=session_id,
            kind=kind,
            speaker=speaker,
            agent=agent,
            channel=channel,
            trust=trust,
            since=since,
            until=until,
            untrusted=untrusted,
            meaning=meaning,
            min_score=min_score,
            answers_only=answers_only,
            project=project,
            prefer_project=prefer_project,
            personal=personal,
        )
        return recall(self._runtime, wanted)

    @operation(Action.MEMORY_SEARCH, Scope.USER)
    def context(
        self,
        query: str = "",
        *,
        session_id: str | None = None,
        tokens: int | None = None,
        messages: int | None = None,
        memories: int | None = None,
        model: str | None = None,
        agent: str | None = None,
        mark: str | None = None,
        project: str | None = None,
        all_projects: bool = False,
    ) -> "Context":
        """Build the context for a model, never over its budget, with its ledger.

        `model` is the name of the model that will read it and decides how tokens are counted. Without a query, the
        person's last message in the session is the query. The mark of the fences is random unless one is given.

        It has what is personal, and what belongs to the project: the given one, else that of the session, else none.
        Other projects are left out, unless `all_projects` is set.
        """
        # Imported here: only callers that build a context need it.
        from recollectum.vault.context.build import ContextRequest, build_context  # noqa: PLC0415

        wanted = ContextRequest(
            query=query,
            session_id=session_id,
            tokens=tokens,
            messages=messages,
            memories=memories,
            model=model,
            agent=agent,
            mark=mark,
            project=project,
            all_projects=all_projects,
        )
        return build_context(self._runtime, wanted)

    @operation(Action.SESSION_WRITE, Scope.USER, reads=True, also=(Action.CONSOLIDATION_RUN, Action.MEMORY_WRITE))
    def learn(
        self,
        messages: "Iterable[Mapping[str, object] | NewMessage]",
        *,
        session_id: str | None = None,
        channel: str = MAIN,
        agent: str = MAIN,
    ) -> "LearnResult":
        """Record messages of a conversation, and turn what is new in it into memories and proposals.

        A message is a mapping as OpenAI, Anthropic or Gemini write it: a role, and a content or parts. A message with a
        known `id` is not recorded again, and neither is the beginning of the list if the session ends with it, so that
        a program may hand in its whole list after every turn. Without a session, the open one of the channel and the
        agent is used. Without a language model, rules read the conversation; they only propose memories.
        """
        # Imported here: few programs learn from conversations.
        from recollectum.vault.consolidation.learn import learn  # noqa: PLC0415

        place = direct_key(agent, channel, self._runtime)
        return learn(self._runtime, messages, place, session_id)
