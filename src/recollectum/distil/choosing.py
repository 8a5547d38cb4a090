"""Choosing: a model that cannot quote picks among sentences that are really there, by their numbers.

A small model fits any form it is held to, and makes up whatever the form leaves open. So the form leaves nothing open:
what it may answer are the numbers of sentences that the person said. What is kept is the sentence itself, or a better
wording where that is made of the sentence's own words. All of it waits for a person to decide.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from recollectum.context.fencing import one_line
from recollectum.distil.asking import KINDS, closed, fenced, mark_of
from recollectum.distil.candidates import Candidate
from recollectum.distil.instructions import prompt
from recollectum.distil.sameness import words_of
from recollectum.domain.language_model import Prompt, Turn
from recollectum.domain.memory import Kind
from recollectum.domain.message import Json, Role

#: So many sentences are shown at once: a small model loses count soon.
_AT_ONCE = 8
#: What is right, shown to a model that understands little else.
_SHOWN: tuple[tuple[Sequence[str], Sequence[int]], ...] = (
    (("I live in Oslo.", "I got the same error again.", "My wife is a teacher."), (1, 3)),
    (("I am trying it now.", "I hate mushrooms.", "I am writing a novel about the sea."), (2, 3)),
)


def batches(found: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    """The candidates in parts that are shown at once."""
    for start in range(0, len(found), _AT_ONCE):
        yield found[start : start + _AT_ONCE]


def schema_for(count: int, *, wording: bool, least: int) -> Mapping[str, Json]:
    """What may be answered: numbers from 1 to `count`, and of each its kind and wording where they are wanted."""
    number: Mapping[str, Json] = {"type": "integer", "enum": list(range(1, count + 1))}
    if not wording:
        return closed({"lasting": {"type": "array", "items": number, "minItems": least, "maxItems": count}})
    kind: Mapping[str, Json] = {"type": "string", "enum": [one.value for one in KINDS]}
    # Who words well stops by itself, and not every server takes bounds.
    pick = closed({"sentence": number, "content": {"type": "string"}, "kind": kind})
    return closed({"lasting": {"type": "array", "items": pick}})


def choice(shown: Sequence[Candidate], instructions: str | None, *, wording: bool, least: int = 0) -> Prompt:
    """The prompt for one choice; the same for the same sentences."""
    mark = mark_of(one.text for one in shown)
    lines = [f"[{number}] | {one_line(one.text, mark)}" for number, one in enumerate(shown, start=1)]
    system = prompt("choosing")
    if instructions is not None:
        system = f"{instructions.strip()}\n\n{system}"
    last = Turn(role=Role.USER, text=fenced("sentences", lines, mark))
    # Examples teach a small model the form, and would teach a large one our taste against the instructions.
    turns = (last,) if wording else (*_examples(mark), last)
    return Prompt(
        turns=turns,
        system=system,
        schema=schema_for(len(shown), wording=wording, least=least),
        idempotency_id=f"choose-{mark_of([system, last.text])}",
    )


def chosen(value: Json, shown: Sequence[Candidate]) -> Iterator[tuple[Candidate, Kind, str]]:
    """Each sentence that was picked, once, with its kind and what is kept of it."""
    picks = cast("Sequence[int | Mapping[str, Json]]", cast("Mapping[str, Json]", value)["lasting"])
    seen: set[int] = set()
    for pick in picks:
        # What kind of thing it is, a small model is not asked: it would say anything.
        number, kind, worded = (pick, Kind.FACT, "") if isinstance(pick, int) else _worded(pick)
        if number not in seen:
            seen.add(number)
            one = shown[number - 1]
            yield one, kind, _content(worded, one.text)


def _worded(pick: Mapping[str, Json]) -> tuple[int, Kind, str]:
    return cast("int", pick["sentence"]), Kind(str(pick["kind"])), str(pick["content"])


def _content(worded: str, sentence: str) -> str:
    """The model's wording where the sentence bears every word of it, else the sentence."""
    plain = " ".join(worded.split())
    return plain if plain and bears(sentence, plain) else " ".join(sentence.split())


def bears(sentence: str, content: str) -> bool:
    """Whether all that is claimed is in the sentence, and neither denies what the other says."""
    claimed, given = words_of(content), words_of(sentence)
    stems = {term[:4] for term in given.terms}
    news = (term for term in claimed.telling if term not in given.terms and (len(term) < 4 or term[:4] not in stems))
    return bool(claimed.telling) and claimed.turns == given.turns and not any(news)


def _examples(mark: str) -> Iterator[Turn]:
    for texts, picks in _SHOWN:
        lines = [f"[{number}] | {text}" for number, text in enumerate(texts, start=1)]
        yield Turn(role=Role.USER, text=fenced("sentences", lines, mark))
        yield Turn(role=Role.ASSISTANT, text=json.dumps({"lasting": picks}))
