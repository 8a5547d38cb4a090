"""Splits a conversation into windows that a model can read, and builds the prompt and the answer schema for one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from recollectum.context.fences import closing, label, one_line, opening, quote_lines
from recollectum.distil.screening import Screened
from recollectum.domain.memory import Kind, Memory
from recollectum.domain.message import Json, Role
from recollectum.domain.models.language_model import Prompt, Turn
from recollectum.domain.proposal import Act
from recollectum.domain.records import dataclass
from recollectum.text.tokens import estimate

#: About this many tokens are read at once.
WINDOW = 6000


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A message as it is shown, or a part of one that is too long to be shown whole."""

    source: Screened
    start: int
    end: int
    #: False if the previous window showed it, and it is repeated here for context.
    fresh: bool = True

    @property
    def text(self) -> str:
        """Return the shown text."""
        return self.source.text[self.start : self.end]


def windows(said: Sequence[Screened], tokens: int = WINDOW) -> Iterator[tuple[Excerpt, ...]]:
    """Yield the conversation in windows, cut between turns unless a turn is too long; each excerpt is fresh once."""
    pieces = [piece for one in said for piece in _pieces(one, tokens // 2)]
    costs = [estimate(piece.text) for piece in pieces]
    turns = [place for place, piece in enumerate(pieces) if piece.source.message.role is Role.USER and piece.start == 0]
    begin = 0
    while begin < len(pieces):
        end = _reach(costs, begin, tokens)
        if end < len(pieces):
            end = max((turn for turn in turns if begin < turn <= end), default=end)
        lead = _overlap(costs, turns, begin, tokens // 4)
        yield (*(replace(piece, fresh=False) for piece in pieces[lead:begin]), *pieces[begin:end])
        begin = end


def _pieces(one: Screened, tokens: int) -> Iterator[Excerpt]:
    start = 0
    while start < len(one.text):
        end = min(len(one.text), start + 4 * tokens)
        while end - start > 1 and estimate(one.text[start:end]) > tokens:
            end = start + (end - start) // 2
        if end < len(one.text):
            end = _border(one.text, start, end)
        yield Excerpt(one, start, end)
        start = end


def _border(text: str, start: int, end: int) -> int:
    """Return the last position before the end at which a line, a sentence or at least a word ends."""
    middle = (start + end) // 2
    found = (text.rfind(mark, middle, end) + len(mark) for mark in ("\n", ". ", " ") if mark in text[middle:end])
    return next(found, end)


def _reach(costs: Sequence[int], begin: int, tokens: int) -> int:
    end = begin + 1
    spent = costs[begin]
    while end < len(costs) and spent + costs[end] <= tokens:
        spent += costs[end]
        end += 1
    return end


def _overlap(costs: Sequence[int], turns: Sequence[int], begin: int, tokens: int) -> int:
    """Return the start of the turn before a window, if it is short enough to be shown again."""
    before = max((turn for turn in turns if turn < begin), default=begin)
    return before if sum(costs[before:begin]) <= tokens else begin


_FOLDER = Path(__file__).parent / "prompts"


def load_instructions(name: str) -> str:
    """Return the instructions of that name."""
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()


#: The answer of a model for a known fact.
IGNORE = "ignore"
_ACTS = (Act.ADD.value, Act.UPDATE.value, Act.SUPERSEDE.value, IGNORE)
KINDS = (Kind.FACT, Kind.PREFERENCE, Kind.PROJECT, Kind.TASK, Kind.CORRECTION)
#: The most characters shown of a known memory.
_MAX_KNOWN = 300


def closed_object(members: Mapping[str, Json]) -> dict[str, Json]:
    """Return the schema of an object with exactly these members: some servers accept no other."""
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


_QUOTE = closed_object({"text": {"type": "string"}, "message": {"type": "integer"}})
_FINDING = closed_object(
    {
        # In the order of writing: first the quotation, then the claim, and only then the action.
        "quotes": {"type": "array", "items": _QUOTE},
        "content": {"type": "string"},
        "kind": {"type": "string", "enum": [kind.value for kind in KINDS]},
        "act": {"type": "string", "enum": list(_ACTS)},
        "target": {"type": ["integer", "null"]},
        "importance": {"type": "number"},
        "reason": {"type": "string"},
    }
)
#: The answer of a model about a window.
SCHEMA: Mapping[str, Json] = closed_object({"findings": {"type": "array", "items": _FINDING}})


def window_prompt(window: Sequence[Excerpt], known: Sequence[Memory], instructions: str | None) -> Prompt:
    """Return the prompt for one window; the same for the same window."""
    mark = fence_mark([*(one.text for one in window), *(one.content for one in known)])
    held = [f"[{number}] | {one_line(one.content[:_MAX_KNOWN], mark)}" for number, one in enumerate(known, start=1)]
    blocks = [
        fenced("known", held, mark) if held else "Nothing is known yet.",
        fenced("conversation", transcript(window, mark), mark),
        "Report the findings.",
    ]
    wanted = load_instructions("extracting") if instructions is None else instructions.strip()
    system = f"{wanted}\n\n{load_instructions('form')}"
    text = "\n\n".join(blocks)
    return Prompt(
        turns=(Turn(role=Role.USER, text=text),),
        system=system,
        schema=SCHEMA,
        idempotency_id=f"distil-{fence_mark([system, text])}",
    )


def fence_mark(texts: Iterable[str]) -> str:
    """Return a mark that is deterministic for the texts, and that none can contain: it would contain its own digest."""
    digest = blake2b(digest_size=8)
    for text in texts:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\x00")
    return digest.hexdigest()


def fenced(name: str, lines: Iterable[str], mark: str) -> str:
    """Return some lines between two marks."""
    return "\n".join([opening(name, mark), *lines, closing(name, mark)])


def transcript(window: Sequence[Excerpt], mark: str) -> list[str]:
    """Return the messages of a window, numbered from 1, with every line behind a bar."""
    return [_shown(number, one, mark) for number, one in enumerate(window, start=1)]


def _shown(number: int, one: Excerpt, mark: str) -> str:
    message = one.source.message
    speaker = f" ({label(message.speaker, mark)})" if message.speaker else ""
    before = "" if one.fresh else ", read before"
    head = f"[{number}] {message.role.value}{speaker}, {message.created_at.date().isoformat()}{before}"
    return f"{head}\n{quote_lines(one.text.strip(), mark)}"
