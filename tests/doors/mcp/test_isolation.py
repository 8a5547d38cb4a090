"""Over MCP as everywhere: a key opens its person's vault and no other, and no key opens nothing."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.doors.mcp.served import MODES, TOKEN, Served, over_http, run, serving

pytestmark = [pytest.mark.loopback, pytest.mark.feature("A12")]

BODY = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def _post(served: Served, path: str = "/mcp", **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.post(served.url + path, json=BODY, headers={**ACCEPT, **named})


def test_without_a_key_or_with_a_wrong_one_nothing_is_said(tmp_path: Path) -> None:
    with serving(tmp_path / "home") as served:
        revoked = served.new_key("user:alice")
        for one in served.home.keys.list():
            served.home.keys.revoke(one.id)
        for path in ("/mcp", "/mcp/graph"):
            for secret in (None, "Bearer wrong", f"Bearer {revoked}", f"Basic {revoked}", "Bearer"):
                answer = _post(served, path, **({"Authorization": secret} if secret else {}))
                assert answer.status_code == 401, (path, secret)
                assert answer.headers["www-authenticate"].startswith("Bearer")
                assert "remember" not in answer.text


@pytest.mark.parametrize("mode", MODES)
def test_a_foreign_key_sees_nothing(mode: str, tmp_path: Path) -> None:
    async def work() -> None:
        async with over_http(served.url, alice, mode) as hers:
            saved = await hers.call_tool("remember", {"content": "Alice hides the oolong."})
            assert saved.structured_content is not None
            kept = saved.structured_content["memory"]["id"]
            talks = (await hers.call_tool("sessions", {})).structured_content
            assert talks is not None
            talk = talks["sessions"][0]["id"]
        async with over_http(served.url, bob, mode) as his:
            for tool, arguments in (("recall", {"query": "oolong"}), ("context", {"query": "oolong"}), ("list", {})):
                assert "oolong" not in str(await his.call_tool(tool, arguments))
            for tool, arguments in (("forget", {"id": kept}), ("sessions", {"session_id": talk})):
                refused = await his.call_tool(tool, arguments)
                assert refused.is_error
                assert "oolong" not in str(refused)
            for uri in (f"memory://{kept}", f"session://{talk}"):
                with pytest.raises(Exception, match="no such resource"):
                    await his.read_resource(uri)
        async with over_http(served.url, alice, mode) as hers:
            assert "oolong" in str(await hers.call_tool("recall", {"query": "oolong"}))

    with serving(tmp_path / "home") as served:
        alice, bob = served.new_key("user:alice"), served.new_key("user:bob")
        run(work)


def test_a_session_of_the_protocol_is_of_no_use_to_another_key(tmp_path: Path) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
    }
    with serving(tmp_path / "home") as served:
        alice, bob = (
            {**ACCEPT, "Authorization": f"Bearer {served.new_key(one)}"} for one in ("user:alice", "user:bob")
        )
        begun = httpx2.post(f"{served.url}/mcp", json=hello, headers=alice)
        session = {"Mcp-Session-Id": begun.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
        assert httpx2.post(f"{served.url}/mcp", json=BODY, headers={**bob, **session}).status_code == 404
        assert httpx2.delete(f"{served.url}/mcp", headers={**bob, **session}).status_code == 404
        assert httpx2.post(f"{served.url}/mcp", json=BODY, headers={**alice, **session}).status_code == 200


def test_a_key_that_may_only_read_does_not_remember(tmp_path: Path) -> None:
    async def work() -> None:
        async with over_http(served.url, key, "auto") as client:
            refused = await client.call_tool("remember", {"content": "no"})
            assert refused.is_error
            assert not (await client.call_tool("list", {})).is_error

    with serving(tmp_path / "home") as served:
        key = served.new_key("user:alice", "read")
        run(work)


def test_the_local_token_acts_for_the_person_it_names(tmp_path: Path) -> None:
    call: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "list",
            "arguments": {},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    }
    headers = {
        **ACCEPT,
        "Authorization": f"Bearer {TOKEN}",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "list",
    }
    with serving(tmp_path / "home") as served:
        served.home.vault("user:alice").memories.save("Alice hides the oolong.")
        asked = {one: {**headers, "Recollectum-User": one} for one in ("alice", "bob")}
        hers, his = (httpx2.post(f"{served.url}/mcp", json=call, headers=asked[one]) for one in ("alice", "bob"))
        assert "oolong" in hers.text
        assert "oolong" not in his.text
        nobody = httpx2.post(f"{served.url}/mcp", json=call, headers=headers).json()
        assert nobody["result"]["isError"] is True
        assert "Recollectum-User" in str(nobody)


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [("Host", "evil.example", 421), ("Origin", "http://evil.example", 403), ("Content-Type", "text/plain", 415)],
)
def test_the_guard_stands_before_it(header: str, value: str, status: int, tmp_path: Path) -> None:
    with serving(tmp_path / "home") as served:
        key = served.new_key("user:alice")
        assert _post(served, **{header: value, "Authorization": f"Bearer {key}"}).status_code == status
