"""`/v1/extensions`: lists extensions, and what agents get from them, for a key with admin rights."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from recollectum.domain.files.extension import Extension, ExtensionFile, McpServerEntry
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.rest.responses import describe_responses, json_response

router = APIRouter(route_class=KeyedRoute, tags=["extensions"])
_MERGED = {
    "servers": list[McpServerEntry],
    "files": list[ExtensionFile],
    "conflicts": list[str],
    "problems": list[str],
}


@router.get("/v1/extensions", responses=describe_responses({"extensions": list[Extension]}))
def list_extensions(request: Request) -> Response:
    """List the extensions of the home with their states, and what each may do."""
    return json_response({"extensions": visitor_of(request).recollectum.extensions.list()})


@router.get("/v1/extensions/mcp", responses=describe_responses(_MERGED))
def merged_extensions(request: Request) -> Response:
    """List the MCP servers and files for agents; of the person's own servers, what may be a secret is left out."""
    found = visitor_of(request).recollectum.extensions.merged()
    return json_response({name: getattr(found, name) for name in _MERGED})
