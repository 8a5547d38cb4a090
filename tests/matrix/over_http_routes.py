"""Every route as something to ask, with what it needs and what it may show."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from recollectum.doors.rest.mem0.not_offered import REASONS
from tests.matrix import oracle
from tests.matrix.over_http_world import FURTHER, Things
from tests.matrix.world import COMMON, Held

NOTHING: frozenset[str] = frozenset()
#: Learnings and nodes of the graph are memories among others.
LISTED = {**oracle.PAGES, "active": oracle.PAGES["active"] | {"learned", "node"}}
#: The routes of memories; those under /v1 and those of feature M10 are the same functions.
MEMORIES = ("/memory", "/v1/memories")
TALKS = frozenset({"talk0", "talk1"})
#: What mem0 would know: active memories that are no state of other programs.
PLAIN = oracle.PAGES["active"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request, and what the rules say of it."""

    #: As `GET /memory/{memory_id}`.
    route: str
    #: In place of what stands in braces.
    id: str = ""
    query: str = ""
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    #: read, write, admin; or key, for what any key may ask.
    permission: str = "read"
    #: The number of the session it touches, when that is all it touches.
    session: int | None = None
    #: The places whose canaries it shows to one who may ask.
    shows: frozenset[str] = NOTHING
    #: Whether what it is about is there for one who may ask.
    there: bool = True
    #: Whether it is about the caller's own and takes no owner.
    own: bool = False
    #: The path as it is asked, where the route has braces for something that is no id.
    at: str = ""

    @property
    def method(self) -> str:
        """Its method."""
        return self.route.partition(" ")[0]

    @property
    def path(self) -> str:
        """Its path with the id in it."""
        before, brace, rest = self.route.partition(" ")[2].partition("{")
        path = self.at or (before + self.id + rest.partition("}")[2] if brace else before)
        return path + (f"?{self.query}" if self.query else "")

    def __str__(self) -> str:
        """The request, for a finding."""
        return f"{self.route} {self.query}".strip()


def asks(held: Held, things: Things | None) -> list[Ask]:
    """Every request there is, aimed at what one vault holds; readers first, what destroys last."""
    there = things or Things(learning="mem_none", proposal="prp_none", receipt="rct_none", key="key_none")
    every = [*_of_memories(held), *_reads(held, there), *_reads_of_state(), *_of_mem0(held), *_writes(held, there)]
    every += [*_own(there), *_of_keys(there), *_of_other_machines(), *_mem0_deletes_all()]
    return every if things else [_unfurnished(one) for one in every]


def _unfurnished(ask: Ask) -> Ask:
    return replace(ask, shows=ask.shows - set(FURTHER), there=ask.there and not ask.id.endswith("_none"))


def ghosts(ask: Ask) -> Ask:
    """The same request with an id that never was."""
    return replace(ask, id=ask.id.partition("_")[0] + "_" + "0" * (len(ask.id) - 4))


def _of_memories(held: Held) -> Iterator[Ask]:
    for place, id_ in held.memories.items():
        shows = frozenset({place}) & oracle.BY_ID
        for root in MEMORIES:
            for path in (f"{root}/{{memory_id}}", f"{root}/{{memory_id}}/history"):
                yield Ask(route=f"GET {path}", id=id_, shows=shows, there=bool(shows))
    for root in MEMORIES:
        yield Ask(route=f"GET {root}/{{memory_id}}/sources", id=held.memories["active"])
        for state, shown in LISTED.items():
            yield Ask(route=f"GET {root}", query=f"state={state}&limit=500", shows=shown)
    for path in ("/memory/query", "/v1/recall"):
        yield Ask(route=f"POST {path}", body={"query": COMMON, "limit": 1000}, shows=oracle.RECALLED)


def _reads(held: Held, things: Things) -> Iterator[Ask]:
    yield Ask(route="POST /v1/context", body={"query": COMMON}, shows=oracle.RECALLED | {"learned"})
    yield Ask(route="GET /v1/profile", shows=oracle.AS_CONTEXT)
    yield Ask(route="GET /v1/learnings", shows=frozenset({"learned"}))
    yield Ask(route="GET /v1/projects")
    yield Ask(route="GET /v1/projects/{project}", id="nowhere", there=False)
    yield Ask(route="GET /v1/review", shows=frozenset({"proposed"}))
    yield Ask(route="GET /v1/review/{proposal_id}", id=things.proposal, shows=frozenset({"proposed"}))
    yield Ask(route="GET /v1/events", query="limit=500")
    yield Ask(route="GET /v1/exports/memories", shows=LISTED["active"] | LISTED["archived"])
    yield Ask(route="GET /v1/sessions", query="limit=500", shows=TALKS)
    yield Ask(route="GET /v1/exports/sessions", shows=TALKS)
    for number, id_ in enumerate(held.sessions):
        shows = frozenset({f"talk{number}"})
        for path in (
            "/v1/sessions/{session_id}",
            "/v1/sessions/{session_id}/messages",
            "/v1/exports/sessions/{session_id}",
        ):
            yield Ask(route=f"GET {path}", id=id_, session=number, shows=shows)


def _writes(held: Held, things: Things) -> Iterator[Ask]:
    active, session = held.memories["active"], held.sessions[0]

    def write(route: str, id_: str = "", body: object = None, **headers: str) -> Ask:
        return Ask(route=route, id=id_, body=body, permission="write", headers=headers)

    yield write("POST /memory/add", body={"content": "something new"})
    yield write("POST /v1/memories", body={"content": "something newer"})
    for root in MEMORIES:
        path = f"PATCH {root}/{{memory_id}}"
        yield write(path, active, {"importance": 0.9})
        yield replace(write(path, active, {"importance": 0.8}), headers={"If-Match": "*"})
    yield write("POST /memory/{memory_id}/archive", held.memories["successor"])
    yield write("POST /memory/{memory_id}/restore", held.memories["soft_deleted"])
    yield write("PUT /v1/memories/{memory_id}/state", held.memories["soft_deleted"], {"state": "archived"})
    yield write("DELETE /memory/{memory_id}", active)
    yield write("DELETE /v1/memories/{memory_id}", held.memories["successor"])
    yield write("POST /v1/sessions", body={"channel": "new"})
    said = {"role": "user", "content": "hello"}
    yield replace(write("POST /v1/sessions/{session_id}/messages", session, said), session=0)
    yield replace(write("PATCH /v1/sessions/{session_id}", session, {"ended": True}), session=0)
    yield write("POST /v1/learnings", body={"text": "short answers", "category": "preference", "shared": True})
    yield write("DELETE /v1/learnings/{memory_id}", things.learning)
    yield write("POST /v1/review/{proposal_id}/approval", things.proposal)
    yield write("POST /v1/review/{proposal_id}/rejection", things.proposal)
    yield from _writes_of_state()


def _reads_of_state() -> Iterator[Ask]:
    for path in ("/v1/history", "/v1/state", "/v1/accounts"):
        yield Ask(route=f"GET {path}")
    yield Ask(route="GET /v1/tasks")
    yield Ask(route="GET /v1/tasks/one", query="id=none", there=False)


def _writes_of_state() -> Iterator[Ask]:
    ada = {"service": "google", "account": "ada@example.com"}
    query = "service=google&account=ada%40example.com"
    yield Ask(route="POST /v1/history", body={"command": "ls"}, permission="write")
    yield Ask(route="DELETE /v1/history", query="project=" + "0" * 64, permission="write")
    yield Ask(route="DELETE /v1/history/{command_id}", id="cmd_none", permission="write", there=False)
    yield Ask(route="PUT /v1/state", body={"key": "theme", "value": "dark"}, permission="write")
    yield Ask(route="DELETE /v1/state", query="key=theme", permission="write")
    yield Ask(route="POST /v1/accounts", body=ada, permission="write")
    yield Ask(route="PUT /v1/accounts/active", body=ada, permission="write")
    yield Ask(route="DELETE /v1/accounts", query=query, permission="write")
    yield Ask(route="PUT /v1/tasks/one", body={"id": "t", "data": {"n": 1}}, permission="write")
    yield Ask(route="DELETE /v1/tasks/one", query="id=t", permission="write")


def _own(things: Things) -> Iterator[Ask]:
    yield Ask(route="GET /v1/receipts", own=True)
    yield Ask(route="GET /v1/receipts/{receipt_id}", id=things.receipt, own=True)
    yield Ask(route="GET /v1/receipts/{receipt_id}/verification", id=things.receipt, own=True)
    yield Ask(route="DELETE /memory/user/purge", permission="write", own=True)
    yield Ask(route="POST /v1/purges", permission="write", own=True)
    for path in ("/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/me"):
        yield Ask(route=f"GET {path}", permission="key", own=True)


def _of_other_machines() -> Iterator[Ask]:
    stop = {"event": {"hook_event_name": "Stop", "session_id": "talk"}}
    yield Ask(route="POST /v1/hook", body=stop, own=True)
    session = {"id": "ses_" + "0" * 26, "key": "agent:main:main"}
    times = {"created_at": "2026-01-01T00:00:00+00:00", "updated_at": "2026-01-01T00:00:00+00:00"}
    yield Ask(route="POST /v1/imports", body={"session": {**session, **times}}, permission="write")


def _of_keys(things: Things) -> Iterator[Ask]:
    yield Ask(route="GET /v1/keys", permission="admin", own=True)
    for path in ("/v1/extensions", "/v1/extensions/mcp"):
        yield Ask(route=f"GET {path}", permission="admin", own=True)
    yield Ask(route="POST /v1/keys", body={"scopes": ["read"]}, permission="admin", own=True)
    yield Ask(route="POST /v1/keys/{key_id}/rotations", id=things.key, permission="admin", own=True)
    yield Ask(route="DELETE /v1/keys/{key_id}", id=things.key, permission="admin", own=True)


#: As the client of mem0 asks for everything that is the person's own.
_EVERYBODY = {"user_id": "*"}
_MEM0_MEMORY = "/v1/memories/{memory_id}/"


def _of_mem0(held: Held) -> Iterator[Ask]:
    """The routes of mem0's client: about the vault of the person whose key it is."""
    yield Ask(route="GET /v1/ping/", permission="key", own=True)
    for route in REASONS:
        at = route.partition(" ")[2].replace("{rest:path}", "x/").replace("{entity_id}", "x").replace("{job_id}", "x")
        yield Ask(route=route, at=at, permission="key", own=True, there=False)
    for place, id_ in held.memories.items():
        shows = frozenset({place}) & PLAIN
        for path in (_MEM0_MEMORY, f"{_MEM0_MEMORY}history/"):
            yield Ask(route=f"GET {path}", id=id_, shows=shows, there=bool(shows), own=True)
    searched = {"query": COMMON, "filters": _EVERYBODY, "top_k": 1000}
    yield Ask(route="POST /v3/memories/search/", body=searched, shows=oracle.AS_CONTEXT, own=True)
    everything = {"filters": _EVERYBODY}
    yield Ask(route="POST /v3/memories/", query="page_size=1000", body=everything, shows=PLAIN | {"learned"}, own=True)
    yield Ask(route="GET /v1/entities/", own=True)
    said = {"messages": [{"role": "user", "content": "something newest"}], "run_id": "r1"}

    def write(route: str, id_: str = "", body: object = None) -> Ask:
        return Ask(route=route, id=id_, body=body, permission="write", own=True)

    active, successor = held.memories["active"], held.memories["successor"]
    yield write("POST /v3/memories/add/", body=said)
    yield write(f"PUT {_MEM0_MEMORY}", active, {"text": "something else"})
    yield write("PUT /v1/batch/", body={"memories": [{"memory_id": active, "text": "something other"}]})
    yield write(f"DELETE {_MEM0_MEMORY}", held.memories["superseded_row"])
    yield write("DELETE /v1/batch/", body={"memories": [{"memory_id": successor}]})


def _mem0_deletes_all() -> Iterator[Ask]:
    entity = "DELETE /v2/entities/{kind}/{name}/"
    yield Ask(route=entity, at="/v2/entities/run/r1/", permission="write", own=True)
    yield Ask(route="DELETE /v1/memories/", query="user_id=*", permission="write", own=True)
