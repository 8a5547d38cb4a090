"""Reads the `sessions.json` of PicoBot, which is imported whole and then renamed."""

from collections.abc import Iterator, Mapping
from typing import BinaryIO

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json
from recollectum.transfer.foreign_json import as_list, as_object
from recollectum.transfer.forms.building import Talk, moment, optional_moment, role_of, text_field
from recollectum.transfer.forms.json_files import read_object
from recollectum.vault.files.foreign_sources import ForeignItem, Progress

AGENT = "picobot"
NAME = "PicoBot sessions"
FILE = "sessions.json"
MIGRATED = ".migrated"


def fits(value: Mapping[str, Json]) -> bool:
    """Return whether an object is a snapshot of sessions."""
    found = value.get("sessions")
    return isinstance(found, list) and all(isinstance(one, dict) and "conversation" in one for one in found[:3])


def read(file: BinaryIO, progress: Progress) -> Iterator[ForeignItem]:
    """Yield every session with its messages; raise at the first damage, because the file is imported whole."""
    for place, one in enumerate(as_list(read_object(file, progress).get("sessions"), "sessions"), start=1):
        session = as_object(one, f"session {place}")
        began = moment(session.get("created_at"), f"created_at of session {place}")
        talk = Talk(
            AGENT,
            text_field(session, "id", f"session {place}"),
            began,
            updated=optional_moment(session.get("last_active"), began),
            person=text_field(session, "user_id", f"session {place}"),
            channel=str(session.get("channel_id") or "main"),
            extra={"channel_type": session.get("channel_type"), "state": session.get("state")},
        )
        yield talk.begins
        said = as_list(session.get("conversation"), f"conversation of session {place}")
        for number, message in enumerate(said, start=1):
            who, body = _variant(message, f"message {number} of session {place}")
            extra = {"tool_call_id": body["tool_call_id"]} if body.get("tool_call_id") else {}
            text = body.get("content")
            if not isinstance(text, str):
                raise InvalidInput(f"message {number} of session {place} has no content")
            # The program keeps no time of a message: each has that of its session.
            yield talk.say(role_of(who), text, began, extra=extra)


def _variant(message: Json, place: str) -> tuple[str, dict[str, Json]]:
    """Return who speaks, and the fields: the program writes an object with the speaker as its only key."""
    value = as_object(message, place)
    if len(value) != 1:
        raise InvalidInput(f"{place} names no single speaker")
    ((who, body),) = value.items()
    return who, as_object(body, place)
