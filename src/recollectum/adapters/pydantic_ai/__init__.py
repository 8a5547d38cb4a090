"""The conversation store and a capability of Pydantic AI.

capability  recalls before each model call, with tools to recall and remember
store       keeps conversations as sessions
"""

from recollectum.adapters.pydantic_ai.capability import RecollectumCapability
from recollectum.adapters.pydantic_ai.store import RecollectumConversationStore

__all__ = ("RecollectumCapability", "RecollectumConversationStore")
