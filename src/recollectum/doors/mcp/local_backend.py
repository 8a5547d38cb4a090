"""Answers requests from the home opened in this process, when no daemon runs: by plain calls, without the SDK."""

from typing import TYPE_CHECKING

from recollectum.doors.mcp import dispatch
from recollectum.doors.mcp.client import Confirmations, McpClient, agent_name
from recollectum.doors.mcp.declarations import McpProfile, Wire
from recollectum.doors.mcp.protocol_versions import can_ask, complete_result, read_envelope
from recollectum.doors.mcp.target import McpTarget
from recollectum.engine import Recollectum
from recollectum.upkeep.presence import check_made

if TYPE_CHECKING:
    from recollectum.domain.access.owner import Owner


class LocalBackend:
    """Serves requests of the newer protocol, each in the calling thread."""

    def __init__(self, whom: McpTarget, offer: McpProfile) -> None:
        self._home, self._seen, self._person = _open(whom)
        self._offer = offer
        self._confirmations = Confirmations()

    def exchange(self, request: Wire) -> Wire:
        """Return the response to a request of the newer protocol."""
        method, params = request["method"], request["params"]
        client = read_envelope(params)
        agent = agent_name(client.info.get("name"))

        def find() -> McpClient:
            vault = self._seen.with_client(f"mcp:{agent}").vault(self._person, agent=agent)
            return McpClient(vault, agent, self._confirmations)

        result = dispatch.answer(self._offer, find, method, params, can_ask=can_ask(client.capabilities))
        stamped = complete_result(result, cacheable=method == "resources/read")
        return {"jsonrpc": "2.0", "id": request["id"], "result": stamped}

    def close(self) -> None:
        """Close the home."""
        self._home.close()


def _open(whom: McpTarget) -> "tuple[Recollectum, Recollectum, Owner]":
    """Return the open home, the home as the person sees it, and the person."""
    if whom.user is not None:
        check_made(whom.place)
    home = Recollectum(whom.place.root, environ=whom.environ)
    try:
        if home.caller.person is not None:
            return home, home, home.caller.person
        person = whom.person()
        if whom.user is not None:
            # A typo must not create another vault.
            home.people.get(person)
        return home, home.as_person(str(person)), person
    except BaseException:
        home.close()
        raise
