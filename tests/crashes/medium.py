"""What a power cut can leave on the medium: what was synced, and any part of what was not."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from tests.crashes.recording import Cut, Deleted, Entry, Made, Synced, Wrote

SECTOR = 512

#: What becomes of the changes to one file that were not synced.
Fate = Callable[[Sequence[Wrote | Cut], random.Random], Sequence[Wrote | Cut]]
#: The files that a computer finds when it starts again.
Image = Mapping[str, bytes]


@dataclass(slots=True)
class _File:
    synced: bytearray = field(default_factory=bytearray)
    pending: list[Wrote | Cut] = field(default_factory=list[Wrote | Cut])


@dataclass(slots=True)
class Medium:
    """The disk at one moment: for each file what is certain and what is not."""

    _files: dict[int, _File] = field(default_factory=dict[int, _File])
    #: Names that came and went, in order; the first `_certain` of them are on the medium.
    _names: list[Made | Deleted] = field(default_factory=list[Made | Deleted])
    _certain: int = 0

    def take(self, entry: Entry) -> None:
        """Let one more thing happen."""
        match entry:
            case Made():
                self._files[entry.file] = _File()
                self._names.append(entry)
            case Wrote() | Cut():
                self._files[entry.file].pending.append(entry)
            case Synced():
                self._sync(entry.file)
            case Deleted():
                self._names.append(entry)
                self._certain = len(self._names) if entry.synced else self._certain
            case _:
                pass

    def image(self, fate: Fate, chance: random.Random) -> Image:
        """The files after a power cut now, when what is not certain meets this fate."""
        unsure = len(self._names) - self._certain
        # Names share the fate of what the files hold; there is no half of a name.
        kept = {0: 0, 1: unsure}.get(FATES.index(fate), chance.randint(0, unsure))
        survived = self._certain + kept
        names: dict[str, int] = {}
        for change in islice(self._names, survived):
            if isinstance(change, Made):
                names[change.name] = change.file
            else:
                names.pop(change.name, None)
        return {name: self._content(self._files[number], fate, chance) for name, number in names.items()}

    def content(self, number: int, fate: Fate, chance: random.Random) -> bytes:
        """What one file holds after a power cut now, whatever its name is."""
        return self._content(self._files[number], fate, chance)

    def _sync(self, number: int) -> None:
        file = self._files[number]
        for change in file.pending:
            _apply(file.synced, change)
        file.pending.clear()
        # The first sync of a file puts its name on the medium, and with it what happened to names before.
        made = next(at for at, one in enumerate(self._names) if isinstance(one, Made) and one.file == number)
        if made >= self._certain:
            self._certain = len(self._names)

    def _content(self, file: _File, fate: Fate, chance: random.Random) -> bytes:
        content = bytearray(file.synced)
        for change in fate(file.pending, chance):
            _apply(content, change)
        return bytes(content)


def none(pending: Sequence[Wrote | Cut], chance: random.Random) -> Sequence[Wrote | Cut]:
    """Nothing of it reached the medium."""
    return ()


def everything(pending: Sequence[Wrote | Cut], chance: random.Random) -> Sequence[Wrote | Cut]:
    """All of it did."""
    return pending


def some(pending: Sequence[Wrote | Cut], chance: random.Random) -> Sequence[Wrote | Cut]:
    """Any part of it did."""
    return [change for change in pending if chance.random() < 0.5]


def beginning(pending: Sequence[Wrote | Cut], chance: random.Random) -> Sequence[Wrote | Cut]:
    """The first part of it did."""
    return pending[: chance.randint(0, len(pending))]


def torn(pending: Sequence[Wrote | Cut], chance: random.Random) -> Sequence[Wrote | Cut]:
    """Single sectors of it did."""
    return [sector for change in pending for sector in _sectors(change) if chance.random() < 0.6]


def shuffled(pending: Sequence[Wrote | Cut], chance: random.Random) -> Sequence[Wrote | Cut]:
    """Most of it did, in another order."""
    left = [change for change in pending if chance.random() < 0.8]
    chance.shuffle(left)
    return left


FATES: tuple[Fate, ...] = (none, everything, some, beginning, torn, shuffled)


def _sectors(change: Wrote | Cut) -> Iterator[Wrote | Cut]:
    """A write as the sectors of the medium that it covers, the first and last perhaps in part."""
    if isinstance(change, Cut):
        yield change
        return
    at = change.offset
    end = change.offset + len(change.data)
    while at < end:
        stop = min((at // SECTOR + 1) * SECTOR, end)
        yield Wrote(change.file, at, change.data[at - change.offset : stop - change.offset])
        at = stop


def _apply(content: bytearray, change: Wrote | Cut) -> None:
    if isinstance(change, Cut):
        del content[change.size :]
        content.extend(bytes(change.size - len(content)))
        return
    end = change.offset + len(change.data)
    if end > len(content):
        content.extend(bytes(end - len(content)))
    content[change.offset : end] = change.data
