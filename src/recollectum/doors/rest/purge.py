"""`/v1/purges`, `/memory/user/purge`, `/v1/receipts`: erases the caller's own data in two steps, with a receipt."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from recollectum.domain.errors import Conflict, InvalidInput, NotFound
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.http.server_state import server_state_of
from recollectum.doors.rest.requests import Confirm, IdPath
from recollectum.doors.rest.responses import Responses, describe_body, describe_responses, json_response
from recollectum.vault.purge.request import Preview, PurgeRequest, Receipt

router = APIRouter(route_class=KeyedRoute, tags=["privacy"])
_DONE = {"receipt": Receipt}
_CHECKED = {"id": str, "genuine": bool, "public_key": str}
_WOULD_GO = {
    "counts": Mapping[str, int],
    "memories_derived": int,
    "memories_kept": int,
    "backups": list[str],
    "expires_at": datetime,
    "excused": int,
    "remaining": list[str],
    "elsewhere": list[str],
    "unreadable": list[str],
}
_ABOUT_PREVIEW = "A preview of what would be erased, and the token that confirms it; nothing is changed."
_PREVIEW: Responses = {202: describe_body({"confirm": str, "preview": _WOULD_GO}, _ABOUT_PREVIEW)}


@router.delete("/memory/user/purge", responses=describe_responses(_DONE, more=_PREVIEW))
def purge_user(
    request: Request,
    body: Confirm | None = None,
    confirm: Annotated[str | None, Query(min_length=1, max_length=4000)] = None,
) -> Response:
    """Erase everything of the key's own person: first a preview with a token, then, with the token, for good."""
    return _purged(request, body.confirm if body else confirm)


@router.post("/v1/purges", responses=describe_responses(_DONE, more=_PREVIEW))
def create_purge(request: Request, body: Confirm | None = None) -> Response:
    """Erase everything of the key's own person: first a preview with a token, then, with the token, for good."""
    return _purged(request, body.confirm if body else None)


def _purged(request: Request, token: str | None) -> Response:
    purge = visitor_of(request).vault().privacy.purge
    if token is None:
        made = purge.preview(PurgeRequest.user())
        return json_response({"confirm": made.token, "preview": _shown(made)}, status=202)
    try:
        receipt = purge.run(token)
    except InvalidInput:
        raise Conflict("this token is not from one of your previews; make a preview, and use its token") from None
    return json_response({"receipt": receipt})


@router.get("/v1/receipts", responses=describe_responses({"receipts": list[Receipt]}))
def list_receipts(request: Request) -> Response:
    """List the receipts of what was erased from the key's own vault, oldest first."""
    return json_response({"receipts": visitor_of(request).vault().privacy.purge.list_receipts()})


@router.get("/v1/receipts/{receipt_id}", responses=describe_responses(_DONE))
def get_receipt(request: Request, receipt_id: IdPath) -> Response:
    """Return one receipt."""
    return json_response({"receipt": _own(request, receipt_id)})


@router.get(
    "/v1/receipts/{receipt_id}/verification",
    responses=describe_responses(_CHECKED),
)
def verify_receipt(request: Request, receipt_id: IdPath) -> Response:
    """Check that this home signed a receipt and no field of it was changed."""
    receipt = _own(request, receipt_id)
    # The home's public key verifies a signature, and anybody may know the result.
    home = server_state_of(request).recollectum.receipts
    return json_response({"id": receipt.id, "genuine": home.verify(receipt), "public_key": home.key()})


def _own(request: Request, receipt_id: str) -> Receipt:
    for receipt in visitor_of(request).vault().privacy.purge.list_receipts():
        if receipt.id == receipt_id:
            return receipt
    raise NotFound(f"there is no receipt {receipt_id!r} of this caller's")


def _shown(made: Preview) -> dict[str, object]:
    return {
        "counts": made.counts,
        "memories_derived": made.memories_derived,
        "memories_kept": made.memories_kept,
        "backups": made.backups,
        "expires_at": made.expires_at,
        "excused": made.excused,
        "remaining": made.remaining,
        "elsewhere": made.elsewhere,
        "unreadable": made.unreadable,
    }
