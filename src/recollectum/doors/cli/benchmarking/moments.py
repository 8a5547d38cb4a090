"""Times as labelled sets write them."""

from datetime import UTC, datetime

#: What `fromisoformat` does not read: the forms of two well-known sets of conversations.
_FORMS = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M")


def to_moment(value: object) -> datetime | None:
    """The time that a field tells, in UTC where it names no zone; None when it tells none."""
    if not isinstance(value, str):
        return None
    found = _iso(value) or next((time for form in _FORMS if (time := _formed(value, form))), None)
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _formed(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)  # noqa: DTZ007 - the caller gives it a zone
    except ValueError:
        return None
