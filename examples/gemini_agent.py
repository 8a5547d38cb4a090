"""An agent with memory on Gemini: what Ann says is known in her next conversation, and not to Bob."""

import os

from google import genai

from recollectum import Recollectum

client = genai.Client()  # reads GEMINI_API_KEY
MODEL = os.environ.get("GEMINI_MODEL", "gemini-2.5-flash")
SYSTEM = "You are a helpful assistant."


def reply(home: Recollectum, person: str, conversation: str, said: str) -> str:
    """Answer one message with what is known about the person, and learn from the exchange."""
    vault = home.vault(f"user:{person}")
    chat = vault.sessions.open(channel=conversation)
    context = vault.context(said, session_id=chat.id)
    answer = client.models.generate_content(model=MODEL, **context.to_gemini(SYSTEM, said))
    text = answer.text or ""
    vault.learn([{"role": "user", "content": said}, {"role": "assistant", "content": text}], session_id=chat.id)
    return text


if __name__ == "__main__":
    with Recollectum.temporary() as home:
        for name, said in (("ann/1", "My colour is teal."), ("ann/2", "What is my colour?"), ("bob/1", "And mine?")):
            person, _, conversation = name.partition("/")
            print(f"{name}: {reply(home, person, conversation, said)}")
