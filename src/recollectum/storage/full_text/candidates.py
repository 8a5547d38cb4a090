"""Chooses the posting lists to score for one question: all in a small index, the telling ones in a large one."""

import json
from collections.abc import Collection, Iterator, Mapping

from recollectum.storage.full_text.bm25 import PostingList
from recollectum.storage.full_text.phrase_frequencies import PhraseFrequencies
from recollectum.storage.full_text.posting_source import NO_LIMIT, PostingSource, list_postings
from recollectum.text.terms.analyser import Phrase
from recollectum.text.terms.match_plan import SMALL, MatchPlan

#: To look up one chunk takes about as long as to read this many postings.
_LOOKUP_COST = 100


def choose_lists(
    source: PostingSource, phrases: Mapping[str, Phrase], highest: int, among: Collection[int] | None
) -> tuple[list[PostingList], bool]:
    """Return the posting lists to score, and whether no match is missing.

    With `among` no match among these chunks is missing.
    """
    if highest <= SMALL:
        read = source.some(phrases, NO_LIMIT)
        return [PostingList(listed, None, phrases[phrase]) for phrase, listed in read.items()], True
    frequencies = PhraseFrequencies(source, phrases, highest)
    if among is not None:
        return list(_among(source, frequencies, phrases, frozenset(among))), True
    plan = frequencies.plan()
    known = sum(1 for count in frequencies.counts.values() if count)
    return list(_candidates(source, frequencies, phrases, plan)), len(plan.alone) == known


def _candidates(
    source: PostingSource, frequencies: PhraseFrequencies, phrases: Mapping[str, Phrase], plan: MatchPlan
) -> Iterator[PostingList]:
    """Yield the posting lists of a plan."""
    counts = frequencies.counts
    for phrase in plan.alone:
        yield PostingList(frequencies.read[phrase], None, phrases[phrase])
    oldest = 0
    for phrase in plan.leading:
        newest, oldest = source.newest(phrase, frequencies.budget, plan.alone, plan.beside)
        yield PostingList(newest, counts[phrase], phrases[phrase])
    for phrase in plan.beside:
        listed = source.beside(phrase, plan.alone, plan.leading, oldest)
        yield PostingList(listed, counts[phrase], phrases[phrase])


def _among(
    source: PostingSource, frequencies: PhraseFrequencies, phrases: Mapping[str, Phrase], sought: frozenset[int]
) -> Iterator[PostingList]:
    """Yield which of some chunks contain each phrase: by its list, or one by one if the list is much longer."""
    most = max(frequencies.budget, _LOOKUP_COST * len(sought))
    for phrase in phrases:
        known = frequencies.read
        numbers = list_postings(known[phrase] if phrase in known else source.some([phrase], most)[phrase])
        if len(numbers) < most:
            found = json.dumps([number for number in numbers if number in sought], separators=(",", ":"))
            yield PostingList(found, len(set(numbers)), phrases[phrase])
        else:
            count = frequencies.estimate_again(phrase)
            yield PostingList(source.among(phrase, sought), count, phrases[phrase])
