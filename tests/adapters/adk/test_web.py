"""`adk web` with our services in `services.yaml` remembers what a user said after a kill, and tells nobody else."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from socket import create_server
from typing import Any, cast

import pytest

from recollectum import Recollectum

pytestmark = [pytest.mark.process, pytest.mark.loopback]

_SERVICES = """
services:
  - {scheme: recollectum, type: session, class: recollectum.adapters.adk.RecollectumSessionService}
  - {scheme: recollectum, type: memory, class: recollectum.adapters.adk.RecollectumMemoryService}
"""
# Its model answers with the texts that it is given.
_AGENT = """
from typing import ClassVar

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.models._capabilities import LlmCapabilities
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai.types import Content, Part


class Parrot(BaseLlm):
    capabilities: ClassVar = LlmCapabilities(output_schema_and_tools=True)

    async def generate_content_async(self, llm_request, **_):
        told = " | ".join(part.text or "" for content in llm_request.contents for part in content.parts)
        yield LlmResponse(content=Content(role="model", parts=[Part(text=told)]))


root_agent = LlmAgent(name="demo", model=Parrot(model="parrot"), tools=[PreloadMemoryTool()])
"""
_PATIENCE = 90.0


class _Web:
    """A running `adk web`."""

    def __init__(self, url: str) -> None:
        self._url = url

    def says(self, user: str, session: str, text: str, *, is_new: bool = True) -> str:
        """Say something in a session, and return the answer."""
        if is_new:
            self.call(f"/apps/demo/users/{user}/sessions/{session}", {})
        message = {"role": "user", "parts": [{"text": text}]}
        given = {"app_name": "demo", "user_id": user, "session_id": session, "new_message": message}
        return str(self.call("/run", given)[-1]["content"]["parts"][0]["text"])

    def call(self, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        """Send a request, and return the JSON of the answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            return json.load(answer)


@contextmanager
def _web(place: Path) -> Generator[_Web]:
    """Run `adk web` until the end of the block, and kill it there."""
    with create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    uri = f"recollectum://{place}/home"
    adk = Path(sys.executable).with_name("adk")
    command = [adk, "web", place / "agents", "--port", str(port), "--session_service_uri", uri]
    environ = {**os.environ, "HOME": str(place)}
    with (
        (place / "log").open("wb") as log,
        subprocess.Popen([*command, "--memory_service_uri", uri], stdout=log, stderr=log, env=environ) as running,
    ):
        try:
            web, end = _Web(f"http://127.0.0.1:{port}"), time.monotonic() + _PATIENCE
            while running.poll() is None:
                try:
                    web.call("/list-apps")
                    break
                except urllib.error.URLError:
                    assert time.monotonic() < end, (place / "log").read_text()
                    time.sleep(0.2)
            assert running.poll() is None, (place / "log").read_text()
            yield web
        finally:
            running.kill()


def test_adk_web_keeps_sessions_and_memory_in_the_vault_of_each_user(tmp_path: Path) -> None:
    (tmp_path / "agents" / "demo").mkdir(parents=True)
    (tmp_path / "agents" / "services.yaml").write_text(_SERVICES)
    (tmp_path / "agents" / "demo" / "__init__.py").touch()
    (tmp_path / "agents" / "demo" / "agent.py").write_text(_AGENT)
    with _web(tmp_path) as web:
        # What was just said is no memory for the answer to it.
        assert web.says("ann", "one", "My favourite colour is teal.") == "My favourite colour is teal."
    with _web(tmp_path) as web:
        # Of another session, told by another program, and only to the person who said it.
        assert "teal" in web.says("ann", "two", "What is my favourite colour?")
        assert "teal" not in web.says("bob", "three", "What is my favourite colour?")
        listed = cast("list[dict[str, object]]", web.call("/apps/demo/users/ann/sessions"))
        assert sorted(str(one["id"]) for one in listed) == ["one", "two"]
        # An answer to what was said in this session before the kill.
        assert "teal" in web.says("ann", "one", "Say it again.", is_new=False)
        first = cast("dict[str, Any]", web.call("/apps/demo/users/ann/sessions/one"))
        assert [event["author"] for event in first["events"]] == ["user", "demo"] * 2
    with Recollectum(tmp_path / "home") as home:
        assert "My favourite colour is teal." in [hit.text for hit in home.vault("user:ann").recall("favourite colour")]
        assert len(home.vault("user:bob").sessions.list()) == 1
