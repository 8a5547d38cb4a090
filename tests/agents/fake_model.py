"""A model that follows a script, on this machine, in the protocols that agents speak to their providers.

Its replies depend on the last words of the person alone: `CALL name {json}` calls the tool whose name ends so, and
after the tool has answered, or without such words, it says a sentence. Everything that it is sent is kept.
"""

import json
import re
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

SAYS = "Hello from the scripted model."
_CALL = re.compile(r"CALL (?P<tool>\w+) (?P<arguments>\{[^{}]*\})")
_USAGE = {"input_tokens": 12, "output_tokens": 9}

Object = dict[str, Any]


class FakeModel:
    """What was asked of the model, and where it listens."""

    def __init__(self, url: str, says: Callable[[Object], str] = lambda _: SAYS) -> None:
        self.url = url
        #: Its sentence in Anthropic's protocol, by the request.
        self.says = says
        self.requests: list[tuple[str, Object]] = []

    def bodies(self) -> str:
        """Everything it was sent, as one text."""
        return "\n".join(json.dumps(body, ensure_ascii=False) for _, body in self.requests)

    def tools(self) -> set[str]:
        """Every tool that any request offered."""
        return {name for _, body in self.requests for name, _ in _offered(body)}


@contextmanager
def fake_model(says: Callable[[Object], str] = lambda _: SAYS) -> Generator[FakeModel]:
    """The model, listening on a port of its own until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    model = FakeModel(f"http://127.0.0.1:{server.server_port}", says)
    server.__dict__["model"] = model
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _offered(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The tools of a request: the name to call it by, and its namespace where there is one."""
    for tool in cast("Sequence[Object]", body.get("tools") or ()):
        if "functionDeclarations" in tool:
            yield from ((one["name"], "") for one in tool["functionDeclarations"])
        elif "function" in tool:
            yield tool["function"]["name"], ""
        elif tool.get("type") == "namespace":
            yield from ((one["name"], tool["name"]) for one in tool.get("tools", ()))
        elif "name" in tool:
            yield tool["name"], ""


def _wanted(body: Mapping[str, Any]) -> tuple[str, str, Object] | None:
    """The call that the script wants now: the tool's name, its namespace and its arguments."""
    said = cast("Sequence[Object]", body.get("messages") or body.get("input") or body.get("contents") or ())
    # What came after the person's last words that hold a call: where a tool has answered, the call is done.
    found: re.Match[str] | None = None
    for message in said if isinstance(said, list) else ():
        text = json.dumps(message, ensure_ascii=False)
        if re.search(r'"tool_result"|function_call_output|functionResponse|"role": "tool"', text):
            found = None
        elif message.get("role") == "user":
            plain = text.replace('\\\\"', '"').replace('\\"', '"')
            found = _CALL.search(plain) or found
    if found is None:
        return None
    for name, namespace in _offered(body):
        if name.split("__")[-1].endswith(found["tool"]) and "recollectum" in f"{namespace}{name}":
            return name, namespace, json.loads(found["arguments"])
    return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._json({})

    def do_GET(self) -> None:
        listed = {"object": "list", "data": [{"id": "fake-model", "object": "model"}], "models": []}
        self._json(listed if "/models" in self.path else {})

    def do_POST(self) -> None:
        body = self._body()
        path = self.path.partition("?")[0]
        model = cast("FakeModel", self.server.__dict__["model"])
        model.requests.append((path, body))
        call = _wanted(body)
        if path.endswith("/count_tokens"):
            self._json({"input_tokens": 10})
        elif path.endswith("/messages"):
            self._stream(_anthropic(body, call, model.says(body)), body)
        elif path.endswith("/responses"):
            self._stream(_responses(call), body)
        elif path.endswith("/chat/completions"):
            self._stream(_chat(call), body, named=False)
        elif "enerateContent" in path:
            self._gemini(path, body, call)
        else:
            self._json({"totalTokens": 10})

    def _body(self) -> Object:
        if self.headers.get("Transfer-Encoding") == "chunked":
            data = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            found: object = json.loads(data or b"{}")
        except ValueError:
            return {}
        return cast("Object", found) if isinstance(found, dict) else {}

    def _json(self, document: object) -> None:
        data = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, events: Sequence[Object | str], body: Mapping[str, Any], *, named: bool = True) -> None:
        if not body.get("stream"):
            self._json(_whole(events))
            return
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            if named and isinstance(event, dict):
                self.wfile.write(f"event: {event['type']}\n".encode())
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()

    def _gemini(self, path: str, body: Mapping[str, Any], call: tuple[str, str, Object] | None) -> None:
        as_json = "application/json" in json.dumps(body.get("generationConfig", {}))
        judged = '{"reasoning": "x", "next_speaker": "user", "complexity_reasoning": "x", "complexity_score": 1}'
        said: Object = {"text": judged if as_json else SAYS}
        part = {"functionCall": {"name": call[0], "args": call[2]}} if call else said
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": 12, "candidatesTokenCount": 9, "totalTokenCount": 21}
        reply = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}
        if ":stream" in path:
            self._stream([reply], {"stream": True}, named=False)
        else:
            self._json(reply)


def _whole(events: Sequence[Object | str]) -> object:
    last = [one for one in events if isinstance(one, dict)][-1]
    return last.get("response") or last.get("message") or last


def _anthropic(body: Mapping[str, Any], call: tuple[str, str, Object] | None, said: str) -> list[Object | str]:
    message: Object = {
        "id": "msg_fake",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "x"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**_USAGE, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
    }
    if call:
        block: Object = {"type": "tool_use", "id": f"toolu_{len(str(body))}", "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[2])}
        full = {**block, "input": call[2]}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": said}
        full = {"type": "text", "text": said}
    reason = "tool_use" if call else "end_turn"
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": _USAGE},
        {"type": "message_stop", "message": {**message, "content": [full], "stop_reason": reason}},
    ]


def _responses(call: tuple[str, str, Object] | None) -> list[Object | str]:
    if call:
        item: Object = {
            "type": "function_call",
            "id": "fc_fake",
            "call_id": "call_fake",
            "name": call[0],
            "arguments": json.dumps(call[2]),
            "status": "completed",
            **({"namespace": call[1]} if call[1] else {}),
        }
    else:
        said: Object = {"type": "output_text", "text": SAYS, "annotations": []}
        item = {"type": "message", "id": "msg_fake", "role": "assistant", "status": "completed", "content": [said]}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    done = {"id": "resp_fake", "object": "response", "status": "completed", "output": [item]}
    return [
        {"type": "response.created", "response": {**done, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {**done, "usage": {**_USAGE, **details, "total_tokens": 21}}},
    ]


def _chat(call: tuple[str, str, Object] | None) -> list[Object | str]:
    base: Object = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "fake-model"}
    if call:
        function = {"name": call[0], "arguments": json.dumps(call[2])}
        delta: Object = {"tool_calls": [{"index": 0, "id": "call_fake", "type": "function", "function": function}]}
    else:
        delta = {"content": SAYS}
    usage = {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}
    return [
        {**base, "choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}]},
        {**base, "choices": [], "usage": usage},
        "[DONE]",
    ]
