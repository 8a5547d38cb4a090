"""Records in an agent's session that it used a tool, in the transaction that writes what the tool saves."""

from recollectum.domain.message import ToolCall, ToolStatus, ToolUse
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import sessions
from recollectum.vault.intake.admitted import AdmittedMessage
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.messages import append_message, begin_session, direct_key
from recollectum.vault.runtime import VaultRuntime


def tool_use_message(use: ToolUse) -> NewMessage:
    """Return the message that records an assistant's use of a tool; it limits the trust of what the tool saves.

    It has no text, so that recall does not find everything twice.
    """
    call = ToolCall(id=use.tool, name=use.tool, status=ToolStatus.COMPLETE)
    return NewMessage(role="assistant", content="", tool_calls=(call,))


def record_tool_use(
    tx: Tx, use: ToolUse, admitted: AdmittedMessage, reading: ClockReading, runtime: VaultRuntime
) -> str:
    """Write that message into the session of its agent; return its id."""
    key = direct_key(use.agent, use.channel, runtime)
    session = sessions.find_open(tx, key) or begin_session(tx, key, reading, runtime)
    return append_message(tx, admitted.placed(session.id, runtime.ids("msg"), reading.now), reading.now).id
