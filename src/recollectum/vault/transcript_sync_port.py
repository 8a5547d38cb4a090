"""What following asks of whoever can read transcripts: tell a form, and turn lines into messages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from recollectum.domain.message import Message
from recollectum.domain.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What some lines hold."""

    #: None while nothing has said which conversation this is.
    session: Session | None
    messages: tuple[Message, ...] = ()
    #: Lines that could not be read, counted from 1 within these lines, each with the reason.
    damage: tuple[tuple[int, str], ...] = ()


class TranscriptReader(Protocol):
    """Reads every form that can be followed."""

    def recognise(self, lines: Sequence[bytes]) -> str | None:
        """The form of a file by its first lines; None when it is none of ours."""
        ...

    def is_whole(self, form: str) -> bool:
        """Whether a later line may change an earlier one, so that the file is read from its beginning each time."""
        ...

    def read(self, form: str, lines: Sequence[bytes], known: Session | None) -> Gathered:
        """What the lines hold; `known` is the session that earlier lines of the file began."""
        ...
