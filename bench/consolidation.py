"""Measures what consolidation proposes against a labelled set: precision, recall and F1 by kind, by rules and a model.

The model is scripted: it answers from the labels, with mistakes of stated shares, so that its figures are those of the
pipeline around a model: quotations, faithfulness, duplicates and trust.
"""

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bench.consolidation_set.conversations import HALVES, Conversation, conversations
from bench.consolidation_set.figures import ALL, Figures, figures
from bench.consolidation_set.matching import JudgedProposal, Judgement, Verdict, judge
from bench.consolidation_set.script import FALSE_SHARES, LEFT_OUT, RIGHT, SHARES, Script, sorts
from bench.sizes import sized
from recollectum.distil.pipeline import distil
from recollectum.domain.proposal import Finding

#: How often the scripted model reads each conversation, with other mistakes each time.
_ROUNDS = sized(10, 1)


@dataclass(slots=True)
class Scripted:
    """What the scripted model said, and what became of it."""

    judgements: list[Judgement] = field(default_factory=list[Judgement])
    #: The same, with only the proposals that are written without approval.
    certain: list[Judgement] = field(default_factory=list[Judgement])
    given: Counter[str] = field(default_factory=Counter[str])


def by_rules(conversation: Conversation) -> Sequence[Finding]:
    """Return the proposals without a model."""
    return distil(conversation.messages(), conversation.memories(), model=None).findings


def scripted(half: Sequence[Conversation], rounds: int) -> Scripted:
    """Return what the scripted model said about every conversation, and what became of it."""
    made = Scripted()
    for seed in range(rounds):
        for one in half:
            script = Script(one, seed)
            found = distil(one.messages(), one.memories(), model=script.model()).findings
            made.given += script.given
            made.judgements.append(judge(one, found))
            made.certain.append(judge(one, [finding for finding in found if finding.certain]))
    return made


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench consolidation", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parser.add_argument("--show", action="store_true", help="also list what the rules missed and wrongly proposed")
    asked = parser.parse_args(arguments)
    halves = {half: conversations(half) for half in HALVES}
    ruled = {half: [judge(one, by_rules(one)) for one in found] for half, found in halves.items()}
    model = {half: scripted(found, _ROUNDS) for half, found in halves.items()}
    readers = {
        "rules": {half: figures(found) for half, found in ruled.items()},
        "scripted model": {half: figures(found.judgements) for half, found in model.items()},
        "scripted model, without approval": {half: figures(found.certain) for half, found in model.items()},
    }
    if asked.json:
        print(json.dumps(_as_json(halves, readers, model)))
        return
    for half, found in halves.items():
        print(f"{half}: {_size(found)}")
    for name, found in readers.items():
        print(f"\n{name}\n")
        print(table(found))
    print("\nanswers of the scripted model, and what became of them\n")
    print(fates(list(model.values())))
    if asked.show:
        print("\n".join(line for found in ruled.values() for judgement in found for line in faults(judgement)))


def table(found: Mapping[str, Figures]) -> str:
    """Return the rows of a reader, with the figures of each half beside each other."""
    heads = "".join(f" {half} P | R | F1 | labels |" for half in found)
    lines = [f"| kind |{heads}", "|---|" + "--:|--:|--:|--:|" * len(found)]
    for kind in next(iter(found.values())).rows:
        rows = (one.rows[kind] for one in found.values())
        lines.append(
            f"| {kind} |" + "".join(f" {r.precision:.3f} | {r.recall:.3f} | {r.f1:.3f} | {r.wanted} |" for r in rows)
        )
    for half, one in found.items():
        wrong = ", ".join(f"{sort or 'unmarked'} {count}" for sort, count in one.traps.most_common()) or "none"
        row = one.rows[ALL]
        kinds = f"{one.kinds} of {row.found} found labels with their kind"
        lines.append(f"\n{half}: wrong proposals: {wrong}; repeated: {one.repeated}; {kinds}")
    return "\n".join(lines)


def fates(found: Sequence[Scripted]) -> str:
    """Return what became of each sort of answer; the first sorts should be kept, the others should not."""
    given = sum((one.given for one in found), Counter[str]())
    proposals = [one for each in found for judgement in each.judgements for one in judgement.proposals]
    shares = {**SHARES, **FALSE_SHARES}
    lines = [
        "| answer | should be kept | share | given | proposed | right | without approval |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for sort in sorts():
        own = [one for one in proposals if one.finding.reason == sort]
        kept = "yes" if sort in RIGHT else "–" if sort == LEFT_OUT else "no"
        right = sum(one.verdict is Verdict.RIGHT for one in own)
        certain = sum(one.finding.certain for one in own)
        lines.append(f"| {sort} | {kept} | {shares[sort]:.2f} | {given[sort]} | {len(own)} | {right} | {certain} |")
    return "\n".join(lines)


def faults(judgement: Judgement) -> list[str]:
    """Return a line for each proposal that is wrong, and for each label that was missed."""
    wrong = [_fault(one) for one in judgement.proposals if one.verdict in (Verdict.WRONG, Verdict.REPEATED)]
    missed = [f"missed {one.label.kind}: {one.label.words!r}" for one in judgement.labels if not one.found]
    return [*wrong, *missed]


def _fault(one: JudgedProposal) -> str:
    sort = f" ({one.trap})" if one.trap else ""
    return f"{one.verdict}{sort} {one.finding.kind}: {one.finding.content!r}"


def _size(found: Sequence[Conversation]) -> str:
    turns = [turn for one in found for turn in one.turns]
    labels = sum(label.wanted for turn in turns for label in turn.labels)
    traps = sum(len(turn.traps) for turn in turns)
    return f"{len(found)} conversations, {len(turns)} turns, {labels} labels, {traps} traps"


def _as_json(
    halves: Mapping[str, Sequence[Conversation]],
    readers: Mapping[str, Mapping[str, Figures]],
    model: Mapping[str, Scripted],
) -> dict[str, object]:
    return {
        "set": {half: _size(found) for half, found in halves.items()},
        "readers": {name: {half: one.as_json() for half, one in found.items()} for name, found in readers.items()},
        "given": {half: dict(found.given) for half, found in model.items()},
        "shares": {**SHARES, **FALSE_SHARES},
    }
