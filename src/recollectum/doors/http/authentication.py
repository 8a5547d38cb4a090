"""Authenticates every request by its credential, before its body is read."""

import getpass
import hmac
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from recollectum.domain.access.owner import Owner, OwnerKind
from recollectum.domain.errors import Denied, InvalidInput, KeysRefused, NotFound
from recollectum.domain.records import dataclass
from recollectum.doors.http.body_shape import check_body
from recollectum.doors.http.server_state import ServerState, server_state_of
from recollectum.engine import Recollectum
from recollectum.vault.vault import Vault

#: The header with the person for whom a local program with the daemon's token acts.
USER_HEADER = "recollectum-user"
#: `Token` is what the clients of mem0 send.
_SCHEMES = frozenset({"bearer", "token"})


class Unauthenticated(Exception):
    """Raised when a credential is missing or unknown."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """One caller, with the home as they see it."""

    recollectum: Recollectum
    #: Their name in events.
    caller_name: str
    #: None for a local program that named nobody.
    person: Owner | None

    def with_client(self, client: str) -> "Visitor":
        """Return the same visitor with the name of a door or client program, which rules can use too."""
        return replace(self, recollectum=self.recollectum.with_client(client))

    def vault(self, owner: str | None = None) -> Vault:
        """Return the visitor's own vault, or another one that they may see; raise `NotFound` for any other."""
        if owner is None:
            return self.recollectum.vault(self.named())
        try:
            wanted = Owner.parse(owner)
        except InvalidInput:
            raise NotFound("there is no vault of that owner for this caller") from None
        return self.recollectum.vault(wanted, create=wanted.person == self.person)

    def named(self) -> Owner:
        """Return the person who asks; raise when none was named."""
        if self.person is None:
            raise InvalidInput("no user is named; name one in the header Recollectum-User")
        return self.person


def authenticate(request: HTTPConnection) -> Visitor:
    """Return the visitor of a request; raise `Unauthenticated` without a valid credential."""
    serving = server_state_of(request)
    secret = bearer(request)
    if is_local_token(request):
        return _local(serving, request.headers.get(USER_HEADER))
    try:
        # For this request alone: the next one loads the key again.
        seen = serving.recollectum.login(secret, cache=True)
    except KeysRefused:
        raise
    except Denied:
        raise Unauthenticated from None
    return Visitor(seen, seen.caller.name, seen.caller.person)


async def visitor(request: HTTPConnection) -> Visitor:
    """Return the visitor, as a dependency of a route."""
    known: object = getattr(request.state, "visitor", None)
    return known if isinstance(known, Visitor) else await run_in_threadpool(authenticate, request)


def bearer(request: HTTPConnection) -> str:
    """Return the secret in the Authorization header."""
    secret = _shown_secret(request)
    if not secret:
        raise Unauthenticated
    return secret


def parse_bearer(header: str) -> str:
    """Return the secret in an Authorization header; empty when there is none."""
    scheme, _, secret = header.partition(" ")
    return secret.strip() if scheme.casefold() in _SCHEMES else ""


def is_local_token(request: HTTPConnection) -> bool:
    """Return whether a request has the daemon's own token."""
    return hmac.compare_digest(_shown_secret(request).encode(), server_state_of(request).local_token.encode())


def shows_key(request: HTTPConnection) -> bool:
    """Return whether a request has the daemon's own token or an API key of this home."""
    if is_local_token(request):
        return True
    try:
        authenticate(request)
    except (Unauthenticated, KeysRefused):
        return False
    return True


def _shown_secret(request: HTTPConnection) -> str:
    return parse_bearer(request.headers.get("authorization", ""))


def _local(serving: ServerState, user: str | None) -> Visitor:
    if user is None:
        return Visitor(serving.recollectum, serving.recollectum.caller.name, None)
    owner = _owner(user)
    if owner.kind is not OwnerKind.GLOBAL and owner.person != _usual(serving):
        # A typo must not create another vault.
        serving.recollectum.people.get(owner)
    seen = serving.recollectum.as_person(str(owner))
    return Visitor(seen, seen.caller.name, owner.person)


def _usual(serving: ServerState) -> Owner | None:
    """Return the default person of this home, who needs no existing vault."""
    try:
        return _owner(serving.recollectum.settings.default_user or getpass.getuser())
    except (OSError, KeyError, InvalidInput):
        # This account has no name, or none that is valid for a person.
        return None


def _owner(name: str) -> Owner:
    return Owner.parse(name if ":" in name or name == OwnerKind.GLOBAL else f"{OwnerKind.USER}:{name}")


#: The client name of a keyed route in rules, besides the name of the key.
CLIENT = "http:api"
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class KeyedRoute(APIRoute):
    """A FastAPI route that requires a credential."""

    def get_route_handler(self) -> Handler:
        """Return FastAPI's handler, behind the check of the credential."""
        handle = super().get_route_handler()

        async def keyed(request: Request) -> Response:
            # In a thread: it reads the catalog, and a slow disk must not block other requests.
            found = await run_in_threadpool(authenticate, request)
            request.state.visitor = found.with_client(CLIENT)
            await check_body(request)
            return await handle(request)

        return keyed


def visitor_of(request: Request) -> Visitor:
    """Return the visitor of a keyed route."""
    found: object = request.state.visitor
    if not isinstance(found, Visitor):
        raise TypeError("this route is not keyed")
    return found
