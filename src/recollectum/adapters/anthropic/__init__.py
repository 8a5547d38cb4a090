"""Lets the memory tool of Anthropic's API keep its files in a vault.

memory_tool   the tool for Anthropic's SDK
memory_files  the commands of the tool, without the SDK
"""

from recollectum.adapters.anthropic.memory_tool import AsyncRecollectumMemoryTool, RecollectumMemoryTool

__all__ = ["AsyncRecollectumMemoryTool", "RecollectumMemoryTool"]
