"""Compares proposals with labels: the same turn, and the same said."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bench.consolidation_set.conversations import KINDS, Conversation, Label, Turn, known_id
from recollectum.distil.date_resolution import resolve_dates
from recollectum.distil.reconciliation import Words, words_of
from recollectum.domain.message import Message
from recollectum.domain.proposal import Act, Finding

#: A proposal carries a label if it has two thirds of the label's telling words, and all its names and numbers.
_SHARE = (2, 3)
_STEM = 4
CHANGES = (Act.UPDATE, Act.SUPERSEDE)


class Verdict(StrEnum):
    """What a proposal is worth."""

    RIGHT = "right"
    #: It says what may be proposed and need not be.
    ALLOWED = "allowed"
    #: It only says what another proposal of the same conversation said.
    REPEATED = "repeated"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class JudgedProposal:
    """A proposal and its verdict."""

    finding: Finding
    verdict: Verdict
    #: The sort of the trap that it fell into; empty if it did not.
    trap: str = ""
    #: Whether it replaces the memory that it should.
    changes: bool = False


@dataclass(frozen=True, slots=True)
class JudgedLabel:
    """A label that should be proposed, and how it was."""

    label: Label
    turn: Turn
    found: bool
    #: Whether it was found with its kind.
    kind: bool
    #: Whether it was found as a change of the memory that it replaces.
    changed: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts of one conversation."""

    proposals: list[JudgedProposal]
    labels: list[JudgedLabel]


def judge(conversation: Conversation, findings: Sequence[Finding]) -> Judgement:
    """Return the verdict of every proposal and of every label."""
    said = conversation.messages()
    places = [
        (turn, message, label) for turn, message in zip(conversation.turns, said, strict=True) for label in turn.labels
    ]
    met: dict[int, list[Finding]] = {place: [] for place in range(len(places))}
    proposals: list[JudgedProposal] = []
    for finding in findings:
        fitting = [place for place, (_, message, label) in enumerate(places) if says(finding, label, message)]
        verdict = _verdict([(places[place][2], bool(met[place])) for place in fitting])
        for place in fitting:
            met[place].append(finding)
        changes = any(_replaces(finding, places[place][2]) for place in fitting)
        trap = "" if fitting else next(_traps(finding, conversation, said), "")
        proposals.append(JudgedProposal(finding, verdict, trap, changes))
    labels = [
        JudgedLabel(
            label=label,
            turn=turn,
            found=bool(met[place]),
            kind=any(one.kind is KINDS[label.kind] for one in met[place]),
            changed=any(_replaces(one, label) for one in met[place]),
        )
        for place, (turn, _, label) in enumerate(places)
        if label.wanted
    ]
    return Judgement(proposals, labels)


def _verdict(fitting: Sequence[tuple[Label, bool]]) -> Verdict:
    """Return the verdict of a proposal that says these labels, each said before or not."""
    if any(label.wanted and not before for label, before in fitting):
        return Verdict.RIGHT
    if any(not label.wanted for label, _ in fitting):
        return Verdict.ALLOWED
    return Verdict.REPEATED if fitting else Verdict.WRONG


def _replaces(finding: Finding, label: Label) -> bool:
    return bool(label.replaces) and finding.act in CHANGES and known_id(label.replaces) in finding.targets


def _traps(finding: Finding, conversation: Conversation, said: Sequence[Message]) -> Iterator[str]:
    """Yield the sorts of the traps whose words the proposal cites."""
    for turn, message in zip(conversation.turns, said, strict=True):
        for trap in turn.traps:
            start = message.text.index(trap.words)
            end = start + len(trap.words)
            if any(one.message_id == message.id and one.start < end and start < one.end for one in finding.spans):
                yield trap.sort


def says(finding: Finding, label: Label, message: Message) -> bool:
    """Return whether a proposal comes from the turn of a label and says the same: no less, and nothing invented."""
    if not any(one.message_id == message.id for one in finding.spans):
        return False
    content = words_of(finding.content)
    day = message.created_at.date()
    told = [words_of(text) for text in (label.words, resolve_dates(label.words, day), label.wording) if text]
    said = (message.text, resolve_dates(message.text, day), label.wording)
    if not content.named <= frozenset[str]().union(*(words_of(text).terms for text in said)):
        return False
    # A whole sentence may deny something else beside the words of the label.
    as_said = label.words.casefold() in finding.content.casefold()
    return any(_carries(content, one) and (as_said or bool(content.turns) == bool(one.turns)) for one in told)


def _carries(content: Words, label: Words) -> bool:
    """Return whether the content has the names and numbers of the label, and most of its telling words."""
    telling = label.telling
    if not telling:
        return label.terms <= content.terms
    stems = {term[:_STEM] for term in content.terms}
    shared = sum(term in content.terms or (len(term) >= _STEM and term[:_STEM] in stems) for term in telling)
    return label.named <= content.terms and _SHARE[1] * shared >= _SHARE[0] * len(telling)
