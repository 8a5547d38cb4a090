"""Parses hook events of all supported agents, and formats the answer for each."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass


class Moment(StrEnum):
    """The moments at which a hook acts, independent of the agent's names."""

    STARTED = "started"
    ASKED = "asked"
    ANSWERED = "answered"
    COMPACTING = "compacting"
    ENDED = "ended"


#: By the agents' own names, case-insensitive.
_MOMENTS = {
    "sessionstart": Moment.STARTED,
    "userpromptsubmit": Moment.ASKED,
    "beforeagent": Moment.ASKED,
    "beforesubmitprompt": Moment.ASKED,
    "stop": Moment.ANSWERED,
    "afteragent": Moment.ANSWERED,
    "afteragentresponse": Moment.ANSWERED,
    "precompact": Moment.COMPACTING,
    "precompress": Moment.COMPACTING,
    "sessionend": Moment.ENDED,
}
#: After these events the model has lost its context, or may have.
_FORGETFUL = frozenset({"clear", "compact", "resume"})


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """One call of a hook."""

    #: The agent's name in its session keys.
    agent: str
    moment: Moment
    #: The agent's name for the event; the answer must repeat it.
    name: str
    #: The agent's own id of the conversation.
    conversation: str
    transcript: Path | None = None
    prompt: str = ""
    answer: str = ""
    #: Whether the model has lost what was injected before.
    forgot: bool = False
    #: Agents of the Cursor family expect another answer format.
    flat: bool = False
    #: The folder that the agent works in, if it says so.
    folder: Path | None = None


def read_event(agent: str, fields: Mapping[str, object]) -> HookEvent | None:
    """Parse the event of an agent; None for an event that needs no action."""
    name = _text(fields, "hook_event_name")
    moment = _MOMENTS.get(name.casefold())
    if moment is None:
        return None
    conversation = _text(fields, "session_id") or _text(fields, "conversation_id")
    if not conversation:
        raise InvalidInput("the event names no conversation; it needs a session_id")
    path = _text(fields, "transcript_path")
    return HookEvent(
        agent=agent,
        moment=moment,
        name=name,
        conversation=conversation,
        transcript=Path(path) if path and Path(path).is_absolute() else None,
        prompt=_text(fields, "prompt"),
        answer=_text(fields, "last_assistant_message") or _text(fields, "prompt_response") or _text(fields, "text"),
        forgot=moment is Moment.COMPACTING or _text(fields, "source") in _FORGETFUL,
        flat=agent == "cursor",
        folder=_folder(fields),
    )


def output(event: HookEvent, context: str, remark: str = "") -> dict[str, object]:
    """Return the answer for the agent: the context in its format, and a remark that it shows to the person."""
    if event.flat:
        # This format has no field for a remark.
        return {"additional_context": context} if context else {}
    made: dict[str, object] = {"systemMessage": remark} if remark else {}
    if context:
        made["hookSpecificOutput"] = {"hookEventName": event.name, "additionalContext": context}
    return made


def _folder(fields: Mapping[str, object]) -> Path | None:
    """Return the working directory; agents of the Cursor family list the roots of their workspace instead."""
    roots = fields.get("workspace_roots")
    listed = cast("list[object]", roots) if isinstance(roots, list) else []
    named = _text(fields, "cwd") or next((one for one in listed if isinstance(one, str)), "")
    return Path(named) if named and "\0" not in named and Path(named).is_absolute() else None


def _text(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def as_fields(value: object) -> Mapping[str, object]:
    """Return the fields of a JSON object."""
    if not isinstance(value, dict):
        raise InvalidInput("the event is not a JSON object")
    return cast("Mapping[str, object]", value)
