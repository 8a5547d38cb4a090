"""A finding of the doctor: what is so, how bad it is, and what cures it."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is."""

    FINE = "fine"
    NOTE = "note"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that the doctor looked at, in plain words."""

    topic: str
    severity: Severity
    words: str
    #: What to do about it.
    cure: str | None = None
    #: Whether `--fix` did it.
    fixed: bool = False


def fine(topic: str, words: str) -> Finding:
    """Nothing to do."""
    return Finding(topic=topic, severity=Severity.FINE, words=words)


def worst(findings: list[Finding]) -> Severity:
    """The worst that is left to do."""
    order = list(Severity)
    left = [one.severity for one in findings if not one.fixed]
    return max(left, key=order.index, default=Severity.FINE)
