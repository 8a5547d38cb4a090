"""Has the Python face of mem0 on vaults; it needs no package.

memory    the methods of mem0's `Memory`
entities  users, agents, apps and runs that have memories
shelf     the vault of a request, and the memories in it
records   a memory in the shapes of mem0
filters   which memories a filter takes
"""

from recollectum.adapters.mem0.memory import RecollectumMemory

__all__ = ["RecollectumMemory"]
