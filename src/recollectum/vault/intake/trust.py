"""Decides how far the text of a caller is trusted."""

from recollectum.domain.access.owner import Owner, OwnerKind
from recollectum.domain.errors import StepRefused
from recollectum.domain.trust import Trust
from recollectum.vault.gate import Gate

_TRUSTED = frozenset({Trust.OWNER, Trust.ASSISTANT})


def caller_trust(gate: Gate) -> Trust:
    """The trust in what a caller writes: who writes on a grant does not speak with the owner's voice."""
    return Trust.OWNER if gate.own else Trust.UNKNOWN


def check_shared_trust(owner: Owner | None, trust: Trust) -> Trust:
    """The trust, unless the vault is the one that all share and the text is not its owner's own."""
    if owner is not None and owner.kind is OwnerKind.GLOBAL and trust not in _TRUSTED:
        raise StepRefused(
            f"text of {trust} origin is not taken into the global vault, which everybody reads; "
            "let its operator say it, or keep it in a person's own vault"
        )
    return trust
