"""Finds blocks that a vault served in incoming text, by their keyed digests."""

from collections import defaultdict
from collections.abc import Sequence

from recollectum.context.echoes import TAG, Range, merge
from recollectum.context.served import ServedLine, digest, lines, may_hold_blocks
from recollectum.domain.access.caller import Scope
from recollectum.policy.actions import Action
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import served
from recollectum.storage.tables.content.served import ServedDigest
from recollectum.vault.deferred.digests import find_key, save_digests
from recollectum.vault.gate import operation
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.service import VaultService

#: A text with many beginnings of blocks must not cost more than its length.
_MAX_TRIES = 200


class Served(VaultService):
    """Knows what memory served last, so that it is not stored when it comes back."""

    @operation(Action.MEMORY_READ, Scope.USER)
    def save(self, text: str) -> None:
        """Save keyed digests of the blocks in a text that a model is about to read; known ones cost no write."""
        if self.gate.own and may_hold_blocks(text):
            with self._runtime.vault.use() as opened:
                save_digests(opened.database, opened.clock, [(text, None)])


def load_served(runtime: VaultRuntime) -> "ServedBlocks":
    """Load the digests of a vault, with those of texts that this process served a moment ago."""

    def load(tx: Tx) -> ServedBlocks:
        return ServedBlocks(find_key(tx), served.list_all(tx))

    with runtime.vault.use() as opened:
        opened.served.write(opened.database, opened.clock)
        return opened.database.read(load)


class ServedBlocks:
    """Finds blocks that a vault served in a text."""

    def __init__(self, key: str | None, known: Sequence[ServedDigest]) -> None:
        self._key = key
        self._by_head: defaultdict[bytes, dict[int, set[bytes]]] = defaultdict(lambda: defaultdict(set))
        for one in known:
            self._by_head[one.head][one.lines].add(one.digest)

    def find(self, text: str) -> list[Range]:
        """Return the ranges of whole blocks that the vault served, with the lines that introduce them."""
        if self._key is None or not self._by_head:
            return []
        said, found, tries = list(lines(text)), list[Range](), 0
        at = 0
        while at < len(said) and tries < _MAX_TRIES:
            size = 0
            if said[at].begins_block:
                head = digest(self._key, said[at : at + 2])
                for count, digests in sorted(self._by_head.get(head, {}).items(), reverse=True):
                    tries += 1
                    if not _goes_on(said, at + count) and digest(self._key, said[at : at + count]) in digests:
                        size = count
                        break
            if size:
                found.append((_introduced(said, at), said[at + size - 1].end))
            at += size or 1
        return _with_tags(text, found)


def _goes_on(said: Sequence[ServedLine], at: int) -> bool:
    """Return whether a line continues the block before it, which then is not a whole block of ours."""
    return at < len(said) and said[at].continues_block


def _introduced(said: Sequence[ServedLine], at: int) -> int:
    """Return where a block begins, with the heading and sentence before it."""
    while at > 0 and said[at - 1].introduces_blocks:
        at -= 1
    return said[at].start


def _with_tags(text: str, found: Sequence[Range]) -> list[Range]:
    """Extend ranges to the tags of fences beside them, of which a program may have left one."""
    if not found:
        return []
    tags = [tag.span() for tag in TAG.finditer(text)]
    merged = merge([*found, *tags])
    # Only white space is between a tag and its block.
    joined: list[Range] = []
    for start, end in merged:
        if joined and not text[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return [one for one in joined if any(one[0] <= start < one[1] for start, _ in found)]
