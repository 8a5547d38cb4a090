"""Records a conversation and turns it into memories and proposals in one call."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from recollectum.domain.memory import Memory
from recollectum.domain.message import Message, Role
from recollectum.domain.notice import NO_NOTICE, Notice
from recollectum.domain.proposal import Proposal
from recollectum.domain.records import dataclass
from recollectum.domain.session import Session, SessionKey
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories, sessions
from recollectum.storage.tables.content import messages as message_table
from recollectum.storage.tables.learning import proposals, runs
from recollectum.vault.consolidation.job import run_job
from recollectum.vault.consolidation.service import note_job
from recollectum.vault.intake.admitted import AdmittedMessage
from recollectum.vault.intake.chat_messages import read_chat_message
from recollectum.vault.intake.intake import Intake
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.messages import append_messages, begin_session, get_session
from recollectum.vault.runtime import VaultRuntime


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnResult:
    """The result of learning from a conversation."""

    session_id: str
    #: How many messages were recorded; those that were known already are not counted.
    recorded: int = 0
    #: The memories that were written or changed.
    memories: tuple[Memory, ...] = ()
    #: The proposals that wait for a person's decision.
    proposals: tuple[Proposal, ...] = ()
    #: Why the conversation could not be read, if so; it is stored, and read again later.
    trouble: str | None = None
    #: What was done to the texts of the messages and of what was found in them.
    notice: Notice = NO_NOTICE


def learn(
    runtime: VaultRuntime,
    messages: Iterable[Mapping[str, object] | NewMessage],
    place: SessionKey,
    session_id: str | None,
) -> LearnResult:
    """Record the messages, then consolidate the unread part of their session with a language model or by rules."""
    said = [own for one in messages for own in ([one] if isinstance(one, NewMessage) else read_chat_message(one))]

    def record(tx: Tx, reading: ClockReading) -> tuple[Session, int, str | None]:
        session, now = _session(tx, reading), reading.now
        new = _new_ones(tx, session, admitted)
        append_messages(tx, session.id, [one.placed(session.id, runtime.ids("msg"), now) for one in new], now)
        after = get_session(tx, session.id)
        return session, after.message_count - session.message_count, note_job(tx, after, reading, runtime)

    def _session(tx: Tx, reading: ClockReading) -> Session:
        if session_id is not None:
            return get_session(tx, session_id)
        return sessions.find_open(tx, place) or begin_session(tx, place, reading, runtime)

    with Intake(runtime) as intake:
        admitted = [own for one in said if (own := intake.message(one)) is not None]
        session, recorded, job_id = runtime.write(record)
    result = LearnResult(session_id=session.id, recorded=recorded, notice=intake.notice)
    outcome = run_job(runtime, job_id) if job_id else None
    if outcome is None or outcome.run is None:
        return replace(result, trouble=outcome.trouble if outcome else None)
    run_id = outcome.run.id
    read = runtime.read(lambda tx, _: _with_findings(tx, result, run_id))
    return replace(read, notice=intake.notice + outcome.notice)


def _with_findings(tx: Tx, result: LearnResult, run_id: str) -> LearnResult:
    written = dict.fromkeys(one.memory_id for one in runs.effects(tx, run_id))
    return replace(
        result,
        memories=tuple(one for memory_id in written if (one := memories.find(tx, memory_id))),
        proposals=tuple(proposals.of_run(tx, run_id)),
    )


def _new_ones(tx: Tx, session: Session, said: Sequence[AdmittedMessage]) -> Sequence[AdmittedMessage]:
    """Return the messages behind those that the session ends with: programs hand in their whole list every time."""
    begun = next((at for at, one in enumerate(said) if one.message.role is not Role.SYSTEM), len(said))
    rest = said[begun:]
    known = message_table.latest(tx, session.id, before=None, limit=len(rest)) if rest else []
    for count in range(len(known), 0, -1):
        if all(_is_same(old, new.message) for old, new in zip(known[-count:], rest, strict=False)):
            # Instructions before a conversation that is known are not a part of what is new in it.
            return rest[count:]
    return said


def _is_same(old: Message, new: Message) -> bool:
    if new.native_id is not None:
        return new.native_id == old.native_id
    calls = [[(call.name, call.args) for call in one.tool_calls] for one in (old, new)]
    return (old.role, old.text) == (new.role, new.text) and calls[0] == calls[1]
