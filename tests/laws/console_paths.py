"""Every page and form of the console with the actions that it takes.

A route of the console that is not in this table fails the law.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from recollectum.policy.actions import Action as A
from tests.laws.door_paths import Actions
from tests.matrix.over_http_world import Things
from tests.matrix.world import COMMON, Held

_DECIDE = (A.REVIEW_DECIDE, A.MEMORY_WRITE, A.MEMORY_DELETE)
_PURGE = (A.PURGE_RUN, A.MEMORY_DELETE, A.SESSION_DELETE, A.STATE_DELETE)
_UNDO = (A.UNDO_RUN, A.MEMORY_WRITE, A.MEMORY_DELETE)
#: How a person comes in, goes out and chooses colours: nothing in a vault is touched.
WITHOUT_ACTIONS = frozenset(
    {
        "GET /login",
        "POST /login",
        "POST /login/links",
        "POST /console/logout",
        "POST /console/theme",
        "GET /static/{name}",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolePath:
    """One page or form, and what it does."""

    #: As `GET /console/memories/{memory_id}`.
    route: str
    #: In place of what stands in braces.
    id: str = ""
    query: str = ""
    #: The fields of a form.
    fields: Mapping[str, str] | None = None
    actions: Actions

    @property
    def path(self) -> str:
        """The path with its id and query."""
        before, brace, rest = self.route.partition(" ")[2].partition("{")
        path = before + self.id + rest.partition("}")[2] if brace else before
        return path + (f"?{self.query}" if self.query else "")

    @property
    def is_form(self) -> bool:
        """Whether it is sent, and not only looked at."""
        return self.fields is not None


def console_paths(held: Held, things: Things, cited: str, token: str) -> list[ConsolePath]:
    """Every page and form that takes an action, aimed at what one vault holds.

    `cited` is a memory that a message is the source of, and `token` is of a purge's preview.
    """
    return [*_pages(held, things, cited), *_forms(held, things), *_privacy(things, token)]


def _pages(held: Held, things: Things, cited: str) -> list[ConsolePath]:
    def page(route: str, *actions: A, id_: str = "", query: str = "") -> ConsolePath:
        return ConsolePath(route=f"GET {route}", id=id_, query=query, actions=actions)

    memory = "/console/memories/{memory_id}"
    return [
        page("/", A.MEMORY_READ),
        page("/", A.MEMORY_SEARCH, query=f"q={COMMON}"),
        page("/", A.MEMORY_SEARCH, query=f"q={COMMON}&part=hits"),
        page("/console/start", A.MEMORY_READ),
        page("/console/memories", A.MEMORY_READ),
        page("/console/memories", A.MEMORY_READ, query=f"q={COMMON}"),
        page(memory, A.MEMORY_READ, id_=held.memories["active"]),
        page(memory, A.MEMORY_READ, A.SESSION_READ, id_=cited),
        page(memory, A.MEMORY_READ, A.EVENT_READ, id_=held.memories["soft_deleted"]),
        page("/console/conversations", A.SESSION_READ),
        page("/console/conversations/{session_id}", A.SESSION_READ, id_=held.sessions[0]),
        page("/console/projects", A.MEMORY_READ),
        page("/console/projects/{name}", A.MEMORY_READ, A.SESSION_READ, id_="boat"),
        page("/console/review", A.REVIEW_READ),
        page("/console/timeline", A.MEMORY_READ, A.EVENT_READ),
        page("/console/context", A.MEMORY_SEARCH, A.SESSION_READ, query=f"q={COMMON}"),
        page("/console/extensions", A.EXTENSION_READ),
        page("/console/state", A.STATE_READ),
        page("/console/state", A.STATE_READ, query=f"q={COMMON}"),
        page("/console/tasks", A.TASK_READ),
        page("/console/health", A.MEMORY_READ, A.INDEX_READ, A.CONSOLIDATION_READ),
        page("/console/privacy", A.MEMORY_READ, A.NOTE_READ, A.TRANSCRIPT_READ, A.RECEIPT_READ),
        page("/console/privacy/export", A.MEMORY_READ, A.SESSION_READ, A.EVENT_READ),
        page("/console/privacy/receipts/{receipt_id}", A.RECEIPT_READ, id_=things.receipt),
    ]


def _forms(held: Held, things: Things) -> list[ConsolePath]:
    def form(route: str, *actions: A, id_: str = "", **fields: str) -> ConsolePath:
        return ConsolePath(route=f"POST /console{route}", id=id_, fields=fields, actions=actions)

    active, gone = held.memories["active"], held.memories["soft_deleted"]
    return [
        form("/vault", A.MEMORY_READ, owner="user:alice"),
        form("/memories", A.MEMORY_WRITE, content="a new thing"),
        form("/memories/bulk/preview", A.MEMORY_READ, act="forget", all="1"),
        form("/memories/bulk/preview", A.MEMORY_READ, A.PURGE_RUN, act="erase", id=active),
        form("/memories/bulk", A.MEMORY_DELETE, act="forget", ids=active),
        form("/memories/bulk", A.MEMORY_WRITE, act="restore", ids=gone),
        form("/memories/{memory_id}/edit", A.MEMORY_WRITE, id_=active, content="otherwise", version="1"),
        form("/memories/{memory_id}/archive", A.MEMORY_WRITE, id_=active),
        form("/memories/{memory_id}/restore", A.MEMORY_WRITE, id_=gone),
        form("/memories/{memory_id}/forget", A.MEMORY_DELETE, id_=active),
        form("/review/grow", A.REVIEW_PROPOSE),
        form("/review/{proposal_id}/approve", A.REVIEW_READ, *_DECIDE, id_=things.proposal),
        form("/review/{proposal_id}/reject", A.REVIEW_DECIDE, id_=things.proposal),
        form("/timeline/undo", *_UNDO, event="1"),
    ]


def _privacy(things: Things, token: str) -> list[ConsolePath]:
    asked = {"kind": "memory", "ids": things.learning}
    route = "POST /console/privacy"
    return [
        ConsolePath(route=f"{route}/preview", fields=asked, actions=(A.PURGE_RUN,)),
        ConsolePath(route=f"{route}/erase", fields={**asked, "typed": "erase", "token": token}, actions=_PURGE),
    ]
