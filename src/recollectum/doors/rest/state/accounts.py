"""`/v1/accounts`: the person's accounts at services, and which one of each is in use."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from recollectum.domain.agent_state.account import Account
from recollectum.doors.http.authentication import KeyedRoute, visitor_of
from recollectum.doors.rest.requests import NameAccount, OwnerQuery
from recollectum.doors.rest.responses import describe_responses, json_response

router = APIRouter(route_class=KeyedRoute, tags=["state"])
_ONE = {"account": Account}
ServiceQuery = Annotated[str, Query(min_length=1, max_length=128)]
AccountQuery = Annotated[str, Query(min_length=1, max_length=256)]


@router.get("/v1/accounts", responses=describe_responses({"accounts": list[Account]}))
def list_accounts(
    request: Request,
    service: Annotated[str | None, Query(max_length=128, description="Only of this service.")] = None,
    owner: OwnerQuery = None,
) -> Response:
    """List the accounts, and which one of each service is in use."""
    return json_response({"accounts": visitor_of(request).vault(owner).state.accounts.list(service)})


@router.post("/v1/accounts", responses=describe_responses(_ONE))
def add_account(request: Request, body: NameAccount, owner: OwnerQuery = None) -> Response:
    """Add an account; the first one of a service is in use at once, and one that is known stays as it is."""
    return json_response({"account": visitor_of(request).vault(owner).state.accounts.add(body.service, body.account)})


@router.put("/v1/accounts/active", responses=describe_responses(_ONE))
def use_account(request: Request, body: NameAccount, owner: OwnerQuery = None) -> Response:
    """Use another account of a service; the one that was in use stays on the list."""
    accounts = visitor_of(request).vault(owner).state.accounts
    return json_response({"account": accounts.activate(body.service, body.account)})


@router.delete("/v1/accounts", responses=describe_responses({"removed": str}))
def remove_account(
    request: Request, service: ServiceQuery, account: AccountQuery, owner: OwnerQuery = None
) -> Response:
    """Remove an account from the list."""
    visitor_of(request).vault(owner).state.accounts.remove(service, account)
    return json_response({"removed": account})
