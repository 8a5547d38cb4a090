"""A server on this machine that answers as OpenAI, Anthropic and Gemini do, with what memory told it of the person."""

import json
import re
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

_RECALLED = re.compile(r"<recalled-(\w+)>(.*?)</recalled-\1>", re.DOTALL)
NOTHING = "I was told nothing."


class Providers:
    """Where the server listens, and what it was asked."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[dict[str, Any]] = []


@contextmanager
def scripted_providers() -> Generator[Providers]:
    """Let the server listen until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    made = Providers(f"http://127.0.0.1:{server.server_port}")
    server.__dict__["providers"] = made
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        cast("Providers", self.server.__dict__["providers"]).asked.append(body)
        data = json.dumps(_answer(self.path, _told(body))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        # No client keeps a connection that nobody closes.
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)


def _told(body: object) -> str:
    """Return the texts that memory recalled, each behind its bar."""
    blocks = [block for text in _texts(body) for _, block in _RECALLED.findall(text)]
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("| ")]
    return "; ".join(line.removeprefix("| ") for line in lines) or NOTHING


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in cast("dict[str, object]", value).values() if isinstance(value, dict) else ():
        yield from _texts(inner)
    for inner in cast("list[object]", value) if isinstance(value, list) else ():
        yield from _texts(inner)


def _answer(path: str, text: str) -> object:
    if path.endswith("/messages"):
        usage = {"input_tokens": 1, "output_tokens": 1}
        made = {"id": "m", "type": "message", "role": "assistant", "model": "scripted", "usage": usage}
        return {**made, "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": None}
    if "enerateContent" in path:
        return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}]}
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "scripted", "choices": [choice]}
