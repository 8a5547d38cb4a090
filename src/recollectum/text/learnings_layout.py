"""Putting lines into LEARNINGS.md and taking them out, while all that a person wrote stays where it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from recollectum.domain.memory import Kind
from recollectum.text.learnings_file import Entry, Other, Piece, comment, line_break, section, to_entry, to_text

_INDENTS = (" ", "\t")


@dataclass(frozen=True, slots=True)
class Placed:
    """A piece of the file, and the learning it shows."""

    piece: Piece
    memory_id: str | None = None


@dataclass(slots=True)
class Changes:
    """What is to be shown differently; entries are named by their place among the entries."""

    #: What stands in the place of an entry: itself, another text, or None for nothing.
    shown: Mapping[int, Placed | None]
    #: Words that are put above an entry, and the line that is put below it.
    remarks: Mapping[int, tuple[str, Placed | None]] = field(default_factory=dict[int, tuple[str, Placed | None]])
    #: Lines that have no place yet, each with the words above it, newest first.
    new: Sequence[tuple[str, Placed]] = ()


def lay_out(pieces: Sequence[Piece], changes: Changes) -> list[Placed]:
    """The file with the changes in it."""
    newline = line_break(pieces)
    laid: list[Placed] = []
    place = 0
    for piece in pieces:
        if isinstance(piece, Entry):
            laid += _in_place(piece, place, changes, newline)
            place += 1
        else:
            laid.append(Placed(piece))
    for words, placed in reversed(changes.new):
        added = [Placed(comment(words, newline))] if words else []
        laid = _inserted(laid, [*added, _written(placed, newline)], newline)
    return _separated(laid, newline)


def text_of(laid: Sequence[Placed]) -> str:
    """The file that was laid out."""
    return to_text([one.piece for one in laid])


def _in_place(piece: Entry, place: int, changes: Changes, newline: str) -> list[Placed]:
    shown = changes.shown.get(place, Placed(piece))
    if shown is None:
        return []
    words, below = changes.remarks.get(place, ("", None))
    now = shown.piece
    same = isinstance(now, Entry) and (now.category, now.day, now.text) == (piece.category, piece.day, piece.text)
    found = [Placed(piece, shown.memory_id) if same else _written(shown, newline)]
    if words:
        found.insert(0, Placed(comment(words, newline)))
    return [*found, _written(below, newline)] if below else found


def _written(placed: Placed, newline: str) -> Placed:
    piece = placed.piece
    if isinstance(piece, Entry) and piece.category and piece.day:
        return Placed(to_entry(piece.category, piece.day, piece.text, newline), placed.memory_id)
    return placed


def _inserted(laid: Sequence[Placed], added: Sequence[Placed], newline: str) -> list[Placed]:
    entry = added[-1].piece
    category = entry.category if isinstance(entry, Entry) else None
    at = _place_for(laid, category)
    if at is None:
        headed = [Placed(piece) for piece in section(category, newline)] if category else []
        return [*laid, *headed, *added]
    return [*laid[:at], *added, *laid[at:]]


def _place_for(laid: Sequence[Placed], category: Kind | None) -> int | None:
    """Before the first entry of the category, else below its heading; None when there is no heading."""
    heading: int | None = None
    for at, one in enumerate(laid):
        if isinstance(one.piece, Entry) and one.piece.category is category:
            return _above_remark(laid, at)
        if isinstance(one.piece, Other) and one.piece.opens is category and heading is None:
            heading = at + 1
    if heading is None or not _is_indented(laid, heading):
        return heading
    # An indented line would become a part of the entry above it: after all that stands in the section, then.
    following = (at for at in range(heading, len(laid)) if not _is_loose(laid[at].piece))
    return next(following, len(laid))


def _above_remark(laid: Sequence[Placed], at: int) -> int:
    """Where a remark of ours stands above an entry, the place above the remark."""
    return at - 1 if at and laid[at - 1].piece.raw.startswith("<!-- Conflict") else at


def _is_indented(laid: Sequence[Placed], at: int) -> bool:
    raws = (one.piece.raw for one in laid[at:])
    return next((raw for raw in raws if raw.strip()), "").startswith(_INDENTS)


def _is_loose(piece: Piece) -> bool:
    return not piece.raw.strip() or piece.raw.startswith(_INDENTS)


def _separated(laid: Sequence[Placed], newline: str) -> list[Placed]:
    """Every piece but the last ends its line."""
    return [
        replace(one, piece=replace(one.piece, raw=one.piece.raw + newline))
        if number < len(laid) - 1 and not one.piece.raw.endswith("\n")
        else one
        for number, one in enumerate(laid)
    ]
