"""Decides how far the text of a caller is trusted."""

from recollectum.domain.access.owner import Owner, OwnerKind
from recollectum.domain.errors import StepRefused
from recollectum.domain.trust import Trust
from recollectum.vault.gate import Gate

_TRUSTED = frozenset({Trust.OWNER, Trust.ASSISTANT})


def caller_trust(gate: Gate) -> Trust:
    """Return the trust in what a caller writes; a caller with a grant does not get the owner's trust."""
    return Trust.OWNER if gate.own else Trust.UNKNOWN


def check_shared_trust(owner: Owner | None, trust: Trust) -> Trust:
    """Return the trust; raise when the vault is the shared one and the text is not its owner's."""
    if owner is not None and owner.kind is OwnerKind.GLOBAL and trust not in _TRUSTED:
        raise StepRefused(
            f"text of {trust} origin is not taken into the global vault, which everybody reads; "
            "let an operator save it, or save it in a person's own vault"
        )
    return trust
