"""The commands about what the model is shown: /context and /why."""

from collections.abc import Iterable, Iterator

from recollectum.domain.context import Context, PartKind
from recollectum.domain.hit import Hit
from recollectum.doors.cli.chatting.talk import Talk
from recollectum.doors.cli.context import ledger_lines
from recollectum.doors.cli.explaining import explained
from recollectum.doors.cli.recall import citation
from recollectum.doors.cli.visible import one_line, visible

_LONGEST = 120
_MOST_HITS = 100


def context(talk: Talk, query: str) -> Iterable[str]:
    """What the model would be shown now, and the ledger of it."""
    made = talk.agent.context(query, talk.agent.chat().id)
    return [*visible(made.whole).splitlines(), "", *ledger_lines(made.ledger)]


def why(talk: Talk, rest: str) -> Iterable[str]:
    """Why the last context held what it held: the ledger, and what ranked the recalled texts."""
    del rest
    if talk.agent.last is None:
        return ["nothing was asked yet"]
    query, made = talk.agent.last
    return [*ledger_lines(made.ledger), *_recalled(talk, query, made)]


def _recalled(talk: Talk, query: str, made: Context) -> Iterator[str]:
    """The recalled texts of a context with their reasons, as far as recall still finds them."""
    ids = {id for part in made.ledger.parts if part.kind is PartKind.MEMORY for id in part.ids}
    if not ids:
        yield "nothing was recalled"
        return
    for hit in talk.vault.recall(query, limit=_MOST_HITS):
        if _id(hit) in ids:
            yield f"recalled: {one_line(hit.text, _LONGEST)}"
            yield from (f"  {line}" for line in (citation(hit.source), *explained(hit.reasons)))


def _id(hit: Hit) -> str:
    """The name under which a ledger has a recalled text."""
    return hit.source.memory_id or hit.source.message_id or str(hit.source)
