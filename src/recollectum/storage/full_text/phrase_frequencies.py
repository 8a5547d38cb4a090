"""Estimates how frequent the phrases of a question are in a large index, and reads the lists of the rare ones."""

from collections.abc import Mapping

from recollectum.storage.full_text.posting_source import Postings, PostingSource, count_postings, list_postings
from recollectum.text.terms.analyser import Phrase
from recollectum.text.terms.match_plan import MatchPlan, budget, plan_match

#: This many postings are enough to estimate how frequent a phrase is; counting all takes time linear in their number.
_SAMPLE = 120
#: The index is sampled in so many parts if the first estimate of a frequency proves wrong.
_PARTS = 8
#: How many times the lists of rare phrases are read: again if the first plan took a frequent phrase for rare.
_PLANS = 2


class PhraseFrequencies:
    """The phrases of one question in a large index: how frequent each is, and the posting lists of the rare ones.

    A frequency is estimated from the oldest and the newest postings. The list of a phrase that is more frequent
    elsewhere is longer than the plan expects. So a list is read up to a limit; if it is longer, the phrase counts as
    frequent, and the plan is made again.
    """

    def __init__(self, lists: PostingSource, phrases: Mapping[str, Phrase], highest: int) -> None:
        self._lists = lists
        self._phrases = phrases
        self._highest = highest
        self.budget = budget(highest)
        some = lists.some(phrases, _SAMPLE)
        #: The complete posting lists.
        self.read = {phrase: listed for phrase, listed in some.items() if count_postings(listed) < _SAMPLE}
        self.counts = {phrase: self._estimate(phrase, listed) for phrase, listed in some.items()}

    def _estimate(self, phrase: str, listed: Postings) -> int:
        """Estimate how many chunks contain a phrase, from how soon enough of them are found."""
        if phrase in self.read:
            return count_postings(listed)
        numbers = list_postings(listed)
        count = len(set(numbers)) * self._highest // numbers[-1]
        # A phrase that was frequent in the oldest chunks may be rare since.
        return count if count <= self.budget else min(count, int(self._newest_share(phrase) * self._highest))

    def _newest_share(self, phrase: str) -> float:
        """Return the share of the newest chunks that contain a phrase."""
        count, oldest = self._lists.last(phrase, _SAMPLE)
        return count / max(1, self._highest - oldest)

    def plan(self) -> MatchPlan:
        """Read the lists of the phrases that are ranked alone, and return the plan that they fit."""
        for _ in range(_PLANS):
            plan = plan_match(self.counts, self._highest)
            unread = [phrase for phrase in plan.alone if phrase not in self.read]
            if not unread:
                return plan
            # A chunk may contain a phrase several times. All limits together are at most six times the budget.
            share = 2 * self.budget // len(unread)
            limits = {phrase: max(share, 4 * self.counts[phrase]) for phrase in unread}
            for most in set(limits.values()):
                for phrase, listed in self._lists.some((one for one in unread if limits[one] == most), most).items():
                    if count_postings(listed) < most:
                        self.read[phrase] = listed
                    else:
                        self.counts[phrase] = self.estimate_again(phrase)
        known = {phrase: self._at_least(phrase, count) for phrase, count in self.counts.items()}
        return plan_match(known, self._highest)

    def estimate_again(self, phrase: str) -> int:
        """Estimate the frequency of a phrase with a long list, from samples of every part of the index."""
        # To find a prefix takes time linear in its postings, however few are wanted.
        width = self._highest if self._phrases[phrase].prefix else self._highest // _PARTS + 1
        total = 0
        for start in range(1, self._highest + 1, width):
            count, last = self._lists.first(phrase, start, start + width - 1, _SAMPLE)
            total += count if count < _SAMPLE else count * width // (last - start + 1)
        return max(self.budget + 1, total)

    def _at_least(self, phrase: str, count: int) -> int:
        """Return the frequency, or one over the budget if the list is not read: the plan must not rank it alone."""
        return count if phrase in self.read else max(self.budget + 1, count)
