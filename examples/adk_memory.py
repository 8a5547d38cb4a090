"""Agent Development Kit: what Ann says in one session is recalled in another one, and Bob does not see it."""

import asyncio
from typing import Any, ClassVar

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.models._capabilities import LlmCapabilities
from google.adk.runners import Runner
from google.genai.types import Content, Part

from recollectum import Recollectum
from recollectum.adapters.adk import RecollectumMemoryService, RecollectumPlugin, RecollectumSessionService


class Parrot(BaseLlm):
    """Stand in for a model: answer with the instructions, which hold what is remembered."""

    capabilities: ClassVar = LlmCapabilities(output_schema_and_tools=True)

    async def generate_content_async(self, llm_request: LlmRequest, **_: object) -> Any:  # noqa: ANN401
        """Return the instructions in one line."""
        told = repr(llm_request.config.system_instruction)
        yield LlmResponse(content=Content(role="model", parts=[Part(text=told)]))


with Recollectum.temporary() as home:
    memory, sessions = RecollectumMemoryService(home), RecollectumSessionService(home)
    agent = LlmAgent(name="root", model=Parrot(model="parrot"))
    app = App(name="demo", root_agent=agent, plugins=[RecollectumPlugin(memory)])
    runner = Runner(app=app, session_service=sessions, memory_service=memory, auto_create_session=True)
    for name, said in (("ann/1", "My colour is teal."), ("ann/2", "What is my colour?"), ("bob/1", "And my colour?")):
        events = asyncio.run(runner.run_debug(said, user_id=name.partition("/")[0], session_id=name, quiet=True))
        print(f"{name}: {events[-1].content.parts[0].text}")
