"""Whether a rule is about a use of a tool: its name, its server, the mode, the client, the command, the arguments."""

from collections.abc import Sequence

from recollectum.policy.matching_shell import WRAPPERS, Piece, Word
from recollectum.policy.rules import Reach


def fits(name: str, wanted: str) -> bool:
    """Whether a name is the wanted one, in which each `*` stands for anything."""
    first, *rest = wanted.split("*")
    if not rest:
        return name == wanted
    if not name.startswith(first):
        return False
    at = len(first)
    for part in rest[:-1]:
        at = name.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return name.endswith(rest[-1]) and len(name) - len(rest[-1]) >= at


def fits_any(name: str, wanted: Sequence[str]) -> bool:
    """Whether one of the wanted names fits; no wish fits all."""
    return not wanted or any(fits(name, one) for one in wanted)


def reaches(reach: Reach, tool: str, server: str, mode: str, client: str) -> bool:
    """Whether the reach covers the tool in these hands, whatever its arguments are."""
    if reach.servers and not (server and fits_any(server, reach.servers)):
        return False
    # A rule for a server names the tool as the server does; any other rule names it in full.
    local = tool.removeprefix(f"{server}__") if reach.servers else tool
    return fits_any(local, reach.tools) and fits_any(mode, reach.modes) and fits_any(client, reach.clients)


def begins_with(piece: Piece, prefix: Sequence[str]) -> bool:
    """Whether the command surely begins with these words and does nothing else on the side."""
    if piece.assigns or piece.redirects or len(piece.words) < len(prefix):
        return False
    return all(word.certain and word.text == wanted for word, wanted in zip(piece.words, prefix, strict=False))


def may_begin_with(piece: Piece, prefix: Sequence[str]) -> bool:
    """Whether the command may begin with these words: under another path, in a wrapper, or from a variable."""
    words = piece.words
    starts = range(len(words)) if _base(words[0]) in WRAPPERS else range(1)
    return any(_may_begin(words[start:], prefix) for start in starts)


def _may_begin(words: Sequence[Word], prefix: Sequence[str]) -> bool:
    if not words or _base(words[0]) != prefix[0].rpartition("/")[2]:
        return False
    for word, wanted in zip(words[1:], prefix[1:], strict=False):
        if not word.certain:
            return True
        if word.text != wanted:
            return False
    return len(words) >= len(prefix)


def _base(word: Word) -> str:
    return word.text.rpartition("/")[2]
