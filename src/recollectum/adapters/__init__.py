"""Lets the memory and state interfaces of agent frameworks write to a vault; each is imported on its own.

langgraph      the store and the checkpointer of LangGraph
openai_agents  the session of the OpenAI Agents SDK
anthropic      the memory tool of Anthropic's API
claude_agent   the hooks and the session store of the Claude Agent SDK
llama_index    the chat store and a memory block of LlamaIndex
pydantic_ai    the conversation store and a capability of Pydantic AI
adk            the session and memory services of the Agent Development Kit
a2a            the task store of A2A servers
mem0           the Python face of mem0
documents      JSON documents as keyed memories
session_log    conversations of a framework as sessions
redacted_items items of a conversation without the secrets in their texts
packing        program state as JSON numbers
"""
