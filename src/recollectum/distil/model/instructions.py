"""Builds the prompt and the answer schema for one window of a conversation."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from recollectum.context.fences import closing, label, one_line, opening, quote_lines
from recollectum.distil.model.windows import Excerpt
from recollectum.domain.memory import Kind, Memory
from recollectum.domain.message import Json, Role
from recollectum.domain.models.language_model import Prompt, Turn
from recollectum.domain.proposal import Act

_FOLDER = Path(__file__).parent / "prompts"


def load_instructions(name: str) -> str:
    """The instructions of that name."""
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()


#: What a model answers for what is known already.
IGNORE = "ignore"
_ACTS = (Act.ADD.value, Act.UPDATE.value, Act.SUPERSEDE.value, IGNORE)
KINDS = (Kind.FACT, Kind.PREFERENCE, Kind.PROJECT, Kind.TASK, Kind.CORRECTION)
#: A known memory is shown up to here.
_MAX_KNOWN = 300


def closed_object(members: Mapping[str, Json]) -> dict[str, Json]:
    """An object of exactly these members: some servers take no other schema."""
    return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}


_QUOTE = closed_object({"text": {"type": "string"}, "message": {"type": "integer"}})
_FINDING = closed_object(
    {
        # In the order in which they are written: first the words, then what they say, and only then what to do.
        "quotes": {"type": "array", "items": _QUOTE},
        "content": {"type": "string"},
        "kind": {"type": "string", "enum": [kind.value for kind in KINDS]},
        "act": {"type": "string", "enum": list(_ACTS)},
        "target": {"type": ["integer", "null"]},
        "importance": {"type": "number"},
        "reason": {"type": "string"},
    }
)
#: What a model answers about a window.
SCHEMA: Mapping[str, Json] = closed_object({"findings": {"type": "array", "items": _FINDING}})


def window_prompt(window: Sequence[Excerpt], known: Sequence[Memory], instructions: str | None) -> Prompt:
    """The prompt for one window; the same for the same window."""
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
    """A mark that is the same for the same texts, and that no text can hold: it would have to hold its own digest."""
    digest = blake2b(digest_size=8)
    for text in texts:
        digest.update(text.encode("utf-8", "surrogatepass") + b"\x00")
    return digest.hexdigest()


def fenced(name: str, lines: Iterable[str], mark: str) -> str:
    """Some lines between two marks."""
    return "\n".join([opening(name, mark), *lines, closing(name, mark)])


def transcript(window: Sequence[Excerpt], mark: str) -> list[str]:
    """The messages of a window, numbered from 1, every line of theirs behind a bar."""
    return [_shown(number, one, mark) for number, one in enumerate(window, start=1)]


def _shown(number: int, one: Excerpt, mark: str) -> str:
    message = one.source.message
    speaker = f" ({label(message.speaker, mark)})" if message.speaker else ""
    before = "" if one.fresh else ", read before"
    head = f"[{number}] {message.role.value}{speaker}, {message.created_at.date().isoformat()}{before}"
    return f"{head}\n{quote_lines(one.text.strip(), mark)}"
