"""No adapter is loaded unasked, none loads another or its framework, and each costs little beyond its framework."""

from pathlib import Path

import pytest

from tests.shape.yardstick import best_and_limit, run

pytestmark = pytest.mark.process

#: Each adapter, and the imports of its framework that it needs.
FRAMEWORKS = {
    "recollectum.adapters.langgraph": "import langgraph.store.base, langgraph.checkpoint.base",
    "recollectum.adapters.adk": (
        "import google.adk.memory, google.adk.sessions.base_session_service, google.adk.plugins.base_plugin"
    ),
    "recollectum.adapters.a2a": "import a2a.server.tasks.task_store, a2a.utils.task, google.protobuf.json_format",
    "recollectum.adapters.anthropic": "import anthropic.lib.tools, anthropic.types.beta",
    "recollectum.adapters.claude_agent": "import claude_agent_sdk.types",
    "recollectum.adapters.llama_index": "import llama_index.core.memory",
    "recollectum.adapters.mem0": "import datetime, uuid",
    "recollectum.adapters.pydantic_ai": (
        "import pydantic_ai.capabilities, pydantic_ai.conversation_store, pydantic_ai.toolsets"
    ),
    "recollectum.adapters.openai_agents": "import asyncio",
}
#: CPU seconds that an adapter may add to its framework and to `from recollectum import Recollectum`.
BUDGET_S = 0.030
# urllib3 binds a socket when it is imported, to see whether there is IPv6.
_NO_IPV6 = "import socket; socket.has_ipv6 = False"
_ADDED = f"""
{_NO_IPV6}
import time
{{framework}}
from recollectum import Recollectum
before = time.process_time()
import {{adapter}}
print(time.process_time() - before)
"""


def test_recollectum_loads_no_adapter_and_no_framework(tmp_path: Path) -> None:
    loaded = run(
        "import sys; from recollectum import Recollectum; import recollectum.aio; print(*sys.modules)", tmp_path
    )
    names = set(loaded.split())
    assert not [name for name in names if name.startswith("recollectum.adapters")]
    assert (
        not {
            "langgraph",
            "langchain_core",
            "agents",
            "anthropic",
            "claude_agent_sdk",
            "google.adk",
            "llama_index",
            "mem0",
            "pydantic_ai",
        }
        & names
    )


@pytest.mark.parametrize("adapter", FRAMEWORKS)
def test_an_adapter_loads_no_other_one(adapter: str, tmp_path: Path) -> None:
    loaded = set(run(f"{_NO_IPV6}; import sys, {adapter}; print(*sys.modules)", tmp_path).split())
    others = {other for other in FRAMEWORKS if other != adapter}
    assert adapter in loaded
    assert not others & loaded


@pytest.mark.parametrize("adapter", FRAMEWORKS)
def test_an_adapter_adds_little_to_its_framework(adapter: str, tmp_path: Path) -> None:
    code = _ADDED.format(framework=FRAMEWORKS[adapter], adapter=adapter)
    taken, limit = best_and_limit(lambda: float(run(code, tmp_path)), BUDGET_S, tmp_path)
    assert taken <= limit
