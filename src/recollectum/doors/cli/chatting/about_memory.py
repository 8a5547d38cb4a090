"""The commands about memories: /remember, /memory and /forget."""

from collections.abc import Iterable, Sequence

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.ids import is_id
from recollectum.domain.memory import Memory
from recollectum.doors.cli.chatting.lines import agreed, answer_to
from recollectum.doors.cli.chatting.talk import Talk
from recollectum.doors.cli.visible import one_line

_SHOWN = 20
_MATCHES = 5
_LONGEST = 200


def remember(talk: Talk, text: str) -> Iterable[str]:
    """Keep a text as it stands."""
    if not text:
        raise InvalidInput("there is nothing to remember; write /remember TEXT")
    # Whether it said something new or renewed what was known, the answer is the same: it is kept.
    return [f"remembered ({talk.vault.memories.save(text).id})"]


def memory(talk: Talk, query: str) -> Iterable[str]:
    """What is remembered about something, or the newest of everything."""
    found = _matching(talk, query, _SHOWN) if query else talk.vault.memories.page(limit=_SHOWN)
    return [_line(one) for one in found] or ["nothing is remembered about that" if query else "nothing is remembered"]


def forget(talk: Talk, what: str) -> Iterable[str]:
    """Forget one memory, after it was shown and the person said yes."""
    if not what:
        raise InvalidInput("there is nothing to forget; write /forget ID or /forget TEXT")
    found = [talk.vault.memories.get(what)] if is_id(what, "mem") else _matching(talk, what, _MATCHES)
    if not found:
        raise NotFound("no memory matches that; see /memory")
    for place, one in enumerate(found, start=1):
        print(f"{place}. {_line(one)}", flush=True)
    chosen = found[0] if len(found) == 1 else _chosen(talk, found)
    if chosen is None or not agreed(talk.ask, f"Forget {chosen.id}?"):
        return ["nothing was forgotten"]
    talk.vault.memories.forget(chosen.id)
    return [f"forgotten; for some days it can be brought back with: recollectum memories restore {chosen.id}"]


def _matching(talk: Talk, query: str, limit: int) -> list[Memory]:
    hits = talk.vault.recall(query, limit=limit, source="memories")
    ids = dict.fromkeys(hit.source.memory_id for hit in hits if hit.source.memory_id)
    return [talk.vault.memories.get(id) for id in ids]


def _chosen(talk: Talk, found: Sequence[Memory]) -> Memory | None:
    typed = answer_to(talk.ask, f"Which one? [1-{len(found)}, empty for none] ")
    if not typed:
        return None
    if not typed.isascii() or not typed.isdigit() or not 1 <= int(typed[:9]) <= len(found):
        raise InvalidInput(f"there is no number {typed[:20]!r} in the list; nothing was forgotten")
    return found[int(typed) - 1]


def _line(memory: Memory) -> str:
    return f"{one_line(memory.content, _LONGEST)}  ({memory.id}, {memory.created_at.date()})"
