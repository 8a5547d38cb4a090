"""Every route and every tool with the actions that it takes.

A path that is in none of these tables fails the laws, so whoever adds one says here what it does.
"""

from recollectum.policy.actions import Action as A

Actions = tuple[A, ...]
_DECIDE = (A.REVIEW_DECIDE, A.MEMORY_WRITE, A.MEMORY_DELETE)
_PURGE = (A.PURGE_RUN,)

ROUTES: dict[str, Actions] = {
    "GET /memory": (A.MEMORY_READ,),
    "GET /memory/{memory_id}": (A.MEMORY_READ,),
    "GET /memory/{memory_id}/history": (A.MEMORY_READ,),
    "GET /memory/{memory_id}/sources": (A.MEMORY_READ,),
    "GET /export/memories": (A.MEMORY_READ,),
    "GET /profile": (A.MEMORY_READ,),
    "GET /learnings": (A.MEMORY_READ,),
    "POST /memory/query": (A.MEMORY_SEARCH,),
    "POST /context": (A.MEMORY_SEARCH,),
    "POST /memory/add": (A.MEMORY_WRITE,),
    "PATCH /memory/{memory_id}": (A.MEMORY_WRITE,),
    "POST /memory/{memory_id}/archive": (A.MEMORY_WRITE,),
    "POST /memory/{memory_id}/restore": (A.MEMORY_WRITE,),
    "DELETE /memory/{memory_id}": (A.MEMORY_DELETE,),
    "POST /learnings": (A.MEMORY_WRITE,),
    "DELETE /learnings/{memory_id}": (A.MEMORY_DELETE,),
    "GET /sessions": (A.SESSION_READ,),
    "GET /sessions/{session_id}": (A.SESSION_READ,),
    "GET /sessions/{session_id}/messages": (A.SESSION_READ,),
    "GET /export/sessions": (A.SESSION_READ,),
    "GET /export/sessions/{session_id}": (A.SESSION_READ,),
    "POST /sessions": (A.SESSION_WRITE,),
    "POST /sessions/{session_id}/messages": (A.SESSION_WRITE,),
    "POST /sessions/{session_id}/end": (A.SESSION_WRITE,),
    "GET /review": (A.REVIEW_READ,),
    "GET /review/{proposal_id}": (A.REVIEW_READ,),
    "POST /review/{proposal_id}/approve": _DECIDE,
    "POST /review/{proposal_id}/reject": (A.REVIEW_DECIDE,),
    "GET /events": (A.EVENT_READ,),
    "GET /receipts": (A.RECEIPT_READ,),
    "GET /receipts/{receipt_id}": (A.RECEIPT_READ,),
    "GET /receipts/{receipt_id}/verify": (A.RECEIPT_READ,),
    "DELETE /memory/user/purge": _PURGE,
    "GET /keys": (A.KEY_READ,),
    "POST /keys": (A.KEY_WRITE,),
    "POST /keys/{key_id}/rotate": (A.KEY_WRITE,),
    "DELETE /keys/{key_id}": (A.KEY_WRITE,),
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
