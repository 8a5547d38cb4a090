"""An agent with memory on Gemini, awaited: what Ann says is known in her next conversation, and not to Bob."""

import asyncio
import os

from google import genai

from recollectum.aio import AsyncRecollectum

client = genai.Client()  # reads GEMINI_API_KEY
MODEL = os.environ.get("GEMINI_MODEL", "gemini-2.5-flash")
SYSTEM = "You are a helpful assistant."


async def reply(home: AsyncRecollectum, person: str, conversation: str, said: str) -> str:
    """Answer one message with what is known about the person, and learn from the exchange."""
    vault = await home.vault(f"user:{person}")
    chat = await vault.sessions.open(channel=conversation)
    context = await vault.context(said, session_id=chat.id)
    answer = await client.aio.models.generate_content(model=MODEL, **context.to_gemini(SYSTEM, said))
    text = answer.text or ""
    await vault.learn([{"role": "user", "content": said}, {"role": "assistant", "content": text}], session_id=chat.id)
    return text


async def main() -> None:
    """Let Ann tell something in one conversation and ask in another, and let Bob ask too."""
    async with AsyncRecollectum.temporary() as home:
        for name, said in (("ann/1", "My colour is teal."), ("ann/2", "What is my colour?"), ("bob/1", "And mine?")):
            person, _, conversation = name.partition("/")
            print(f"{name}: {await reply(home, person, conversation, said)}")


if __name__ == "__main__":
    asyncio.run(main())
