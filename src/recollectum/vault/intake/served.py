"""Keeps keyed digests of the blocks that memory served, so that an echo without its marks is recognised."""

import hmac
import re
import secrets
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import NamedTuple

from recollectum.context.echoes import TAG, WRAPPER, Range
from recollectum.context.rendering import LEADS
from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import StorageError
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import served
from recollectum.storage.tables.content.served import ServedDigest
from recollectum.storage.tables.trail import meta
from recollectum.vault.gate import operation
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.service import VaultService

#: The number of digests that a vault keeps, and for how long.
MAX_BLOCKS, MAX_AGE = 2000, timedelta(days=90)
#: A digest that is younger than this is not saved again.
_RENEWED_AFTER = timedelta(days=30)
_KEY = "served_key"
_KEY_BYTES, _DIGEST_BYTES = 32, 16
#: A text with many beginnings of blocks must not cost more than its length.
_MAX_TRIES = 200
_LINE = re.compile(r"[^\n]+")
_ENDS = re.compile(rf"(?:\s|{WRAPPER.pattern})*")
_LABELLED, _LONGEST_LABEL = "; trust: ", 1000
#: The longest tag of a wrapper with its escapes, and the most of them at the end of one line.
_LONGEST_TAG, _MAX_TAGS = 60, 4
_SOURCE = re.compile(r"\b(?:mem|msg)_[0-9a-z]{26}\b")
#: The beginnings of lines that continue a block.
_CONTINUED = ("- ", "| ")
#: Headings of parts without labels, and lines that belong to no block.
_HEADINGS = frozenset(first for first, *more in LEADS.values() if not more)
_BETWEEN = frozenset(line for lines in LEADS.values() for line in lines) - _HEADINGS


class _Line(NamedTuple):
    """A line without its wrappers, escapes and outer white space, and its place in the text."""

    start: int
    end: int
    words: str

    @property
    def begins_block(self) -> bool:
        """Whether a block of ours may begin here."""
        words = self.words
        is_label = words.startswith("[") and words.endswith("]") and len(words) < _LONGEST_LABEL and _LABELLED in words
        return is_label or words in _HEADINGS


class Served(VaultService):
    """Knows what memory served last, so that it is not stored when it comes back."""

    @operation(Action.MEMORY_READ, Scope.USER)
    def save(self, text: str) -> None:
        """Save keyed digests of the blocks in a text that a model is about to read; known ones cost no write."""
        blocks = list(_blocks(list(_lines(text)))) if may_hold_blocks(text) and self.gate.own else []
        if blocks:
            _save_blocks(self._runtime, blocks)


def _save_blocks(runtime: VaultRuntime, blocks: Sequence[Sequence[_Line]]) -> None:
    def is_known(tx: Tx, reading: ClockReading) -> bool:
        key = meta.find(tx, _KEY)
        digests = {one.digest for one in _digested(key, blocks)} if key else set[bytes]()
        return bool(digests) and digests <= served.known(tx, sorted(digests), reading.now - _RENEWED_AFTER)

    def save(tx: Tx, reading: ClockReading) -> None:
        key = meta.find(tx, _KEY)
        if key is None:
            key = secrets.token_hex(_KEY_BYTES)
            meta.save(tx, _KEY, key)
        served.save(tx, {one.digest: one for one in _digested(key, blocks)}.values(), reading.now)
        served.trim(tx, MAX_BLOCKS, reading.now - MAX_AGE)

    if not runtime.read(is_known):
        # A disk that takes no writes must not make the answer fail.
        with suppress(StorageError):
            runtime.write(save)


def may_hold_blocks(text: str) -> bool:
    """Return whether a text has a line that may begin a block; most texts have none."""
    return _LABELLED in text or any(heading in text for heading in _HEADINGS)


def load_served(runtime: VaultRuntime) -> "ServedBlocks":
    """Load the digests of a vault."""

    def load(tx: Tx) -> ServedBlocks:
        return ServedBlocks(meta.find(tx, _KEY), served.list_all(tx))

    return runtime.database.read(load)


class ServedBlocks:
    """Finds blocks that a vault served in a text."""

    def __init__(self, key: str | None, known: Sequence[ServedDigest]) -> None:
        self._key = key
        self._by_head: defaultdict[bytes, dict[int, set[bytes]]] = defaultdict(lambda: defaultdict(set))
        for one in known:
            self._by_head[one.head][one.lines].add(one.digest)

    def find(self, text: str) -> list[Range]:
        """Return the ranges of whole blocks that the vault served."""
        if self._key is None or not self._by_head:
            return []
        lines, found, tries = list(_lines(text)), list[Range](), 0
        at = 0
        while at < len(lines) and tries < _MAX_TRIES:
            size = 0
            if lines[at].begins_block:
                head = _digest(self._key, lines[at : at + 2])
                for count, digests in sorted(self._by_head.get(head, {}).items(), reverse=True):
                    tries += 1
                    if not _goes_on(lines, at + count) and _digest(self._key, lines[at : at + count]) in digests:
                        size = count
                        break
            if size:
                found.append((lines[at].start, lines[at + size - 1].end))
            at += size or 1
        return found


def _goes_on(lines: Sequence[_Line], at: int) -> bool:
    """Return whether a line continues the block before it, which then is not a whole block of ours."""
    return at < len(lines) and lines[at].words.startswith(_CONTINUED)


def _blocks(lines: Sequence[_Line]) -> Iterator[list[_Line]]:
    """Yield each block of at least two lines: a label or heading, and the lines up to the next one."""
    block: list[_Line] = []
    for line in lines:
        if line.begins_block or line.words in _BETWEEN:
            if len(block) > 1:
                yield block
            block = [line] if line.begins_block else []
        elif block:
            block.append(line)
    if len(block) > 1:
        yield block


def _digested(key: str, blocks: Sequence[Sequence[_Line]]) -> Iterator[ServedDigest]:
    for block in blocks:
        source = _SOURCE.search(block[0].words)
        named = source[0] if source else ""
        yield ServedDigest(_digest(key, block), _digest(key, block[:2]), len(block), named)


def _digest(key: str, lines: Sequence[_Line]) -> bytes:
    text = "\n".join(line.words for line in lines).encode()
    return hmac.digest(bytes.fromhex(key), text, "sha256")[:_DIGEST_BYTES]


def _unescaped(words: str) -> str:
    if "&" not in words:
        return words
    # Imported here: its table of names is large, and few texts need it.
    from html import unescape  # noqa: PLC0415

    return unescape(words)


def _lines(text: str) -> Iterator[_Line]:
    """Yield the lines that say something, without fences."""
    for found in _LINE.finditer(text):
        line = found[0]
        begun = _ENDS.match(line)
        left = begun.end() if begun else 0
        right = _end_of_words(line, left)
        words = _unescaped(line[left:right]).strip()
        if words and not TAG.fullmatch(words):
            yield _Line(found.start() + left, found.start() + right, words)


def _end_of_words(line: str, left: int) -> int:
    """Return the end of a line without the tags of wrappers and white space there."""
    right = len(line.rstrip())
    for _ in range(_MAX_TAGS):
        tags = list(WRAPPER.finditer(line, max(left, right - _LONGEST_TAG), right))
        if not tags or tags[-1].end() != right:
            break
        right = left + len(line[left : tags[-1].start()].rstrip())
    return max(left, right)
