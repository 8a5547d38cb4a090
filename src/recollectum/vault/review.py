"""Review: proposals that wait for a person; approved, edited and rejected, each of them once."""

from collections.abc import Sequence

from recollectum.domain.caller import Permission, Scope
from recollectum.domain.errors import Conflict, InvalidInput
from recollectum.domain.proposal import Decision, Finding, Proposal
from recollectum.policy.clock import Reading
from recollectum.storage.port import Tx
from recollectum.vault.draft import MAX_PAGE, check_content, check_limit
from recollectum.vault.footing import Footing
from recollectum.vault.gate import Gate, operation
from recollectum.vault.review_deciding import approve, reject
from recollectum.vault.review_laying import lay
from recollectum.vault.review_reading import as_read, known, page_of, stored, unified
from recollectum.vault.review_writing import Desk, standing

_READ = operation(Permission.READ, Scope.USER)
_CHANGE = operation(Permission.WRITE, Scope.USER, reads=True)


class Review:
    """The review inbox of one vault."""

    def __init__(self, footing: Footing) -> None:
        self._footing = footing

    @property
    def gate(self) -> Gate:
        """The gate every operation passes."""
        return self._footing.gate

    @_READ
    def page(self, *, decision: str = Decision.WAITING, before: str | None = None, limit: int = 50) -> list[Proposal]:
        """The newest proposals before an id: waiting, approved, rejected, or stale."""
        wanted, size = _decision(decision), check_limit(limit, MAX_PAGE)
        return self._footing.read(lambda tx, reading: page_of(tx, reading, wanted, before=before, limit=size))

    @_READ
    def get(self, proposal_id: str) -> Proposal:
        """The proposal with that id; when what it is about has changed or gone, it is stale."""
        return self._footing.read(lambda tx, reading: as_read(tx, stored(tx, proposal_id), reading))

    @_READ
    def diff(self, proposal_id: str) -> list[str]:
        """What a proposal would change, as the lines of a unified diff."""
        return self._footing.read(lambda tx, reading: unified(tx, as_read(tx, stored(tx, proposal_id), reading)))

    @_CHANGE
    def approve(self, proposal_id: str, content: str | None = None) -> Proposal:
        """Write what is proposed, in these words or in other ones; approved twice, it is written once."""
        words = None if content is None else check_content(content)

        def change(tx: Tx, reading: Reading) -> Proposal:
            return approve(Desk(tx, reading, self._footing), stored(tx, proposal_id), words)

        decided = self._footing.write(change)
        if decided.decision is not Decision.APPROVED:
            raise Conflict(_undecidable(decided))
        return decided

    @_CHANGE
    def reject(self, proposal_id: str) -> Proposal:
        """Say no to a proposal; the same is never proposed again."""

        def change(tx: Tx, reading: Reading) -> Proposal:
            return reject(Desk(tx, reading, self._footing), stored(tx, proposal_id))

        decided = self._footing.write(change)
        if decided.decision is Decision.APPROVED:
            raise Conflict(_undecidable(decided))
        return decided

    @_READ
    def analyse(self) -> list[Finding]:
        """What a look at all memories would propose: to merge what says the same, to replace what cannot both hold."""
        # Only now: it is of use to nobody but a person who tidies up.
        from recollectum.distil.usage import analyse  # noqa: PLC0415

        return list(analyse(self._footing.read(known)))

    @_CHANGE
    def grow(self) -> list[Proposal]:
        """Lay what such a look proposes into the inbox; what is there, or was refused, is left."""
        return self.propose(self.analyse())

    @_CHANGE
    def propose(self, findings: Sequence[Finding]) -> list[Proposal]:
        """Lay findings of one's own into the inbox; those that wait there, were refused, or have no target are left."""

        def change(tx: Tx, reading: Reading) -> list[Proposal]:
            desk = Desk(tx, reading, self._footing)
            laid = [_lay(desk, finding) for finding in findings]
            return [as_read(tx, stored(tx, found), reading) for found in laid if found]

        return self._footing.write(change)


def _lay(desk: Desk, finding: Finding) -> str | None:
    targets = [found for target in finding.targets if (found := standing(desk, target))]
    return lay(desk, finding, targets) if len(targets) == len(finding.targets) else None


def _decision(decision: str) -> Decision:
    try:
        return Decision(decision)
    except ValueError:
        raise InvalidInput(f"decision {decision!r} is unknown; use one of {', '.join(Decision)}") from None


def _undecidable(proposal: Proposal) -> str:
    if proposal.decision is Decision.STALE:
        return f"proposal {proposal.id!r} is stale: what it is about has changed or gone since; nothing was written"
    return f"proposal {proposal.id!r} was {proposal.decision} already, and stays so"
