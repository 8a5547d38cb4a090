"""Reads certain statements about people and their addresses from a text."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace

from recollectum.domain.contact import Address
from recollectum.domain.records import dataclass
from recollectum.text.contacts import grammar
from recollectum.text.contacts.addresses import ADDRESS, to_address
from recollectum.text.contacts.hints import CALLED, KEY, may_mention, strip_accents
from recollectum.text.contacts.vocabulary import RELATIONS, is_name, is_quality

_SENTENCE = re.compile(r"(?<=[.!?])(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!Mrs\.)(?<!Prof\.)\s+(?![\d+@(])|\n+|;\s*")
_LEAD = re.compile(
    r"(?i:(?:yes|note|remember(?: that)?|fyi|btw|ok|contact|please remember(?: that)?)[,:]?\s+|[-*•]\s+)"
)
_BETWEEN = re.compile(r"[\s,.;&)]*(?:and\s+)?")
_OVER = re.compile(
    r"(?i:\b(?:not|no longer|never|old|former|formerly|previous|previously|wrong|outdated|invalid"
    r"|defunct|expired|disconnected|stopped|cannot|blocked|until|any ?more|no more|avoid|ignore|instead of)\b"
    r"|n['\u2019]t\b)"
)
_UNSURE = re.compile(
    r"\b(?:(?i:maybe|perhaps|probably|possibly|might|could|or|if|unless|guess|think|unsure|fake|example|imagine|pretend"
    r"|suppose|allegedly|supposedly|apparently)|may)\b|\?"
)
_PAST = re.compile(r"\b(?:was|were|used to)\b")
_TAKEN_BACK = re.compile(
    r"(?i:that|this|it|but|the|she|he|they|please|do|i|no|not|maybe|perhaps|probably|don['\u2019]t|never|wrong|old)\b"
)
_ADDRESS = re.compile(ADDRESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """The content of one statement about one person."""

    #: As written; the first is the name, the others are nicknames.
    names: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    addresses: tuple[Address, ...] = ()
    #: Whether the statement says that the relations, or the addresses, no longer hold.
    relations_over: bool = False
    addresses_over: bool = False
    #: Whether every number known before has changed.
    renumbered: bool = False


def find_mentions(text: str, key: str | None = None) -> list[Mention]:
    """Return all statements of a memory about people and their addresses."""
    if not may_mention(text, key):
        return []
    composed = unicodedata.normalize("NFC", text)
    found: list[Mention] = []
    before: Mention | None = None
    for sentence in _SENTENCE.split(composed):
        if not sentence.strip():
            continue
        here = list(_sentence(sentence, before))
        if here and _UNSURE.search(_without_addresses(strip_accents(sentence))):
            here = []
        if not here and found and _takes_back(sentence):
            return [mention for mention in found if not mention.addresses]
        found += here
        before = here[0] if len({mention.names or mention.relations for mention in here}) == 1 else None
    return found or _keyed(composed, key)


def _without_addresses(flat: str) -> str:
    """Return the text without addresses, whose words say nothing about certainty."""
    return _ADDRESS.sub(" ", flat)


def _sentence(sentence: str, before: Mention | None) -> Iterator[Mention]:
    reader = _Reader(sentence, before)
    lead = _LEAD.match(reader.flat)
    place = lead.end() if lead else 0
    while place < len(sentence):
        step = reader.statement(place)
        if step is None:
            break
        here, end = step
        yield from here
        between = _BETWEEN.match(reader.flat, end)
        place = between.end() if between else end
    for aside in grammar.beside().finditer(reader.flat, place):
        mention = reader.related(aside)
        if mention:
            yield mention


class _Reader:
    """Reads the statements of one sentence; `before` is the person that a pronoun at its start means."""

    def __init__(self, sentence: str, before: Mention | None) -> None:
        self.sentence = sentence
        self.flat = strip_accents(sentence)
        self._last = before
        self._people: set[tuple[str, ...]] = set()

    @property
    def over(self) -> bool:
        """Return whether the sentence says that it no longer holds."""
        return bool(_OVER.search(_without_addresses(self.flat)))

    def statement(self, place: int) -> tuple[list[Mention], int] | None:
        """Read the statement that begins here; return its mentions, one or several, and its end."""
        for patterns, read in (
            (grammar.reached(), self.reached),
            (grammar.renumbered(), self.renumbered),
            (grammar.named(), self.renamed),
            (grammar.related(), self.related),
        ):
            for pattern in patterns:
                match = pattern.match(self.flat, place)
                mention = read(match) if match else None
                if match and mention:
                    self._note(mention)
                    return self._with_tail(mention, match.end())
                if match and (several := self._several(match)):
                    self._last = None
                    return several, match.end()
        return self._by_pronoun(place)

    def _by_pronoun(self, place: int) -> tuple[list[Mention], int] | None:
        for pattern in grammar.pronouns() if self._last and len(self._people) < 2 else ():
            match = pattern.match(self.flat, place)
            address = self._address(match) if match else None
            if match and self._last and address:
                same = Mention(
                    names=self._last.names,
                    relations=() if self._last.names else self._last.relations,
                    addresses=(address,),
                    addresses_over=self.over or self._is_past(match),
                )
                return self._with_tail(same, match.end())
        return None

    def _note(self, mention: Mention) -> None:
        self._last = mention
        self._people.add(mention.names or mention.relations)

    def _is_past(self, match: re.Match[str]) -> bool:
        return bool(_PAST.search(match[0]))

    def _several(self, match: re.Match[str]) -> list[Mention]:
        listed = self._text(match, "several") or ""
        names = [name for name in re.split(r",\s+|\s+and\s+", listed) if name and is_name(name)]
        return [Mention(names=(name,), relations=_relations(match, ("relation1",))) for name in names]

    def reached(self, match: re.Match[str]) -> Mention | None:
        """Return a person with an address."""
        address = self._address(match)
        who = self._who(match)
        if address is None or who is None:
            return None
        if "bare" in match.re.groupindex and not (address.value.startswith("+") or "." in address.value):
            return None
        return Mention(
            names=who.names,
            relations=who.relations,
            relations_over=who.relations_over,
            addresses=(address,),
            addresses_over=self.over or self._is_past(match),
        )

    def renumbered(self, match: re.Match[str]) -> Mention | None:
        """Return a person whose number has changed."""
        who = self._who(match)
        return replace(who, renumbered=True) if who else None

    def renamed(self, match: re.Match[str]) -> Mention | None:
        """Return a person with another name."""
        who, nick = self._who(match), self._text(match, "nick")
        if who is None or nick is None or not is_name(nick) or self.over:
            return None
        if who.names:
            return Mention(names=(*who.names, nick), relations=who.relations, relations_over=who.relations_over)
        return None if who.relations_over else Mention(names=(nick,), relations=who.relations)

    def related(self, match: re.Match[str]) -> Mention | None:
        """Return a person with a relation."""
        relations = _relations(match, ("relation1", "relation3"))
        name = self._text(match, "name1")
        if name is None or not is_name(name) or (is_quality(name) and self._text(match, "called") is None):
            return None
        nick = self._text(match, "nick")
        said = [self._text(match, group) for group in ("past1", "past3", "negated")]
        ended = any(said) or self._text(match, "copula") not in (None, "is")
        over = ended or bool(re.match(r"\s+(?:any ?more|no more)", self.flat[match.end() :]))
        return Mention(names=(name, nick) if nick else (name,), relations=relations, relations_over=over)

    def _with_tail(self, mention: Mention, end: int) -> tuple[list[Mention], int]:
        addresses = list(mention.addresses)
        while match := grammar.tail().match(self.flat, end):
            address = self._address(match)
            # After two people are named, "her number" is ambiguous.
            if address is None or (self._text(match, "pronoun") and len(self._people) > 1):
                break
            addresses.append(address)
            end = match.end()
        over = mention.addresses_over or (self.over and bool(addresses))
        return [replace(mention, addresses=tuple(addresses), addresses_over=over)], end

    def _who(self, match: re.Match[str]) -> Mention | None:
        names = [name for group in ("name1", "name2") if (name := self._text(match, group))]
        if any(not is_name(name) for name in names):
            return None
        relations = _relations(match, ("relation1", "relation2"))
        past = any(self._text(match, group) for group in ("past1", "past2"))
        if past and not names:
            return None
        return Mention(names=tuple(names), relations=relations, relations_over=past)

    def _address(self, match: re.Match[str]) -> Address | None:
        words = " ".join(filter(None, (self._text(match, f"label{number}") for number in (1, 2, 3))))
        written = self._text(match, "address")
        return to_address(written, words, called_number=bool(CALLED.search(words))) if written else None

    def _text(self, match: re.Match[str], group: str) -> str | None:
        if group not in match.re.groupindex or match.start(group) < 0:
            return None
        return self.sentence[match.start(group) : match.end(group)]


def _relations(match: re.Match[str], groups: tuple[str, ...]) -> tuple[str, ...]:
    found = (match[group] for group in groups if group in match.re.groupindex and match[group])
    return tuple(RELATIONS[" ".join(word.casefold().split())] for word in found)


def _takes_back(sentence: str) -> bool:
    """Return whether a sentence without a person retracts the one before it."""
    flat = strip_accents(sentence)
    return bool((_OVER.search(flat) or _UNSURE.search(flat)) and _TAKEN_BACK.match(flat.lstrip()))


_ONLY = re.compile(
    rf"(?:{ADDRESS}|(?i:phone|mobile|cell|number|e-?mail|mail|address|tel|work|home|office|is|and)\b|[\s,;:.()/=-])+"
)


def _keyed(text: str, key: str | None) -> list[Mention]:
    """Return the mention that a key such as `contact_anna` gives for a text that contains only addresses."""
    match = KEY.fullmatch(key or "")
    flat = strip_accents(text)
    if match is None or not _ONLY.fullmatch(flat):
        return []
    who = (match["who"] or match["whose"]).replace("_", " ").strip()
    spans = [one.span() for one in _ADDRESS.finditer(flat)]
    found = [to_address(text[start:end], "", called_number=True) for start, end in spans]
    addresses = tuple(address for address in found if address)
    relation = RELATIONS.get(who.removeprefix("my "))
    if not addresses or len(addresses) != len(found) or not (relation or is_name(who)):
        return []
    if relation:
        return [Mention(relations=(relation,), addresses=addresses)]
    return [Mention(names=(who.title(),), addresses=addresses)]
