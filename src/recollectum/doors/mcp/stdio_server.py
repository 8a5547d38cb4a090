"""Serves one MCP client over stdio: answers lists at once, and passes requests that need a vault to a backend.

Standard library only until a tool is called. The backend is the daemon of the home, if one runs, else the home itself,
opened in this process. Both speak the newer protocol; requests of older clients are translated here.
"""

import contextlib
import json
import threading
from collections.abc import Callable
from dataclasses import field
from typing import IO, TYPE_CHECKING, Any, cast

from recollectum.domain.records import dataclass
from recollectum.doors.mcp import protocol_versions
from recollectum.doors.mcp.declarations import McpProfile, Wire
from recollectum.doors.mcp.protocol_versions import ClientInfo, ProtocolError

if TYPE_CHECKING:
    from queue import SimpleQueue

#: The only methods that need a vault.
_NEEDS_VAULT = frozenset({"tools/call", "resources/read", "prompts/get"})
#: A person may take a while to answer a question; a tool call has a limit.
_MOST_ROUNDS = 5


class ClientGone(Exception):
    """Raised when the client has disconnected."""


@dataclass(slots=True)
class StdioServer:
    """One client on a pair of pipes."""

    offer: McpProfile
    #: Returns a backend's response to a request of the newer protocol.
    back_end: Callable[[Wire], Wire]
    output: IO[bytes]
    _client: ClientInfo | None = None
    _writing: threading.Lock = field(default_factory=threading.Lock)
    _asked: "dict[str, SimpleQueue[Wire | None]]" = field(default_factory=dict[str, Any])
    _threads: list[threading.Thread] = field(default_factory=list[threading.Thread])
    _questions: int = 0

    def serve(self, lines: IO[bytes]) -> None:
        """Answer until the client closes its end; finish requests in progress."""
        for line in lines:
            if line.strip():
                self._take(line)
        for waiting in list(self._asked.values()):
            waiting.put(None)
        for thread in self._threads:
            thread.join()

    def _take(self, line: bytes) -> None:
        try:
            message: object = json.loads(line)
        except (ValueError, RecursionError):
            return self._fail(None, ProtocolError(protocol_versions.PARSE_ERROR, "this line is not JSON"))
        if not isinstance(message, dict):
            return self._fail(
                None, ProtocolError(protocol_versions.INVALID_REQUEST, "each line must be one JSON-RPC message")
            )
        said = cast("Wire", message)
        if "method" not in said:
            return self._answered(said)
        if "id" not in said:
            # No notification needs an action: lists do not change, and a call is too short to be cancelled.
            return None
        try:
            return self._request(said)
        except ProtocolError as error:
            return self._fail(said["id"], error)

    def _request(self, said: Wire) -> None:
        params = said.get("params")
        if not isinstance(said["method"], str) or (params is not None and not isinstance(params, dict)):
            raise ProtocolError(
                protocol_versions.INVALID_REQUEST, "a request must have a method and an object of parameters"
            )
        request: Wire = {"jsonrpc": "2.0", "id": said["id"], "method": said["method"], "params": params or {}}
        modern = protocol_versions.is_modern(request["params"])
        if request["method"] in _NEEDS_VAULT:
            return self._hand_on(request, modern=modern)
        return self._send({"jsonrpc": "2.0", "id": said["id"], "result": self._at_once(request, modern=modern)})

    def _at_once(self, request: Wire, *, modern: bool) -> Wire:
        """Return what is known without a vault."""
        method = request["method"]
        if method in self.offer.lists:
            if not self.offer.prompts and method == "prompts/list":
                raise ProtocolError(protocol_versions.METHOD_NOT_FOUND, "Method not found")
            found = self.offer.lists[method]
            return protocol_versions.complete_result(found) if modern else found
        match method:
            case "server/discover" if modern:
                return protocol_versions.discover_result(self.offer)
            case "initialize" if not modern:
                self._client = protocol_versions.read_client_info(request["params"])
                return protocol_versions.initialize_result(self.offer, request["params"])
            case "ping" if not modern:
                return {}
            case _:
                raise ProtocolError(protocol_versions.METHOD_NOT_FOUND, "Method not found", {"method": method})

    def _hand_on(self, request: Wire, *, modern: bool) -> None:
        if not modern and self._client is None:
            raise ProtocolError(
                protocol_versions.INVALID_REQUEST, "the connection is not initialized; send initialize first"
            )
        self._threads = [one for one in self._threads if one.is_alive()]
        thread = threading.Thread(target=self._work, args=(request,), kwargs={"modern": modern})
        self._threads.append(thread)
        thread.start()

    def _work(self, request: Wire, *, modern: bool) -> None:
        failed: ProtocolError | None = ProtocolError(protocol_versions.INTERNAL_ERROR, "the server failed; see its log")
        try:
            self._send(self._exchange(request) if modern else self._translate(request))
            failed = None
        except ProtocolError as error:
            failed = error
        except ClientGone:
            failed = None
        finally:
            # Also after an unexpected error: a client must not wait for ever.
            if failed is not None:
                self._fail(request["id"], failed)

    def _exchange(self, request: Wire) -> Wire:
        """Return the backend's response; when there is no backend, say why in a form that a model can read."""
        from recollectum.domain.errors import RecollectumError  # noqa: PLC0415 - not needed to list tools
        from recollectum.doors.mcp.daemon_backend import DaemonConnectionLost  # noqa: PLC0415

        try:
            return {**self.back_end(request), "id": request["id"]}
        except RecollectumError as error:
            said = str(error)
        except DaemonConnectionLost:
            said = "the daemon stopped during this call; check whether it was done before you try again"
        if request["method"] != "tools/call":
            raise ProtocolError(protocol_versions.INTERNAL_ERROR, said)
        told = {"content": [{"type": "text", "text": said}], "isError": True}
        result = protocol_versions.complete_result(told, cacheable=False)
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}

    def _translate(self, request: Wire) -> Wire:
        """Return the response for an older client; questions for the person are sent by us."""
        if self._client is None:
            raise ProtocolError(
                protocol_versions.INVALID_REQUEST, "the connection is not initialized; send initialize first"
            )
        params = protocol_versions.add_envelope(request["params"], self._client)
        for _ in range(_MOST_ROUNDS):
            response = self._exchange({**request, "params": params})
            if "result" not in response:
                return response
            asked = protocol_versions.input_requests(response["result"])
            if not asked:
                return {**response, "result": protocol_versions.strip_envelope(response["result"])}
            params = protocol_versions.add_input_responses(
                params, response["result"], {name: self._ask(one) for name, one in asked.items()}
            )
        raise ProtocolError(protocol_versions.INTERNAL_ERROR, "the same question was asked too often")

    def _ask(self, question: Wire) -> Wire:
        """Send a question to the client, and wait for the person's answer."""
        from queue import SimpleQueue  # noqa: PLC0415 - most connections ask nothing

        waiting: SimpleQueue[Wire | None] = SimpleQueue()
        with self._writing:
            self._questions += 1
            number = f"recollectum-{self._questions}"
        self._asked[number] = waiting
        self._send({"jsonrpc": "2.0", "id": number, "method": question["method"], "params": question["params"]})
        answer = waiting.get()
        if answer is None:
            raise ClientGone
        result = answer.get("result")
        # A client that cannot show the question has no answer.
        return cast("Wire", result) if isinstance(result, dict) else {"action": "cancel"}

    def _answered(self, said: Wire) -> None:
        waiting = self._asked.pop(str(said.get("id")), None)
        if waiting is not None:
            waiting.put(said)

    def _fail(self, id: object, error: ProtocolError) -> None:
        told: Wire = {"code": error.code, "message": str(error)}
        if error.data is not None:
            told["data"] = error.data
        self._send({"jsonrpc": "2.0", "id": id, "error": told})

    def _send(self, message: Wire) -> None:
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        # A client that no longer reads wants no answer.
        with self._writing, contextlib.suppress(BrokenPipeError, ValueError):
            self.output.write(line)
            self.output.flush()
