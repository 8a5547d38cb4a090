"""Every route and every tool with the actions that it takes.

A path that is in none of these tables fails the laws, so whoever adds one says here what it does.
"""

from recollectum.policy.actions import Action as A

Actions = tuple[A, ...]
_DECIDE = (A.REVIEW_DECIDE, A.MEMORY_WRITE, A.MEMORY_DELETE)
_PURGE = (A.PURGE_RUN,)

ROUTES: dict[str, Actions] = {
    "GET /v1/memories": (A.MEMORY_READ,),
    "GET /v1/memories/{memory_id}": (A.MEMORY_READ,),
    "GET /v1/memories/{memory_id}/history": (A.MEMORY_READ,),
    "GET /v1/memories/{memory_id}/sources": (A.MEMORY_READ,),
    "POST /v1/recall": (A.MEMORY_SEARCH,),
    "POST /v1/memories": (A.MEMORY_WRITE,),
    "PATCH /v1/memories/{memory_id}": (A.MEMORY_WRITE,),
    "PUT /v1/memories/{memory_id}/state": (A.MEMORY_WRITE,),
    "DELETE /v1/memories/{memory_id}": (A.MEMORY_DELETE,),
    "POST /v1/purges": _PURGE,
    "GET /memory": (A.MEMORY_READ,),
    "GET /memory/{memory_id}": (A.MEMORY_READ,),
    "GET /memory/{memory_id}/history": (A.MEMORY_READ,),
    "GET /memory/{memory_id}/sources": (A.MEMORY_READ,),
    "GET /v1/exports/memories": (A.MEMORY_READ,),
    "GET /v1/profile": (A.MEMORY_READ,),
    "GET /v1/learnings": (A.MEMORY_READ,),
    "POST /memory/query": (A.MEMORY_SEARCH,),
    "POST /v1/context": (A.MEMORY_SEARCH,),
    "POST /memory/add": (A.MEMORY_WRITE,),
    "PATCH /memory/{memory_id}": (A.MEMORY_WRITE,),
    "POST /memory/{memory_id}/archive": (A.MEMORY_WRITE,),
    "POST /memory/{memory_id}/restore": (A.MEMORY_WRITE,),
    "DELETE /memory/{memory_id}": (A.MEMORY_DELETE,),
    "POST /v1/learnings": (A.MEMORY_WRITE,),
    "DELETE /v1/learnings/{memory_id}": (A.MEMORY_DELETE,),
    "GET /v1/sessions": (A.SESSION_READ,),
    "GET /v1/sessions/{session_id}": (A.SESSION_READ,),
    "GET /v1/sessions/{session_id}/messages": (A.SESSION_READ,),
    "GET /v1/exports/sessions": (A.SESSION_READ,),
    "GET /v1/exports/sessions/{session_id}": (A.SESSION_READ,),
    "POST /v1/sessions": (A.SESSION_WRITE,),
    "POST /v1/sessions/{session_id}/messages": (A.SESSION_WRITE,),
    "PATCH /v1/sessions/{session_id}": (A.SESSION_WRITE,),
    "GET /v1/review": (A.REVIEW_READ,),
    "GET /v1/review/{proposal_id}": (A.REVIEW_READ,),
    "POST /v1/review/{proposal_id}/approval": _DECIDE,
    "POST /v1/review/{proposal_id}/rejection": (A.REVIEW_DECIDE,),
    "GET /v1/events": (A.EVENT_READ,),
    "GET /v1/receipts": (A.RECEIPT_READ,),
    "GET /v1/receipts/{receipt_id}": (A.RECEIPT_READ,),
    "GET /v1/receipts/{receipt_id}/verification": (A.RECEIPT_READ,),
    "DELETE /memory/user/purge": _PURGE,
    "GET /v1/keys": (A.KEY_READ,),
    "POST /v1/keys": (A.KEY_WRITE,),
    "POST /v1/keys/{key_id}/rotations": (A.KEY_WRITE,),
    "DELETE /v1/keys/{key_id}": (A.KEY_WRITE,),
    # About the server, and about nobody's memory.
    "GET /healthz": (),
    "GET /readyz": (),
    "GET /metrics": (),
    "GET /openapi.json": (),
}

#: By profile, method of the protocol, and name.
TOOLS: dict[tuple[str, str, str], Actions] = {
    ("/mcp", "tools/call", "recall"): (A.MEMORY_SEARCH,),
    ("/mcp", "tools/call", "context"): (A.MEMORY_SEARCH,),
    ("/mcp", "tools/call", "list"): (A.MEMORY_READ,),
    ("/mcp", "tools/call", "sessions"): (A.SESSION_READ,),
    ("/mcp", "tools/call", "remember"): (A.MEMORY_WRITE, A.SESSION_WRITE),
    ("/mcp", "tools/call", "forget"): (A.MEMORY_DELETE,),
    ("/mcp", "resources/read", "session"): (A.SESSION_READ,),
    ("/mcp", "resources/read", "memory"): (A.MEMORY_READ,),
    ("/mcp", "prompts/get", "recall"): (A.MEMORY_SEARCH,),
    ("/mcp", "prompts/get", "profile"): (A.MEMORY_READ,),
    ("/mcp/graph", "tools/call", "read_graph"): (A.MEMORY_READ,),
    ("/mcp/graph", "tools/call", "search_nodes"): (A.MEMORY_READ,),
    ("/mcp/graph", "tools/call", "open_nodes"): (A.MEMORY_READ,),
    ("/mcp/graph", "resources/read", "memory"): (A.MEMORY_READ,),
    ("/mcp/graph", "tools/call", "create_entities"): (A.MEMORY_WRITE, A.SESSION_WRITE),
    ("/mcp/graph", "tools/call", "create_relations"): (A.MEMORY_WRITE, A.SESSION_WRITE),
    ("/mcp/graph", "tools/call", "add_observations"): (A.MEMORY_WRITE,),
    ("/mcp/graph", "tools/call", "delete_observations"): (A.MEMORY_WRITE,),
    ("/mcp/graph", "tools/call", "delete_relations"): (A.MEMORY_DELETE,),
    ("/mcp/graph", "tools/call", "delete_entities"): (A.MEMORY_DELETE,),
}
