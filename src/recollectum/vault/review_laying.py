"""Laying a finding into the review inbox: once, and never again after a no."""

from dataclasses import replace
from hashlib import blake2b

from recollectum.domain.memory import Memory
from recollectum.domain.proposal import Act, Finding
from recollectum.storage.tables import proposals
from recollectum.storage.tables.proposals import Laid
from recollectum.text.cleaning import clean
from recollectum.text.similarity import fingerprint
from recollectum.vault.draft import check_content
from recollectum.vault.review_writing import Desk

_DIGEST_BYTES = 16
_LONGEST_REASON = 500


def mark(finding: Finding) -> str:
    """Equal for two findings that would do the same: the same act, to the same memories, in the same words."""
    parts = (finding.act.value, fingerprint(finding.content), *sorted(finding.targets))
    return blake2b("\x1f".join(parts).encode(), digest_size=_DIGEST_BYTES).hexdigest()


def lay(
    desk: Desk,
    finding: Finding,
    targets: list[Memory],
    *,
    run_id: str | None = None,
    session_id: str | None = None,
) -> str | None:
    """Lay a finding into the inbox; its id, or None when it waits there already or was said no to."""
    shown = replace(
        finding,
        content=finding.content if finding.act is Act.FORGET else check_content(finding.content),
        reason=clean(finding.reason)[:_LONGEST_REASON],
        targets=tuple(one.id for one in targets),
    )
    laid = Laid(
        id=desk.footing.ids("prp"),
        run_id=run_id,
        session_id=session_id,
        finding=shown,
        fingerprint=mark(shown),
        versions={one.id: one.version for one in targets},
        at=desk.reading.now,
    )
    return laid.id if proposals.add(desk.tx, laid) else None
