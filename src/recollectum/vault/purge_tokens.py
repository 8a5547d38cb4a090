"""The leave to purge: what was previewed, by whom, of which state, and until when; nobody can make one up."""

import base64
import hmac
import json
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from recollectum.domain.errors import Conflict, Denied, InvalidInput
from recollectum.vault.purge_request import PurgeRequest

LIFETIME = timedelta(minutes=10)
_MADE_UP = "that is not a token of this vault; make a preview, and use its token"


class Leave(NamedTuple):
    """What a token says."""

    request: PurgeRequest
    #: Of everything that would go.
    state: str
    caller: str
    vault: str
    expires_at: datetime


def to_token(leave: Leave, salt: bytes) -> str:
    """The leave as text."""
    said = {
        "request": leave.request.to_json(),
        "state": leave.state,
        "caller": leave.caller,
        "vault": leave.vault,
        "expires_at": leave.expires_at.isoformat(),
    }
    body = base64.urlsafe_b64encode(json.dumps(said, sort_keys=True).encode()).decode().rstrip("=")
    return f"{body}.{_mac(body, salt)}"


def from_token(token: str, salt: bytes, *, caller: str, vault: str, now: datetime) -> Leave:
    """What a token says, when it is one of ours, this caller's, for this vault, and not too old."""
    body, _, mac = token.partition(".")
    if not token.isascii() or not hmac.compare_digest(mac, _mac(body, salt)):
        raise InvalidInput(_MADE_UP)
    said: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    expires_at = datetime.fromisoformat(said["expires_at"])
    if said["vault"] != vault:
        raise InvalidInput(_MADE_UP)
    if said["caller"] != caller:
        raise Denied(f"{caller} did not make that preview; make one of your own")
    if now >= expires_at:
        raise Conflict("that preview is too old; make it again, and look at it once more")
    return Leave(PurgeRequest.from_json(said["request"]), said["state"], said["caller"], said["vault"], expires_at)


def _mac(body: str, salt: bytes) -> str:
    return hmac.digest(salt, b"purge token " + body.encode(), "sha256").hex()
