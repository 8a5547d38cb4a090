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
