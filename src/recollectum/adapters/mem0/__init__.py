"""Has the Python face of mem0 on vaults; it needs no package.

memory   the methods of mem0's `Memory`
filters  which memories a filter takes
"""

from recollectum.adapters.mem0.memory import RecollectumMemory

__all__ = ["RecollectumMemory"]
