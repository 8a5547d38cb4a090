"""`/keys`: what a key with admin may do: make, list, rotate and end keys of the owners it was made for itself."""

from datetime import timedelta

from fastapi import APIRouter, Request
from fastapi.responses import Response

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.owner import Owner
from recollectum.doors.http.keyed import KeyedRoute, visitor_of
from recollectum.doors.rest.answers import described, document
from recollectum.doors.rest.bodies import MakeKey, RotateKey
from recollectum.doors.rest.documents import KeyList, NewKey, OneKey
from recollectum.doors.rest.fields import IdPath

router = APIRouter(route_class=KeyedRoute, tags=["keys"])


@router.get("/keys", responses=described(KeyList))
def list_keys(request: Request) -> Response:
    """The keys of the owners that this key administers, by id; never a secret."""
    return document({"keys": visitor_of(request).recollectum.keys.all()})


@router.post("/keys", responses=described(NewKey))
def make_key(request: Request, body: MakeKey) -> Response:
    """A new key, with no more rights than this one has; its secret is shown this once."""
    visitor = visitor_of(request)
    person = _parsed(body.person) if body.person else visitor.named()
    key, secret = visitor.recollectum.keys.create(
        str(person), permissions=body.scopes, owners=[str(_parsed(one)) for one in body.owners]
    )
    return document({"key": key, "secret": secret})


@router.post("/keys/{key_id}/rotate", responses=described(NewKey))
def rotate_key(request: Request, key_id: IdPath, body: RotateKey | None = None) -> Response:
    """A new secret in the place of a key's; the old one ends at once, or after some minutes."""
    grace = timedelta(minutes=body.grace_minutes if body else 0)
    key, secret = visitor_of(request).recollectum.keys.rotate(key_id, grace=grace)
    return document({"key": key, "secret": secret})


@router.delete("/keys/{key_id}", responses=described(OneKey))
def revoke_key(request: Request, key_id: IdPath) -> Response:
    """End a key at once."""
    return document({"key": visitor_of(request).recollectum.keys.revoke(key_id)})


def _parsed(text: str) -> Owner:
    try:
        return Owner.parse(text).person
    except InvalidInput:
        raise NotFound("there is no such owner for this key") from None
