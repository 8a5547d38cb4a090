"""Summarises a long conversation with a model that continues the last summary, or by extractive summarisation."""

import re
from collections.abc import Iterator, Sequence

from recollectum.context.fences import quote_lines
from recollectum.distil.model.instructions import Excerpt, fence_mark, fenced, load_instructions, transcript, windows
from recollectum.distil.screening import Screened
from recollectum.distil.sentences import sentences
from recollectum.domain.errors import ModelError
from recollectum.domain.message import Message, Role
from recollectum.domain.models.language_model import Prompt, Turn
from recollectum.domain.records import dataclass
from recollectum.domain.session import BY_RULES, Summary
from recollectum.models.language.port import LanguageModel
from recollectum.text.tokens import TokenCounter, counter_for

#: A longer sentence is cut: it is a paste, and its beginning says what it is.
MAX_SENTENCE = 400
#: Of a longer message only the beginning is read.
_MAX_MESSAGE = 20_000
_BORDER = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_FIRST_PERSON = re.compile(
    r"\b(?:I|I'm|I've|my|mine|we|our|ich|mein\w*|wir|je|mon|ma|mes|nous|yo|mi|mis|io|mio|mia)\b|我", re.IGNORECASE
)
_DECISION = re.compile(
    r"\b(?:decid\w+|agree\w*|chose|chosen|prefer\w*|always|never|must|should|will|won't|plan\w*|need\w*|want\w*|like\w*"
    r"|love\w*|hate\w*|allerg\w+|deadline|due|instead|remember|call me|moved?|live[sd]?|works?|because|changed?)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d")
_DATE = re.compile(
    r"\b(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|yesterday"
    r"|jan(?:uary)?|feb(?:ruary)?|march|april|june|july|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[\w,;:] )[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω]\w+")
_WORD = re.compile(r"\w")
_SPACE = re.compile(r"\s+")
_OF_ROLE = {Role.USER: 4, Role.ASSISTANT: 1}
_OTHER_ROLE = -2
_SPEAKER = re.compile(r"(\w+): ")


@dataclass(frozen=True, slots=True)
class _Line:
    place: int
    text: str
    score: int


def extract_summary(
    messages: Sequence[Message], tokens: int, counter: TokenCounter, *, previous: Summary | None = None
) -> Summary:
    """Return the most informative sentences that fit, by rules; those of the previous summary compete equally."""
    up_to = messages[-1].position if messages else previous.up_to if previous else 0
    lines = dict.fromkeys((*(previous.text.splitlines() if previous else ()), *_sentences(messages)))
    ranked = sorted(
        (_Line(place, line, _score(line)) for place, line in enumerate(lines)), key=lambda one: (-one.score, -one.place)
    )
    kept: list[_Line] = []
    left = tokens
    for line in ranked:
        cost = counter.count(line.text + "\n") + 1
        if cost <= left:
            kept.append(line)
            left -= cost
        # Below this hardly a sentence fits, and the rest need not be counted.
        if left < 4:
            break
    kept.sort(key=lambda one: one.place)
    while kept and counter.count("\n".join(one.text for one in kept)) > tokens:
        # The token count of the whole may exceed the sum of its parts; the budget still holds.
        kept.remove(min(kept, key=lambda one: (one.score, one.place)))
    return Summary(text="\n".join(one.text for one in kept), up_to=up_to, by=BY_RULES)


def _sentences(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        for sentence in _BORDER.split(message.text[:_MAX_MESSAGE]):
            line = _SPACE.sub(" ", sentence).strip()
            if _WORD.search(line):
                yield f"{message.role}: {line if len(line) <= MAX_SENTENCE else line[: MAX_SENTENCE - 1] + '…'}"


def _score(line: str) -> int:
    speaker = _SPEAKER.match(line)
    said = line[speaker.end() :] if speaker else line
    score = _OF_ROLE.get(Role(speaker[1]), _OTHER_ROLE) if speaker and speaker[1] in set(Role) else 0
    score += 2 * bool(_FIRST_PERSON.search(said)) + 2 * bool(_DECISION.search(said))
    score += bool(_NUMBER.search(said)) + bool(_DATE.search(said)) + bool(_NAME.search(said))
    # A question says what was asked, seldom a fact; a word or two says nothing.
    return score - 3 * said.rstrip().endswith(("?", "？")) - 3 * (len(said) < 12)


def summarise(previous: str | None, messages: Sequence[Message], model: LanguageModel | None, tokens: int) -> Summary:
    """Return a summary of the previous one and the messages after it, in at most `tokens` tokens."""
    if model is not None and messages and tokens > 0:
        try:
            text = _folded(previous or "", messages, model, tokens)
        except ModelError:
            # A conversation goes on without its model, and the summary says who made it.
            text = ""
        if text:
            return Summary(text=text, up_to=messages[-1].position, by=str(model.identity))
    before = Summary(text=previous, up_to=0, by=BY_RULES) if previous else None
    return extract_summary(messages, tokens, counter_for(None), previous=before)


def _folded(text: str, messages: Sequence[Message], model: LanguageModel, tokens: int) -> str:
    count = counter_for(model.identity.model)
    for window in windows([Screened(one, one.text) for one in messages if one.text.strip()]):
        text = _fitting(model.complete(_asked(text, window, tokens)).text.strip(), tokens, count)
        if not text:
            # The old summary alone would claim to cover messages that it does not.
            break
    return text


def _asked(text: str, window: Sequence[Excerpt], tokens: int) -> Prompt:
    mark = fence_mark([text, *(one.text for one in window)])
    blocks = [
        fenced("summary", [quote_lines(text, mark)], mark) if text else "There is no summary yet.",
        fenced("conversation", transcript(window, mark), mark),
        # A word is seldom more than two tokens; a text that is still too long is cut.
        f"Write the new summary in at most {max(1, tokens // 2)} words.",
    ]
    shown = "\n\n".join(blocks)
    system = load_instructions("summarising")
    return Prompt(
        turns=(Turn(role=Role.USER, text=shown),),
        system=system,
        idempotency_id=f"summary-{fence_mark([system, shown])}",
    )


def _fitting(text: str, tokens: int, count: TokenCounter) -> str:
    """Return as many whole sentences from the beginning as fit."""
    if count.count(text) <= tokens:
        return text
    ends = [one.end for one in sentences(text)]
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count.count(text[: ends[middle - 1]]) <= tokens else (low, middle - 1)
    return text[: ends[low - 1]].strip() if low else ""
