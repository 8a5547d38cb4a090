"""The commands about the conversation itself: /reset, /purge, /checkpoint and /resume."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from recollectum.domain.errors import InvalidInput
from recollectum.doors.cli.chatting.lines import agreed
from recollectum.doors.cli.chatting.talk import Talk
from recollectum.doors.cli.output import moment, plural
from recollectum.doors.cli.visible import one_line

if TYPE_CHECKING:
    from recollectum.vault.purge_request import Preview


def reset(talk: Talk, rest: str) -> Iterable[str]:
    """End the conversation, keep what it said, and begin a new one."""
    del rest
    session_id = talk.agent.chat().id
    talk.upkeep.timer.stop(session_id)
    outcome = talk.vault.consolidation.reset(session_id)
    talk.agent.last = None
    if outcome.trouble:
        return [one_line(f"a new conversation begins; the old one will be read later: {outcome.trouble}")]
    if outcome.run is None:
        return ["a new conversation begins; there was nothing to keep"]
    run = outcome.run
    kept = run.added + run.updated + run.superseded
    return [f"a new conversation begins; {plural(kept, 'change')} kept, {run.proposed} to review (by: {run.by})"]


def purge(talk: Talk, rest: str) -> Iterable[str]:
    """Destroy the conversation for good, after the person said yes twice. It is no tool: only a person can do it."""
    if rest:
        raise InvalidInput("/purge takes nothing; it destroys this conversation, after it asked")
    session = talk.agent.chat().info()
    if not session.message_count:
        return ["there is nothing to purge; this conversation is empty"]
    # Only now: most chats purge nothing, and it takes a while to load.
    from recollectum.vault.purge_request import PurgeRequest  # noqa: PLC0415

    seen = talk.vault.purge.preview(PurgeRequest.sessions(session.id))
    what = f"{plural(session.message_count, 'message')} since {moment(session.created_at)}"
    print(f"This conversation ({session.id}) has {what}.", flush=True)
    for line in _preview_lines(seen):
        print(line, flush=True)
    if not agreed(talk.ask, "Erase it?") or not agreed(talk.ask, "Nothing brings it back. Really erase it?"):
        return ["nothing was purged"]
    talk.upkeep.timer.stop(session.id)
    receipt = talk.vault.purge.run(seen.token)
    talk.agent.last = None
    return [one_line(f"purged ({receipt.id}, {receipt.state}){f': {receipt.reason}' if receipt.reason else ''}")]


def checkpoint(talk: Talk, name: str) -> Iterable[str]:
    """Name this place in the conversation."""
    if not name:
        raise InvalidInput("the checkpoint has no name; write /checkpoint NAME")
    made = talk.vault.checkpoints.save(talk.agent.chat().id, name)
    return [one_line(f"{made.name} is at message {made.position}; go on from it with /resume {made.name}")]


def resume(talk: Talk, name: str) -> Iterable[str]:
    """Go on from a checkpoint, in a copy that ends there; also when it was made in another place."""
    if not name:
        raise InvalidInput("no checkpoint is named; write /resume NAME")
    chat = talk.vault.checkpoints.resume(name)
    talk.agent.key, talk.agent.last = chat.key, None
    return [f"going on from {one_line(name)}, at message {chat.info().message_count}"]


def _preview_lines(seen: "Preview") -> list[str]:
    """What goes with the conversation, and what stays without it."""
    told = (
        (seen.memories_derived, "that came of nothing else: erased too"),
        (seen.memories_kept, "that also came from elsewhere: kept"),
        (len(seen.backups), "that hold it: destroyed"),
    )
    names = ("memory", "memory", "backup")
    return [f"{plural(count, name)} {what}" for (count, what), name in zip(told, names, strict=True) if count]
