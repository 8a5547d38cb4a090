"""OpenAI Agents SDK: what Ann says in one session is recalled in another one, and Bob does not see it."""

import asyncio
from typing import Any

from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from agents import Agent, Model, ModelResponse, RunContextWrapper, Runner, Usage, set_tracing_disabled
from recollectum import Recollectum, Vault
from recollectum.adapters.openai_agents import RecollectumSession


class Parrot(Model):
    """Stand in for a model: answer with the instructions, which hold what is remembered."""

    async def get_response(self, system_instructions: str | None, *_: object, **__: object) -> ModelResponse:
        """Return the instructions in one line."""
        text = ResponseOutputText(type="output_text", text=repr(system_instructions), annotations=[])
        said = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    stream_response: Any = None


def remembered(wrapper: RunContextWrapper[Vault], _: Agent[Vault]) -> str:
    """Return what was said in all sessions of the person."""
    return "; ".join(hit.text for hit in wrapper.context.recall("colour", speaker="user"))


set_tracing_disabled(True)
agent = Agent("assistant", instructions=remembered, model=Parrot())
with Recollectum.temporary() as home:
    for name, said in (("ann/1", "My colour is teal."), ("ann/2", "Which colour do I like?"), ("bob/1", "Which one?")):
        vault = home.vault(f"user:{name.partition('/')[0]}")
        session = RecollectumSession(name, vault)
        result = asyncio.run(Runner.run(agent, said, session=session, context=vault))
        print(f"{name}: {result.final_output}")
