"""How a draft becomes a memory: new, a new version under its key, or the one that is known already."""

from dataclasses import replace
from datetime import datetime

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.event import EventType
from recollectum.domain.memory import Kind, Memory, State
from recollectum.domain.trust import Trust, least
from recollectum.policy.clock import Reading
from recollectum.policy.duplicates import is_same_time, known, later
from recollectum.policy.lifecycle import LIVE, active_times, enter
from recollectum.storage.port import Tx
from recollectum.storage.tables import memories, messages, sessions
from recollectum.text.similarity import fingerprint
from recollectum.vault import changes
from recollectum.vault.draft import Draft
from recollectum.vault.footing import Footing
from recollectum.vault.quarantine_later import held_back
from recollectum.vault.trusting import check_global


def save_draft(tx: Tx, draft: Draft, reading: Reading, footing: Footing) -> Memory:
    """Store a checked draft; nothing is doubled and nothing that was said before is lost."""
    expires_at = _deadline(draft, reading.now)
    trust = check_global(footing.gate.owner, _trust(tx, draft.message_id, footing))
    mark = fingerprint(draft.content)
    change = changes.Change(tx, footing.actor, reading.now)
    holder = _holder(tx, draft, reading, footing)
    twin = holder if holder and _says_the_same(holder, draft, mark) else _twin(tx, draft, mark, reading, footing)
    if twin and (holder is None or twin.id == holder.id):
        saved = _renew(change, twin, draft, expires_at, footing)
    elif holder:
        saved = _replace_content(change, holder, draft, expires_at, trust, footing)
    else:
        saved = changes.add(change, _new(draft, expires_at, trust, reading.now, footing), mark)
    return held_back(change, saved, footing.retention, agent=draft.agent, message_id=draft.message_id)


def _deadline(draft: Draft, now: datetime) -> datetime | None:
    try:
        return now + draft.ttl if draft.ttl else None
    except OverflowError:
        raise InvalidInput(f"ttl {draft.ttl} reaches past the last year there is; leave it out") from None


def _holder(tx: Tx, draft: Draft, reading: Reading, footing: Footing) -> Memory | None:
    """The live memory that holds the draft's key."""
    held = memories.find_by_key(tx, draft.key) if draft.key else None
    return _if_live(tx, held, reading, footing)


def _twin(tx: Tx, draft: Draft, mark: str, reading: Reading, footing: Footing) -> Memory | None:
    """A live memory that says the same thing."""
    alike = memories.alike(tx, mark, Kind(draft.kind))
    live = (found for one in alike if (found := _if_live(tx, one, reading, footing)))
    candidates = [one for one in live if one.state is State.ACTIVE or not _key_is_taken(tx, one)]
    return known(candidates, key=draft.key, valid_from=draft.valid_from, valid_to=draft.valid_to)


def _key_is_taken(tx: Tx, archived: Memory) -> bool:
    """Whether another memory holds the key that this one would have if it came back."""
    holder = memories.find_by_key(tx, archived.key) if archived.key else None
    return holder is not None and holder.id != archived.id


def _if_live(tx: Tx, memory: Memory | None, reading: Reading, footing: Footing) -> Memory | None:
    if memory is None:
        return None
    settled = changes.settle(tx, memory, reading, footing.retention)
    return settled if settled.state in LIVE else None


def _says_the_same(memory: Memory, draft: Draft, mark: str) -> bool:
    same_time = is_same_time(memory, draft.valid_from, draft.valid_to)
    return same_time and memory.kind == draft.kind and fingerprint(memory.content) == mark


def _renew(
    change: changes.Change, known_one: Memory, draft: Draft, expires_at: datetime | None, footing: Footing
) -> Memory:
    """Said again: its life begins anew, and its importance is the greater of the two."""
    renewed = replace(
        known_one,
        key=known_one.key or draft.key,
        importance=max(known_one.importance, draft.importance),
        expires_at=later(known_one.expires_at, expires_at),
        updated_at=change.at,
    )
    active = enter(renewed, State.ACTIVE, change.at, footing.retention)
    return changes.put(change, known_one, active, EventType.DEDUPLICATED)


def _replace_content(
    change: changes.Change,
    holder: Memory,
    draft: Draft,
    expires_at: datetime | None,
    trust: Trust,
    footing: Footing,
) -> Memory:
    """The key says something else now; what it said before is kept as a version."""
    edited = replace(
        holder,
        content=draft.content,
        kind=Kind(draft.kind),
        importance=draft.importance,
        trust=trust,
        message_id=draft.message_id,
        expires_at=expires_at,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
        author=footing.actor,
        version=holder.version + 1,
        updated_at=change.at,
    )
    active = enter(edited, State.ACTIVE, change.at, footing.retention)
    return changes.put(change, holder, active, EventType.EDITED)


def _new(draft: Draft, expires_at: datetime | None, trust: Trust, now: datetime, footing: Footing) -> Memory:
    return Memory(
        id=footing.ids("mem"),
        content=draft.content,
        key=draft.key,
        kind=Kind(draft.kind),
        importance=draft.importance,
        trust=trust,
        author=footing.actor,
        agent=draft.agent,
        message_id=draft.message_id,
        created_at=now,
        updated_at=now,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
        expires_at=expires_at,
        **active_times(now, footing.retention.of(draft.agent)),
    )


def _trust(tx: Tx, message_id: str | None, footing: Footing) -> Trust:
    """What is remembered is believed no more than who says it, nor than the message it came from."""
    said_by = Trust.OWNER if footing.gate.own else Trust.UNKNOWN
    if message_id is None:
        return said_by
    message = messages.find(tx, message_id)
    if message is None:
        raise NotFound(f"there is no message {message_id!r} in this vault to remember from")
    session = sessions.find(tx, message.session_id)
    brought_in = Trust.IMPORTED if session and session.imported else Trust.OWNER
    return least(said_by, message.trust, brought_in)
