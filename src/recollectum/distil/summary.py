"""Summary: a long conversation in few words, by a model that carries on the last summary, or else by rules."""

from collections.abc import Sequence

from recollectum.context.extracting import extract
from recollectum.context.fencing import quoted
from recollectum.distil.asking import fenced, mark_of, transcript
from recollectum.distil.instructions import prompt
from recollectum.distil.screening import Screened
from recollectum.distil.sentences import sentences
from recollectum.distil.windows import Excerpt, windows
from recollectum.domain.errors import ModelError
from recollectum.domain.language_model import Prompt, Turn
from recollectum.domain.message import Message, Role
from recollectum.domain.summary import BY_RULES, Summary
from recollectum.models.language import LanguageModel
from recollectum.text.tokens import Counter, counter


def summarise(previous: str | None, messages: Sequence[Message], model: LanguageModel | None, tokens: int) -> Summary:
    """The summary of what the previous one covers and of the messages after it, in at most so many tokens."""
    if model is not None and messages and tokens > 0:
        try:
            text = _folded(previous or "", messages, model, tokens)
        except ModelError:
            # A conversation goes on without its model, and the summary says who made it.
            text = ""
        if text:
            return Summary(text=text, up_to=messages[-1].position, by=str(model.identity))
    before = Summary(text=previous, up_to=0, by=BY_RULES) if previous else None
    return extract(messages, tokens, counter(None), previous=before)


def _folded(text: str, messages: Sequence[Message], model: LanguageModel, tokens: int) -> str:
    count = counter(model.identity.model)
    for window in windows([Screened(one, one.text) for one in messages if one.text.strip()]):
        text = _fitting(model.complete(_asked(text, window, tokens)).text.strip(), tokens, count)
        if not text:
            # The old summary alone would claim to cover what it does not.
            break
    return text


def _asked(text: str, window: Sequence[Excerpt], tokens: int) -> Prompt:
    mark = mark_of([text, *(one.text for one in window)])
    blocks = [
        fenced("summary", [quoted(text, mark)], mark) if text else "There is no summary yet.",
        fenced("conversation", transcript(window, mark), mark),
        # A word is seldom more than two tokens; what is too long all the same is cut.
        f"Write the new summary in at most {max(1, tokens // 2)} words.",
    ]
    shown = "\n\n".join(blocks)
    system = prompt("summarising")
    return Prompt(
        turns=(Turn(role=Role.USER, text=shown),), system=system, idempotency_id=f"summary-{mark_of([system, shown])}"
    )


def _fitting(text: str, tokens: int, count: Counter) -> str:
    """As many whole sentences from the beginning as fit."""
    if count.count(text) <= tokens:
        return text
    ends = [one.end for one in sentences(text)]
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count.count(text[: ends[middle - 1]]) <= tokens else (low, middle - 1)
    return text[: ends[low - 1]].strip() if low else ""
