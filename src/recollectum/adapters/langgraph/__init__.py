"""Lets LangGraph keep its state in a vault.

store       a `BaseStore`: items under namespaces, found by words and by meaning
filters     which values and namespaces a search takes
saver       a checkpointer
awaited     its methods, awaited
pruning     which records stay when checkpoints are destroyed
thread_log  the records of threads, as messages of sessions
"""

from recollectum.adapters.langgraph.saver import RecollectumSaver
from recollectum.adapters.langgraph.store import RecollectumStore

__all__ = ["RecollectumSaver", "RecollectumStore"]
