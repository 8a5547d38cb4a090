"""Records a conversation and turns it into memories and proposals in one call."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import parse_enum
from recollectum.domain.memory import Memory
from recollectum.domain.message import Part, Role
from recollectum.domain.notice import NO_NOTICE, Notice
from recollectum.domain.proposal import Proposal
from recollectum.domain.records import dataclass
from recollectum.domain.session import Session, SessionKey
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories, sessions
from recollectum.storage.tables.learning import proposals, runs
from recollectum.vault.consolidation.job import run_job
from recollectum.vault.consolidation.service import note_job
from recollectum.vault.intake.intake import Intake
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.messages import append_messages, begin_session, get_session
from recollectum.vault.runtime import VaultRuntime


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnResult:
    """The result of learning from a conversation."""

    session_id: str
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
    said = [one if isinstance(one, NewMessage) else to_new_message(one) for one in messages]

    def record(tx: Tx, reading: ClockReading) -> tuple[str, str | None]:
        session = _session(tx, reading)
        now = reading.now
        append_messages(tx, session.id, [one.placed(session.id, runtime.ids("msg"), now) for one in admitted], now)
        return session.id, note_job(tx, get_session(tx, session.id), reading, runtime)

    def _session(tx: Tx, reading: ClockReading) -> Session:
        if session_id is not None:
            return get_session(tx, session_id)
        return sessions.find_open(tx, place) or begin_session(tx, place, reading, runtime)

    with Intake(runtime) as intake:
        admitted = [own for one in said if (own := intake.message(one)) is not None]
        found, job_id = runtime.write(record)
    outcome = run_job(runtime, job_id) if job_id else None
    if outcome is None or outcome.run is None:
        return LearnResult(session_id=found, trouble=outcome.trouble if outcome else None, notice=intake.notice)
    run_id = outcome.run.id
    result = runtime.read(lambda tx, _: _result(tx, found, run_id))
    return replace(result, notice=intake.notice + outcome.notice)


def _result(tx: Tx, session_id: str, run_id: str) -> LearnResult:
    written = dict.fromkeys(one.memory_id for one in runs.effects(tx, run_id))
    return LearnResult(
        session_id=session_id,
        memories=tuple(one for memory_id in written if (one := memories.find(tx, memory_id))),
        proposals=tuple(proposals.of_run(tx, run_id)),
    )


def to_new_message(message: Mapping[str, object]) -> NewMessage:
    """Return a chat API message as a `NewMessage`; raise an error that says what is wrong with it."""
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str) or not isinstance(content, str | list | tuple):
        raise InvalidInput(f"a message needs a role and a content, not {sorted(message)}; give both as texts")
    native_id, name = message.get("id"), message.get("name")
    return NewMessage(
        role=parse_enum(Role, role, "role"),
        content=content if isinstance(content, str) else cast("Iterable[Part]", content),
        native_id=native_id if isinstance(native_id, str) else None,
        speaker=name if isinstance(name, str) else None,
    )
