"""What recall finds, as lines: for a model that looks something up, and where there is no model."""

from typing import TYPE_CHECKING

from recollectum.domain.hit import Hit
from recollectum.domain.trust import Trust

if TYPE_CHECKING:
    from recollectum.vault.vault import Vault

_KEPT = ("memories", "notes")
_AGENTS = (Trust.ASSISTANT, Trust.TOOL)


def found(vault: "Vault", query: str, limit: int, *, besides: str) -> list[Hit]:
    """The best hits: what was kept on purpose, and only where there is none, what people said in other sessions.

    What the assistant said is left out: it repeats what is known, and would be found before it.
    """
    kept = [hit for source in _KEPT for hit in vault.recall(query, limit=limit, source=source)]
    if kept:
        return sorted(kept, key=lambda hit: -hit.score)[:limit]
    said = vault.recall(query, limit=4 * limit, source="sessions")
    return [hit for hit in said if hit.trust not in _AGENTS and hit.source.session_id != besides][:limit]


def found_lines(vault: "Vault", query: str, limit: int, *, besides: str) -> list[str]:
    """The same as lines, each with its day and how far it is to be believed."""
    hits = found(vault, query, limit, besides=besides)
    return [f"- {' '.join(hit.text.split())} ({hit.created_at.date()}, trust: {hit.trust})" for hit in hits]
