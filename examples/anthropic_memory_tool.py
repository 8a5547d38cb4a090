"""Anthropic's memory tool: what Claude notes in one conversation is there in another one, and Bob does not see it."""

import json

import httpx2
from anthropic import Anthropic

from recollectum import Recollectum
from recollectum.adapters.anthropic import RecollectumMemoryTool

NOTE = {"command": "create", "path": "/memories/colour.md", "file_text": "Their colour is teal."}
LOOK = {"command": "view", "path": "/memories/colour.md"}


def model(request: httpx2.Request) -> httpx2.Response:
    """Stand in for Claude: note the colour when told, look it up when asked, then repeat what the tool said."""
    said = json.loads(request.content)["messages"][-1]["content"]
    if isinstance(said, str):
        command = LOOK if "?" in said else NOTE
        content, stop = [{"type": "tool_use", "id": "t", "name": "memory", "input": command}], "tool_use"
    else:
        content, stop = [{"type": "text", "text": repr(said[0]["content"])}], "end_turn"
    usage = {"input_tokens": 1, "output_tokens": 1}
    body = {"id": "m", "type": "message", "role": "assistant", "model": "scripted", "usage": usage}
    return httpx2.Response(200, json={**body, "content": content, "stop_reason": stop, "stop_sequence": None})


client = Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(model)))
with Recollectum.temporary() as home:
    for name, said in (("ann/1", "My colour is teal."), ("ann/2", "What is my colour?"), ("bob/1", "And mine?")):
        tool = RecollectumMemoryTool(home.vault(f"user:{name.partition('/')[0]}"))
        runner = client.beta.messages.tool_runner(
            model="scripted", max_tokens=99, tools=[tool], messages=[{"role": "user", "content": said}]
        )
        print(f"{name}: {runner.until_done().content[0].text}")
