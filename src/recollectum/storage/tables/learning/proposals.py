"""Reads and writes the proposals table: findings that wait for review, and the decisions on them."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime

from recollectum.domain.memory import Kind
from recollectum.domain.page import AFTER_IDS
from recollectum.domain.proposal import Act, Decision, Finding, Proposal, Span
from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust
from recollectum.storage.port import Params, Row, Tx
from recollectum.storage.times import micros, moment, moment_or_none

_COLUMNS = """id, run_id, session_id, act, content, kind, importance, key, reason, trust, by, certain, spans,
    decision, created_at, decided_at, decided_by, memory_id"""
# A proposal that is pending or was rejected is not added again.
_ADD = """
    INSERT INTO proposals (id, run_id, session_id, act, content, kind, importance, key, reason, trust, by, certain,
        spans, fingerprint, decision, created_at)
    SELECT :id, :run_id, :session_id, :act, :content, :kind, :importance, :key, :reason, :trust, :by, :certain,
        :spans, :fingerprint, 'waiting', :created_at
     WHERE NOT EXISTS (SELECT 1 FROM erased WHERE id = :fingerprint)
       AND NOT EXISTS (SELECT 1 FROM proposals WHERE fingerprint = :fingerprint AND decision = 'waiting')
"""
# The first row of an item stays: a target has its number and version.
_ITEM = """
    INSERT INTO proposal_items (proposal_id, item, number, version)
    VALUES (:proposal_id, :item, :number, :version)
    ON CONFLICT DO NOTHING
"""
_TARGETS = """
    SELECT item, version FROM proposal_items WHERE proposal_id = :id AND version IS NOT NULL ORDER BY number
"""
_BY_ID = f"SELECT {_COLUMNS} FROM proposals WHERE id = :id"  # noqa: S608  (constants of this file)
_BY_RUN = f"SELECT {_COLUMNS} FROM proposals WHERE run_id = :run_id ORDER BY id"  # noqa: S608
_PAGE = f"""
    SELECT {_COLUMNS} FROM proposals
     WHERE id < :before AND decision IN (SELECT value FROM texts(:decisions))
     ORDER BY id DESC LIMIT :limit
"""  # noqa: S608
_DECIDE = """
    UPDATE proposals SET decision = :decision, decided_at = :at, decided_by = :by, memory_id = :memory_id
     WHERE id = :id AND decision = 'waiting'
    RETURNING fingerprint
"""
# Beside the ids of what was erased: neither is taken in again.
_REJECT = "INSERT INTO erased (id) VALUES (:fingerprint) ON CONFLICT DO NOTHING"
_IS_REJECTED = "SELECT 1 FROM erased WHERE id = :fingerprint"
_OF_RUN = "UPDATE proposals SET decision = 'stale', decided_at = :at WHERE run_id = :run_id AND decision = 'waiting'"
_ABOUT = """
    DELETE FROM proposals WHERE id IN (SELECT proposal_id FROM proposal_items WHERE item = :item)
    RETURNING content, reason
"""
_QUOTING = f"""
    SELECT {_COLUMNS} FROM proposals
     WHERE id IN (SELECT proposal_id FROM proposal_items WHERE item = :message_id) ORDER BY id
"""  # noqa: S608
_SPANS = "UPDATE proposals SET spans = :spans WHERE id = :id"
_DELETE = "DELETE FROM proposals WHERE id = :id RETURNING content, reason"
_OF_SESSION = """
    SELECT content, reason FROM proposals
     WHERE id IN (SELECT proposal_id FROM proposal_items WHERE item = :session_id) ORDER BY id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewProposal:
    """A new proposal, with its origin and the versions of its targets."""

    id: str
    run_id: str | None
    session_id: str | None
    finding: Finding
    fingerprint: str
    #: The version of each target.
    versions: Mapping[str, int]
    at: datetime


def add(tx: Tx, laid: NewProposal) -> bool:
    """Add a finding to the inbox; return False when it is pending already, or was rejected."""
    if not tx.run(_ADD, {**_to_row(laid), "fingerprint": tx.stand_ins.hide(laid.fingerprint)}):
        return False
    finding = laid.finding
    for number, target in enumerate(finding.targets):
        tx.run(_ITEM, {"proposal_id": laid.id, "item": target, "number": number, "version": laid.versions[target]})
    quoted = {span.message_id for span in finding.spans}
    for item in sorted(quoted | ({laid.session_id} if laid.session_id else set())):
        _add_item(tx, laid.id, item)
    return True


def find(tx: Tx, proposal_id: str) -> Proposal | None:
    """Return the proposal with that id, or None."""
    rows = tx.rows(_BY_ID, {"id": proposal_id})
    return _from_row(tx, rows[0]) if rows else None


def versions(tx: Tx, proposal_id: str) -> dict[str, int]:
    """Return the versions that the targets of a proposal had when it was made."""
    return dict(tx.rows(_TARGETS, {"id": proposal_id}))


def page(tx: Tx, *, before: str | None, limit: int, decisions: Iterable[Decision] = tuple(Decision)) -> list[Proposal]:
    """Return the newest proposals before an id with one of some decisions, as stored."""
    values = {"before": before or AFTER_IDS, "decisions": json.dumps(list(decisions)), "limit": limit}
    return [_from_row(tx, row) for row in tx.rows(_PAGE, values)]


def of_run(tx: Tx, run_id: str) -> list[Proposal]:
    """Return the proposals of one run, in order."""
    return [_from_row(tx, row) for row in tx.rows(_BY_RUN, {"run_id": run_id})]


def decide(
    tx: Tx, proposal_id: str, decision: Decision, *, at: datetime, by: str, memory_id: str | None = None
) -> bool:
    """Store the decision on a pending proposal; return False when it is not pending. A rejection is permanent."""
    params = {"id": proposal_id, "decision": decision.value, "at": micros(at), "by": by, "memory_id": memory_id}
    rows = tx.rows(_DECIDE, params)
    if rows and memory_id:
        _add_item(tx, proposal_id, memory_id)
    if rows and decision is Decision.REJECTED:
        tx.run(_REJECT, {"fingerprint": rows[0][0]})
    return bool(rows)


def is_rejected(tx: Tx, fingerprint: str) -> bool:
    """Return whether a person rejected the same finding."""
    return bool(tx.rows(_IS_REJECTED, {"fingerprint": tx.stand_ins.hide(fingerprint)}))


def withdraw(tx: Tx, run_id: str, at: datetime) -> int:
    """Delete the undecided proposals of a run."""
    return tx.run(_OF_RUN, {"run_id": run_id, "at": micros(at)})


def remove_about(tx: Tx, memory_id: str) -> list[str]:
    """Delete the proposals about a memory; return their texts."""
    return _texts(tx.rows(_ABOUT, {"item": memory_id}))


def remove_quoting(tx: Tx, message_id: str) -> list[str]:
    """Delete the proposals that quote a message; return their texts."""
    return _texts(tx.rows(_ABOUT, {"item": message_id}))


def quoting(tx: Tx, message_id: str) -> list[Proposal]:
    """Return the proposals that quote a message."""
    return [_from_row(tx, row) for row in tx.rows(_QUOTING, {"message_id": message_id})]


def set_spans(tx: Tx, proposal_id: str, spans: Iterable[Span]) -> None:
    """Store other spans of a proposal, because the text of a message has changed."""
    tx.run(_SPANS, {"id": proposal_id, "spans": _spans_to_json(spans)})


def remove(tx: Tx, proposal_id: str) -> list[str]:
    """Delete a proposal; return its texts."""
    return _texts(tx.rows(_DELETE, {"id": proposal_id}))


def texts_of_session(tx: Tx, session_id: str) -> list[str]:
    """Return the texts of the proposals that are deleted with a session."""
    return _texts(tx.rows(_OF_SESSION, {"session_id": session_id}))


def _add_item(tx: Tx, proposal_id: str, item: str) -> None:
    tx.run(_ITEM, {"proposal_id": proposal_id, "item": item, "number": None, "version": None})


def _texts(rows: Iterable[Row]) -> list[str]:
    return [text for row in rows for text in (row[0], row[1])]


def _from_row(tx: Tx, row: Row) -> Proposal:
    finding = Finding(
        act=Act(row[3]),
        content=row[4],
        kind=Kind(row[5]),
        importance=row[6],
        key=row[7],
        reason=row[8],
        trust=Trust(row[9]),
        by=row[10],
        certain=bool(row[11]),
        spans=tuple(Span(*span) for span in json.loads(row[12])),
        targets=tuple(versions(tx, row[0])),
    )
    return Proposal(
        id=row[0],
        run_id=row[1],
        finding=finding,
        decision=Decision(row[13]),
        created_at=moment(row[14]),
        decided_at=moment_or_none(row[15]),
        decided_by=row[16],
        memory_id=row[17],
    )


def _to_row(laid: NewProposal) -> Params:
    finding = laid.finding
    return {
        "id": laid.id,
        "run_id": laid.run_id,
        "session_id": laid.session_id,
        "act": finding.act.value,
        "content": finding.content,
        "kind": finding.kind.value,
        "importance": finding.importance,
        "key": finding.key,
        "reason": finding.reason,
        "trust": finding.trust.value,
        "by": finding.by,
        "certain": int(finding.certain),
        "spans": _spans_to_json(finding.spans),
        "created_at": micros(laid.at),
    }


def _spans_to_json(spans: Iterable[Span]) -> str:
    return json.dumps([[span.message_id, span.start, span.end] for span in spans])
