"""Records in an agent's session that it used a tool, in the transaction that writes what the tool saves."""

from dataclasses import replace

from recollectum.domain.message import ToolCall, ToolStatus, ToolUse
from recollectum.domain.trust import Trust, least_trusted
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import sessions
from recollectum.vault.intake.draft import check_shared_trust
from recollectum.vault.messages import NewMessage, append_message, begin_session, direct_key, to_message
from recollectum.vault.runtime import VaultRuntime


def record_tool_use(tx: Tx, use: ToolUse, reading: ClockReading, runtime: VaultRuntime) -> str:
    """The id of a message that says this assistant used a tool: what it saves is believed no more than that.

    The message has no text, so that recall does not find everything twice.
    """
    key = direct_key(use.agent, use.channel, runtime)
    session = sessions.find_open(tx, key) or begin_session(tx, key, reading, runtime)
    call = ToolCall(id=use.tool, name=use.tool, status=ToolStatus.COMPLETE)
    said = NewMessage(role="assistant", content="", tool_calls=(call,))
    made = to_message(said, session.id, runtime.ids("msg"), reading.now)
    if not runtime.gate.own:
        made = replace(made, trust=least_trusted(made.trust, Trust.UNKNOWN))
    check_shared_trust(runtime.gate.owner, made.trust)
    return append_message(tx, made, reading.now).id
