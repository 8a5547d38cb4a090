"""What may be written where: a text of untrusted origin never becomes a memory of everybody."""

from recollectum.domain.errors import StepRefused
from recollectum.domain.owner import Owner, OwnerKind
from recollectum.domain.trust import Trust

_BELIEVED = frozenset({Trust.OWNER, Trust.ASSISTANT})


def check_global(owner: Owner | None, trust: Trust) -> Trust:
    """The trust, unless the vault is the one that all share and the text is not its owner's own."""
    if owner is not None and owner.kind is OwnerKind.GLOBAL and trust not in _BELIEVED:
        raise StepRefused(
            f"text of {trust} origin is not taken into the global vault, which everybody reads; "
            "let its operator say it, or keep it in a person's own vault"
        )
    return trust
