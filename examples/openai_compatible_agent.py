"""An agent with memory on any OpenAI-compatible server: what Ann says is known in her next conversation, not to Bob."""

import os

from openai import OpenAI

from recollectum import Recollectum

# Ollama, llama.cpp, vLLM, LM Studio, OpenRouter …
client = OpenAI(
    base_url=os.environ.get("MODEL_URL", "http://127.0.0.1:11434/v1"), api_key=os.environ.get("MODEL_KEY", "none")
)
MODEL = os.environ.get("MODEL_NAME", "qwen3:8b")
SYSTEM = "You are a helpful assistant."


def reply(home: Recollectum, person: str, conversation: str, said: str) -> str:
    """Answer one message with what is known about the person, and learn from the exchange."""
    vault = home.vault(f"user:{person}")
    chat = vault.sessions.open(channel=conversation)
    context = vault.context(said, session_id=chat.id)
    answer = client.chat.completions.create(model=MODEL, messages=context.to_openai(SYSTEM, said))
    text = answer.choices[0].message.content or ""
    vault.learn([{"role": "user", "content": said}, {"role": "assistant", "content": text}], session_id=chat.id)
    return text


if __name__ == "__main__":
    with Recollectum.temporary() as home:
        for name, said in (("ann/1", "My colour is teal."), ("ann/2", "What is my colour?"), ("bob/1", "And mine?")):
            person, _, conversation = name.partition("/")
            print(f"{name}: {reply(home, person, conversation, said)}")
