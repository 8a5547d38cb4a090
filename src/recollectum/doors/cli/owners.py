"""How an owner is typed: a plain name is a person, anything else is written whole."""

from recollectum.domain.owner import Owner, OwnerKind


def to_owner(text: str) -> Owner:
    """`alice` is user:alice; `agent:coder`, `group:…` and `global` are owners as they stand."""
    return Owner.parse(text if ":" in text or text == OwnerKind.GLOBAL else f"{OwnerKind.USER}:{text}")


def spelled(owner: Owner) -> str:
    """The shortest text that `to_owner` reads as this owner."""
    plain = owner.kind is OwnerKind.USER and owner.agent is None and owner.name != OwnerKind.GLOBAL
    return owner.name if plain else str(owner)
