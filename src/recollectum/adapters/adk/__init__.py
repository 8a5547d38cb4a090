"""Lets the Agent Development Kit keep its sessions and its memory in vaults.

sessions   the session service
memory     the memory service
plugin     records and recalls without a tool
events     what a vault keeps of an event
sharing    a record and the shared state that it changes, as one step
state_log  the state of sessions, users and apps
homes      the home of a service, and whose vault it writes to
"""

from recollectum.adapters.adk.memory import RecollectumMemoryService
from recollectum.adapters.adk.plugin import RecollectumPlugin
from recollectum.adapters.adk.sessions import RecollectumSessionService

__all__ = ["RecollectumMemoryService", "RecollectumPlugin", "RecollectumSessionService"]
