"""A scripted model that reads like a fallible one: it answers from the labels, with mistakes of stated shares.

What it says is known, so what the pipeline around a model loses or lets through can be counted.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bench.consolidation_set.conversations import KINDS, Conversation, Label, Turn
from bench.consolidation_set.script_text import (
    change_detail,
    deny,
    loosen,
    misquote,
    shown_sentences,
    to_third_person,
    unsupported_claim,
)
from recollectum.domain.message import Json
from recollectum.domain.models.language_model import Prompt
from recollectum.testing import ScriptedModel
from tests.distil.said import answer, answers, shown

#: What becomes of a label, with its share. The first four should be kept.
SHARES: Mapping[str, float] = {
    "in other words": 0.55,
    "as it was said": 0.12,
    "quoted loosely": 0.06,
    "quoted under the wrong number": 0.05,
    "left out": 0.05,
    "said a second time": 0.06,
    "with a changed detail": 0.04,
    "denied": 0.03,
    "with an invented quotation": 0.04,
}
#: What else it says, with the share of traps, known memories and turns without labels that it falls for.
TRAP, KNOWN, UNSUPPORTED = "a trap", "a known memory", "a claim that nobody made"
FALSE_SHARES: Mapping[str, float] = {TRAP: 0.3, KNOWN: 0.3, UNSUPPORTED: 0.05}
#: The sorts of answers that should become proposals; all others should not.
RIGHT = ("in other words", "as it was said", "quoted loosely", "quoted under the wrong number")
LEFT_OUT = "left out"
_AGAIN = "said a second time"


@dataclass(slots=True)
class Script:
    """The answers of a scripted model about one conversation."""

    conversation: Conversation
    seed: int
    #: How many answers of each sort it gave.
    given: Counter[str] = field(default_factory=Counter[str])

    def model(self) -> ScriptedModel:
        """Return the model."""
        return ScriptedModel(self._answer)

    def _answer(self, prompt: Prompt) -> dict[str, Json]:
        if prompt.schema and "lasting" in str(prompt.schema):
            return {"lasting": list(self._choice(prompt))}
        chance = random.Random(f"{self.conversation.title}/{self.seed}")
        said = [self._of_turn(turn, prompt, chance) for turn in self.conversation.turns]
        known = [self._known(content, chance) for content in self.conversation.known]
        found = [one for lot in (*said, *known) for one in lot]
        self.given.update(str(one["reason"]) for one in found)
        return answers(*found)

    def _of_turn(self, turn: Turn, prompt: Prompt, chance: random.Random) -> list[dict[str, Json]]:
        number = next((number for number, text in shown(prompt) if text == turn.text.strip()), 1)
        found = [one for label in turn.labels if label.wanted for one in self._of_label(label, number, prompt, chance)]
        for trap in turn.traps:
            if chance.random() < FALSE_SHARES[TRAP]:
                found.append(_said(TRAP, to_third_person(trap.words), (number, trap.words)))
        empty = turn.letter == "u" and not turn.labels and not turn.traps
        if empty and chance.random() < FALSE_SHARES[UNSUPPORTED]:
            found.append(_said(UNSUPPORTED, unsupported_claim(chance), (number, turn.text)))
        return found

    def _of_label(self, label: Label, number: int, prompt: Prompt, chance: random.Random) -> Iterator[dict[str, Json]]:
        sort = chance.choices(list(SHARES), list(SHARES.values()))[0]
        content = label.wording or to_third_person(label.words)
        change = {"kind": KINDS[label.kind].value, **self._change(label, prompt)}
        if sort == LEFT_OUT:
            self.given[sort] += 1
            return
        if sort == _AGAIN:
            yield _said(RIGHT[0], content, (number, label.words), **change)
        yield _said(sort, *_spoilt(sort, content, number, label.words), **change)

    def _change(self, label: Label, prompt: Prompt) -> dict[str, object]:
        if not label.replaces:
            return {}
        content = self.conversation.known[label.replaces - 1]
        found = re.search(rf"^\[(\d+)\] \| {re.escape(content)}$", prompt.turns[0].text, re.MULTILINE)
        return {"act": "supersede", "target": int(found[1])} if found else {}

    def _known(self, content: str, chance: random.Random) -> list[dict[str, Json]]:
        if chance.random() >= FALSE_SHARES[KNOWN]:
            return []
        last = next(one.text for one in reversed(self.conversation.turns) if one.letter == "u")
        return [_said(KNOWN, content, (1, last))]

    def _choice(self, prompt: Prompt) -> Iterator[dict[str, Json]]:
        """Yield the sentences that contain a label: asked to choose, it chooses well."""
        labels = [label for turn in self.conversation.turns for label in turn.labels if label.wanted]
        for number, sentence in shown_sentences(prompt):
            if label := next((one for one in labels if one.words in sentence or sentence in one.words), None):
                content = label.wording or to_third_person(label.words)
                yield {"sentence": number, "content": content, "kind": KINDS[label.kind].value}


def _spoilt(sort: str, content: str, number: int, words: str) -> tuple[str, tuple[int, str]]:
    """Return the content and the quotation of an answer of this sort."""
    told = {
        "as it was said": words,
        "with a changed detail": change_detail(content),
        "denied": deny(content),
        _AGAIN: f"{content.rstrip('.')}, as the person said.",
    }
    quoted = {
        "quoted loosely": (number, loosen(words)),
        "quoted under the wrong number": (number + 1, words),
        "with an invented quotation": (number, misquote(words)),
    }
    return told.get(sort, content), quoted.get(sort, (number, words))


def _said(sort: str, content: str, quote: tuple[int, str], **change: object) -> dict[str, Json]:
    """Return an answer whose reason names its sort, by which its proposal is recognised."""
    made = answer(content, quote)
    made["reason"] = sort
    made.update({name: value for name, value in change.items() if isinstance(value, str | int)})
    return made


def sorts() -> Sequence[str]:
    """Return every sort of answer, those first that should be kept."""
    return (*RIGHT, *(one for one in SHARES if one not in RIGHT), *FALSE_SHARES)
