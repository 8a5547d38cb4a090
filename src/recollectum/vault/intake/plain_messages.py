"""Admits plain messages in one step: ASCII text and numbers in which the intake would find nothing to change."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import cast

from recollectum.context.echoes import marked_blocks
from recollectum.context.served import may_hold_blocks
from recollectum.domain.access.owner import Owner
from recollectum.domain.message import Json, Message, Role, trust_of_role
from recollectum.domain.notice import INDEXED
from recollectum.domain.trust import Trust, least_trusted
from recollectum.text.secrets.redaction import is_plain
from recollectum.text.tokens import estimate
from recollectum.vault.gate import Gate
from recollectum.vault.intake.admitted import AdmittedMessage
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.intake.trust import check_shared_trust

#: The time of a message until its transaction sets one.
_UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)
#: The longest name and value of an extra field whose check is remembered.
_SHORT = 32
#: Numbers are less, either way.
_MOST = 1 << 63
#: How deep objects, and lists in them, are looked at.
_LEVELS = 2


def admit_messages(
    said: Iterable[NewMessage], gate: Gate, otherwise: Callable[[NewMessage], AdmittedMessage | None]
) -> list[AdmittedMessage]:
    """Admit new messages: the plain ones in one step, and each of the others as `otherwise` does, if at all."""
    plain = PlainMessages(gate.owner, own=gate.own)
    return [own for one in said if (own := plain.admit(one) or otherwise(one)) is not None]


class PlainMessages:
    """Admits the plain ones among the messages of one write, exactly as the intake would admit them."""

    __slots__ = ("_own", "_owner", "_trusts")

    def __init__(self, owner: Owner | None, *, own: bool) -> None:
        self._owner = owner
        self._own = own
        #: The role of each name that was met, and the trust in what it says.
        self._trusts: dict[str, tuple[Role, Trust]] = {}

    def admit(self, said: NewMessage) -> AdmittedMessage | None:
        """Return the message as it may be written; None for one that the intake has to look at."""
        text, extra = said.content, said.extra
        if not isinstance(text, str) or len(text) > INDEXED or not is_plain_text(text):
            return None
        kept = _copy_plain(extra) if extra else {}
        if (
            kept is None
            or said.tool_calls
            or said.thoughts
            or said.speaker
            or said.native_id
            or said.model
            or said.tokens is not None
            or said.at is not None
        ):
            return None
        # A program without a type checker may pass anything as a role.
        role = cast("object", said.role)
        found = (self._trusts.get(role) or self._trust(role)) if isinstance(role, str) else None
        if found is None:
            return None
        return AdmittedMessage(
            Message(
                id="",
                session_id="",
                position=0,
                role=found[0],
                content=text,
                created_at=_UNKNOWN_TIME,
                token_estimate=estimate(text),
                trust=found[1],
                extra=kept,
            ),
            has_time=False,
        )

    def _trust(self, name: str) -> tuple[Role, Trust] | None:
        """Return a role and the trust in it; None for a name that is no role. Raise where no such text is taken."""
        if name not in _ROLES:
            return None
        role = Role(name)
        trust = trust_of_role(role)
        own = trust if self._own else least_trusted(trust, Trust.UNKNOWN)
        found = self._trusts[name] = role, check_shared_trust(self._owner, own)
        return found


_ROLES = frozenset(Role)


def is_plain_text(text: str) -> bool:
    """Return whether a text is admitted unchanged for certain: ASCII without NUL, echoes and secrets."""
    return (
        text.isascii() and "\0" not in text and not may_hold_blocks(text) and not marked_blocks(text) and is_plain(text)
    )


def _copy_plain(value: object, levels: int = _LEVELS) -> dict[str, Json] | None:
    """Return a copy of a JSON object of short texts and lists of numbers that is admitted unchanged for certain.

    None for any other value. A copy, because the caller may change its own. Packed state is such an object.
    """
    if not isinstance(value, dict) or not levels:
        return None
    made: dict[str, Json] = {}
    for name, inner in cast("dict[object, object]", value).items():
        if not (isinstance(name, str) and 0 < len(name) <= _SHORT):
            return None
        if isinstance(inner, str):
            copied = inner if len(inner) <= _SHORT else None
        else:
            copied = _copy_numbers(inner)
            copied = _copy_plain(inner, levels - 1) if copied is None else copied
        if copied is None or not _is_plain_field(name, copied if isinstance(copied, str) else ""):
            return None
        made[name] = copied
    return made


def _copy_numbers(value: object, levels: int = _LEVELS) -> list[Json] | None:
    """Return a copy of a list of whole numbers, or of lists of them; None for any other value."""
    if not isinstance(value, list) or not levels:
        return None
    items = cast("list[object]", value)
    kinds = set(map(type, items))
    if kinds == {int}:
        numbers = cast("list[int]", items)
        return [*numbers] if max(numbers) < _MOST and min(numbers) > -_MOST else None
    lists = [_copy_numbers(one, levels - 1) for one in items]
    return None if None in lists else cast("list[Json]", lists)


@lru_cache(maxsize=256)
def _is_plain_field(name: str, value: str) -> bool:
    # Together, as the search for secrets sees them: `"password": "…"` says more than the value alone. What is inside a
    # plain text is plain too.
    return is_plain_text(name) and is_plain_text(value) and is_plain_text(f'"{name}": "{value}"')
