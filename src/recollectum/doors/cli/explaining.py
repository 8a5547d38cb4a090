"""Why a hit ranks where it does, in words."""

from recollectum.domain.hit import Reasons
from recollectum.doors.cli.visible import one_line


def explained(reasons: Reasons) -> list[str]:
    """The rung, the place and score in each arm, the terms, and what each further reason added; a line each."""
    arms = (
        ("by words", reasons.text_rank, reasons.text_score, "BM25"),
        ("by meaning", reasons.vector_rank, reasons.vector_score, "cosine"),
    )
    lines = [f"rung: {reasons.rung}", *(f"{name}: {_place(rank, score, unit)}" for name, rank, score, unit in arms)]
    lines.append(f"terms: {', '.join(reasons.terms) or 'none'}")
    if reasons.added:
        lines.append("added: " + ", ".join(f"{name} {value:+.3g}" for name, value in reasons.added))
    return [one_line(line) for line in lines]


def _place(rank: int | None, score: float | None, unit: str) -> str:
    """A score without a place is that of a text which only the other arm brought."""
    told = [f"place {rank}" if rank is not None else "not among the nearest" if score is not None else "not found"]
    if score is not None:
        told.append(f"{unit} {score:.3g}")
    return ", ".join(told)
