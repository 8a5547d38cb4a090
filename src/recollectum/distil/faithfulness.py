"""Faithfulness: whether a claim is about the one who is spoken of, and denies what was denied. English.

What fails here may still be right, in words that differ: it is not dropped, and a person decides.
"""

import re

from recollectum.distil.sameness import words_of

_BORDER = re.compile(r"[.,;:!?…\n]|\bbut\b", re.IGNORECASE)
_SELF = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|we|we're|we've|me|us)\b")
_OTHER = re.compile(
    r"\b(?:my|our)\s+(?:[\w-]+\s+){0,2}?(?P<who>wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|mother(?! tongue)"
    r"|mum|mom|father|dad|parents?|sister|brother|siblings?|son|daughter|kids?|child|children|twins?|baby|grandmother"
    r"|grandma|grandfather|grandpa|aunt|uncle|niece|nephew|cousin|family|friends?|roommate|flatmate|neighbou?rs?"
    r"|colleagues?|co-?workers?|boss|manager|team|teacher|doctor|client|customer|ex)\b",
    re.IGNORECASE,
)
_THEY = re.compile(r"\A\W*(?:and |so |because |since )?(?:he|she|they)\b", re.IGNORECASE)
_REPORTED = re.compile(
    r"(?<!\bI )(?<!\bwe )\b(?:said|says|claims?|claimed|thinks|told|believes|insists)\b", re.IGNORECASE
)


def faithful(content: str, clause: str) -> bool:
    """Whether a claim keeps to whom and what the words it comes from speak of."""
    told = clause.replace("’", "'")
    if bool(words_of(content).turns) != bool(words_of(told).turns) or _REPORTED.search(told):
        return False
    if _THEY.search(told):
        return False
    other = _OTHER.search(told)
    if other is None or _SELF.search(told):
        return True
    return other["who"].casefold() in content.casefold()


def clause(text: str, start: int, end: int) -> str:
    """The words around a quotation that belong to it: a denial may stand before what is quoted."""
    borders = [(one.start(), one.end()) for one in _BORDER.finditer(text)]
    begin = max((right for left, right in borders if left < start), default=0)
    after = min((left for left, _ in borders if left >= end), default=len(text))
    return text[min(begin, start) : after]
