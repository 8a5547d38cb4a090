"""`/v1/me`: says whose a key is. `/v1/keys`: creates, lists, rotates and revokes keys, for one with admin rights."""

from datetime import timedelta
from importlib.metadata import version

from fastapi import APIRouter, Request
from fastapi.responses import Response

from recollectum.domain.access.caller import ApiKey, Permission
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.rest.requests import IdPath, MakeKey, RotateKey
from recollectum.doors.rest.responses import describe_responses, json_response

router = APIRouter(route_class=KeyedRoute, tags=["keys"])
_NEW = {"key": ApiKey, "secret": str}
_ME = {"person": Owner | None, "permissions": list[Permission], "version": str}


@router.get("/v1/me", responses=describe_responses(_ME))
def get_me(request: Request) -> Response:
    """Return whose key this is and what it may do, and the version of the server."""
    visitor = visitor_of(request)
    permissions = sorted(visitor.recollectum.caller.permissions)
    return json_response({"person": visitor.person, "permissions": permissions, "version": version("recollectum")})


@router.get("/v1/keys", responses=describe_responses({"keys": list[ApiKey]}))
def list_keys(request: Request) -> Response:
    """List the keys of the owners that this key administers, by id; never their secrets."""
    return json_response({"keys": visitor_of(request).recollectum.keys.list()})


@router.post("/v1/keys", responses=describe_responses(_NEW))
def make_key(request: Request, body: MakeKey) -> Response:
    """Create a key with no more permissions than this one has; its secret is shown once."""
    visitor = visitor_of(request)
    person = _parsed(body.person) if body.person else visitor.named()
    key, secret = visitor.recollectum.keys.add(
        str(person), permissions=body.scopes, owners=[str(_parsed(one)) for one in body.owners]
    )
    return json_response({"key": key, "secret": secret})


@router.post("/v1/keys/{key_id}/rotations", responses=describe_responses(_NEW))
def rotate_key(request: Request, key_id: IdPath, body: RotateKey | None = None) -> Response:
    """Replace the secret of a key; the old one ends at once, or after some minutes."""
    grace = timedelta(minutes=body.grace_minutes if body else 0)
    key, secret = visitor_of(request).recollectum.keys.rotate(key_id, grace=grace)
    return json_response({"key": key, "secret": secret})


@router.delete("/v1/keys/{key_id}", responses=describe_responses({"key": ApiKey}))
def revoke_key(request: Request, key_id: IdPath) -> Response:
    """Revoke a key at once."""
    return json_response({"key": visitor_of(request).recollectum.keys.revoke(key_id)})


def _parsed(text: str) -> Owner:
    try:
        return Owner.parse(text).person
    except InvalidInput:
        raise NotFound("there is no such owner for this key") from None
