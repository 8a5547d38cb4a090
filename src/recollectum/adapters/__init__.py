"""Lets the memory and state interfaces of agent frameworks write to a vault; each is imported on its own.

documents  JSON documents as keyed memories, which several adapters share
langgraph  the store and the checkpointer of LangGraph
"""
