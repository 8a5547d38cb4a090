"""Echo: text in a conversation that came out of memory, a system prompt or a note, so that it is not learned again."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollectum.distil.rendered import rendered_blocks
from recollectum.distil.sameness import Words, adds, words_of
from recollectum.distil.sentences import sentences
from recollectum.text.similarity import fingerprint

#: A text of fewer words is an echo only when it is equal.
_FEWEST_WORDS = 4
#: The share of its words that a near-copy has from one served sentence, in tenths.
_COPIED_TENTHS = 9


@dataclass(frozen=True, slots=True)
class Served:
    """Texts that a model was given: memories, the system prompt, notes, whole contexts."""

    texts: Sequence[str] = ()


class Echoes:
    """Recognises what repeats any of some texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._prints: set[str] = set()
        self._units: list[Words] = []
        self._seen: set[Words] = set()
        self._with: defaultdict[str, list[int]] = defaultdict(list)
        for text in dict.fromkeys(texts):
            self._learn(text)

    def _learn(self, text: str) -> None:
        if not text.strip():
            return
        self._prints.add(fingerprint(text))
        for sentence in sentences(text):
            self._prints.add(fingerprint(sentence.text))
            words = words_of(sentence.text)
            if len(words.terms) >= _FEWEST_WORDS and words not in self._seen:
                self._seen.add(words)
                for term in words.terms:
                    self._with[term].append(len(self._units))
                self._units.append(words)

    def repeats(self, text: str) -> bool:
        """Whether one sentence says nothing but what one of the texts says."""
        if not self._prints:
            return False
        return fingerprint(text) in self._prints or self._is_copy(words_of(text))

    def places(self, text: str) -> list[tuple[int, int]]:
        """The ranges of a text that are echoes: sentences, and blocks of a context whether they were served or not."""
        if self._prints and fingerprint(text) in self._prints:
            return [(0, len(text))]
        found = [(one.start, one.end) for one in sentences(text) if self.repeats(one.text)]
        return sorted(found + rendered_blocks(text))

    def _is_copy(self, said: Words) -> bool:
        if len(said.terms) < _FEWEST_WORDS:
            return False
        shared = Counter(unit for term in said.terms for unit in self._with.get(term, ()))
        return any(self._is_copy_of(said, self._units[unit], count) for unit, count in shared.items())

    def _is_copy_of(self, said: Words, unit: Words, shared: int) -> bool:
        if adds(said, unit):
            return False
        if 10 * shared >= _COPIED_TENTHS * len(said.terms):
            return True
        # "As you told me, …" and then the whole of it: more words, and nothing more said.
        return 10 * shared >= _COPIED_TENTHS * len(unit.terms) and said.telling <= unit.terms
