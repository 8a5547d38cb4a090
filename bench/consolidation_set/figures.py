"""Counts the verdicts of the consolidation benchmark: precision, recall and F1 by kind, and the traps."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bench.consolidation_set.conversations import KINDS, Conversation
from bench.consolidation_set.matching import CHANGES, Judgement, Verdict, judge
from recollectum.domain.proposal import Finding

#: The row of labels that replace a known memory: its proposals must name that memory.
CHANGED = "changed"
ALL = "all"
_NAMES = {kind: name for name, kind in KINDS.items()}

Extract = Callable[[Conversation], Sequence[Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How many proposals are right, and how many labels were found."""

    right: int
    proposed: int
    found: int
    wanted: int

    @property
    def precision(self) -> float:
        """Return the share of right proposals; 1 if there is none."""
        return self.right / self.proposed if self.proposed else 1.0

    @property
    def recall(self) -> float:
        """Return the share of labels that were found; 1 if there is none."""
        return self.found / self.wanted if self.wanted else 1.0

    @property
    def f1(self) -> float:
        """Return the harmonic mean of both."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def as_json(self) -> dict[str, float | int]:
        """Return the counts and the shares."""
        shares = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        counts = {"right": self.right, "proposed": self.proposed, "found": self.found, "wanted": self.wanted}
        return {**counts, **{name: round(share, 4) for name, share in shares.items()}}


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one reader on one half of the set."""

    rows: dict[str, Row]
    #: Wrong proposals by the sort of their trap; "" for words that nobody marked.
    traps: Counter[str]
    repeated: int
    #: Labels that were found with their kind.
    kinds: int

    def as_json(self) -> dict[str, object]:
        """Return all figures."""
        return {
            "rows": {name: row.as_json() for name, row in self.rows.items()},
            "traps": {sort or "unmarked": count for sort, count in sorted(self.traps.items())},
            "repeated": self.repeated,
            "kinds": self.kinds,
        }


def measure(half: Iterable[Conversation], extract: Extract) -> Figures:
    """Return the figures of a reader; `extract` returns its proposals for a conversation."""
    return figures([judge(one, extract(one)) for one in half])


def figures(judgements: Sequence[Judgement]) -> Figures:
    """Return the figures of all conversations together."""
    proposals = [one for judgement in judgements for one in judgement.proposals if one.verdict is not Verdict.ALLOWED]
    labels = [one for judgement in judgements for one in judgement.labels]
    rows: dict[str, Row] = {}
    for kind in KINDS:
        given = [one for one in proposals if _NAMES.get(one.finding.kind) == kind]
        asked = [one for one in labels if one.label.kind == kind]
        rows[kind] = Row(
            right=sum(one.verdict is Verdict.RIGHT for one in given),
            proposed=len(given),
            found=sum(one.found for one in asked),
            wanted=len(asked),
        )
    replacing = [one for one in labels if one.label.replaces]
    changing = [one for one in proposals if one.finding.act in CHANGES]
    rows[CHANGED] = Row(
        right=sum(one.changes for one in changing),
        proposed=len(changing),
        found=sum(one.changed for one in replacing),
        wanted=len(replacing),
    )
    rows[ALL] = Row(
        right=sum(one.verdict is Verdict.RIGHT for one in proposals),
        proposed=len(proposals),
        found=sum(one.found for one in labels),
        wanted=len(labels),
    )
    wrong = Counter(one.trap for one in proposals if one.verdict is Verdict.WRONG)
    repeated = sum(one.verdict is Verdict.REPEATED for one in proposals)
    return Figures(rows, wrong, repeated, sum(one.kind for one in labels))
