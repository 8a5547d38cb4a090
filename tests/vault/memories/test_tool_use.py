"""The use of a tool and the memory it saves are written together or not at all, in one transaction behind one gate."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from recollectum import Denied, Draft, InvalidInput, Recollectum, StepRefused, ToolUse, Trust, Vault
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.vault.runtime import VaultRuntime

USE = ToolUse(tool="remember", agent="helper", channel="mcp")


def test_the_memory_comes_from_the_message_that_records_the_tool(vault: Vault) -> None:
    memory = vault.memories.save("Ann likes tea.", said_by=USE).memory
    (session,) = vault.sessions.list()
    (message,) = vault.sessions.chat(session.id).messages()
    assert str(session.key) == "agent:helper:mcp:direct"
    assert (message.text, [call.name for call in message.tool_calls]) == ("", ["remember"])
    assert (memory.message_id, memory.agent, memory.trust) == (message.id, "helper", Trust.ASSISTANT)


def test_many_memories_share_one_message(vault: Vault) -> None:
    saved = vault.memories.save_many([Draft(content="one"), Draft(content="two")], said_by=USE)
    again = vault.memories.save("three", said_by=USE)
    (session,) = vault.sessions.list()
    assert session.message_count == 2
    assert saved[0].memory.message_id == saved[1].memory.message_id != again.memory.message_id


@pytest.mark.parametrize(
    "wrong",
    [
        [Draft(content="   ")],
        [Draft(content="tea", importance=2)],
        [Draft(content="tea", ttl=timedelta.max)],
        [Draft(content="tea"), Draft(content="")],
    ],
)
def test_a_refused_memory_leaves_no_trace_in_the_session(vault: Vault, wrong: list[Draft]) -> None:
    with pytest.raises(InvalidInput):
        vault.memories.save_many(wrong, said_by=USE)
    assert not vault.sessions.list()
    assert not vault.memories.list()
    assert not vault.admin.events.list()


def test_the_gate_refuses_both_at_once(home: Recollectum) -> None:
    home.vault("user:alice")
    reader = home.login(home.keys.add("user:alice", permissions=("read",))[1]).vault("user:alice")
    with pytest.raises(Denied, match="may not do this"):
        reader.memories.save("tea", said_by=USE)
    assert not home.vault("user:alice").sessions.list()


def test_it_is_one_transaction(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.memories.save("the vault is open", said_by=USE)
    written: list[str] = []
    write = VaultRuntime.write

    def counted(self: VaultRuntime, work: Callable[[Tx, ClockReading], Any], *, frees: bool = False) -> object:
        written.append("write")
        return write(self, work, frees=frees)

    monkeypatch.setattr(VaultRuntime, "write", counted)
    vault.memories.save("Ann likes tea.", said_by=USE)
    assert written == ["write"]


def test_memories_are_found_by_the_beginning_of_their_keys(vault: Vault) -> None:
    for key in ("graph_a", "graph_b", "grapha", "graph_z9", "other"):
        vault.memories.save(f"under {key}", key=key)
    vault.memories.save("under no key")
    vault.memories.forget(vault.memories.save("gone", key="graph_gone").id)
    found = vault.memories.list(key_prefix="graph_")
    assert [one.key for one in found] == ["graph_z9", "graph_b", "graph_a"]
    assert [one.key for one in vault.memories.list(key_prefix="graph_", cursor=found[0].id, limit=1)] == ["graph_b"]
    with pytest.raises(StepRefused, match="use active"):
        vault.memories.list(key_prefix="graph_", state="archived")
