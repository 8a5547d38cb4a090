"""Writes the profile of a person in a few ranked lines, by one model call or by rank alone."""

from collections.abc import Mapping, Sequence
from typing import cast

from recollectum.context.fences import one_line
from recollectum.distil.model.instructions import fence_mark, fenced, load_instructions
from recollectum.distil.reconciliation import current_memories, is_supported, says_same
from recollectum.domain.context import MAX_BULLETS, Bullet, Profile
from recollectum.domain.errors import ModelError
from recollectum.domain.memory import Kind, Memory
from recollectum.domain.message import Json, Role
from recollectum.domain.models.language_model import Prompt, Turn
from recollectum.domain.proposal import RULES
from recollectum.domain.trust import Trust
from recollectum.models.language.json_schema import explain_misfit
from recollectum.models.language.port import LanguageModel

_LASTING = frozenset({Kind.FACT, Kind.PREFERENCE})
_PASSING = frozenset({Kind.PROJECT, Kind.TASK})
#: Of projects and tasks, only the newest describe the person now.
_RECENT = 10
#: The number of memories shown to a model.
_SHOWN = 60
_MAX_TEXT = 200

_BULLET: Json = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "memories": {"type": "array", "items": {"type": "integer"}}},
    "required": ["text", "memories"],
    "additionalProperties": False,
}
_SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {"bullets": {"type": "array", "items": _BULLET}},
    "required": ["bullets"],
    "additionalProperties": False,
}


def profile(memories: Sequence[Memory], model: LanguageModel | None) -> Profile | None:
    """Return the profile of the person; None when nothing is known, and the ranked memories if no model is used."""
    ranked = _ranked(memories)
    if not ranked:
        return None
    if model is not None:
        try:
            bullets = _written(ranked[:_SHOWN], model)
        except ModelError:
            # A session also starts without its model, and the profile says who made it.
            bullets = ()
        if bullets:
            return Profile(bullets, str(model.identity))
    return Profile(_listed(ranked), RULES)


def _ranked(memories: Sequence[Memory]) -> list[Memory]:
    # A profile has no labels, so it must contain only what the person said.
    held = [one for one in current_memories(memories) if one.trust is Trust.OWNER and one.content.strip()]
    newest = sorted((one for one in held if one.kind in _PASSING), key=lambda one: (one.updated_at, one.id))[-_RECENT:]
    chosen = [one for one in held if one.kind in _LASTING] + newest
    return sorted(chosen, key=lambda one: (-one.importance, -one.updated_at.timestamp(), one.id))


def _listed(ranked: Sequence[Memory]) -> tuple[Bullet, ...]:
    bullets: list[Bullet] = []
    for memory in ranked:
        text = _line(memory.content)
        if len(bullets) == MAX_BULLETS:
            break
        if not any(says_same(text, one.text) for one in bullets):
            bullets.append(Bullet(text, (memory.id,)))
    return tuple(bullets)


def _written(ranked: Sequence[Memory], model: LanguageModel) -> tuple[Bullet, ...]:
    reply = model.complete(_asked(ranked))
    if explain_misfit(reply.value, _SCHEMA):
        return ()
    answers = cast("Sequence[Mapping[str, Json]]", cast("Mapping[str, Json]", reply.value)["bullets"])
    found = [_bullet(answer, ranked) for answer in answers]
    importance = {one.id: one.importance for one in ranked}
    kept = sorted(
        (one for one in found if one), key=lambda one: -max(importance[memory_id] for memory_id in one.memory_ids)
    )
    return tuple(kept[:MAX_BULLETS])


def _bullet(answer: Mapping[str, Json], ranked: Sequence[Memory]) -> Bullet | None:
    """Return the bullet, if existing memories support it."""
    numbers = cast("Sequence[int]", answer["memories"])
    cited = [ranked[number - 1] for number in dict.fromkeys(numbers) if 0 < number <= len(ranked)]
    text = _line(str(answer["text"]).removeprefix("- "))
    if not cited or not text or not is_supported(text, "\n".join(one.content for one in cited)):
        return None
    return Bullet(text, tuple(one.id for one in cited))


def _asked(ranked: Sequence[Memory]) -> Prompt:
    mark = fence_mark(one.content for one in ranked)
    lines = [
        f"[{number}] {one.kind.value}, importance {one.importance:.2f} | {one_line(one.content[: 2 * _MAX_TEXT], mark)}"
        for number, one in enumerate(ranked, start=1)
    ]
    text = f"{fenced('memories', lines, mark)}\n\nWrite at most {MAX_BULLETS} bullets."
    system = load_instructions("profile")
    return Prompt(
        turns=(Turn(role=Role.USER, text=text),),
        system=system,
        schema=_SCHEMA,
        idempotency_id=f"profile-{fence_mark([system, text])}",
    )


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_TEXT else line[: _MAX_TEXT - 1].rstrip() + "…"
