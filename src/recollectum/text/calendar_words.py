"""Words about time, each with a one-letter tag that says what part it can play, and its value.

Phrases of time are then short patterns of tags: `12 March 2023` is `nMY`, `two weeks ago` is `wUA`. The tags:

M month, m month that may be a name, v month that may be a verb, s short month, G foreign month that may be anything,
W weekday, x short weekday, S season, H holiday, D day beside today, V vague past, K decade, k decade with no century,
Q quarter of a year, Y four digits, n one or two digits, d other digits, w number in words, c uncertain number,
a the article as a number, h half, o ordinal in digits, O ordinal in words, U unit, u unit of a day, E weekend,
R time of day, L last, P past, T this, X next, l last and y next when they follow their noun, A ago,
B ago when it comes first, p from now, N now, < before, > after, ( since, ) until, C between, F from, 2 to, & and, | or,
i in, I the same in another language, j on, r at or for, ~ around, e early or late, b beginning or end, t the, f of,
g whose, q every, # what numbers count, z any other word, ! any other mark, @ a time already understood.
"""

from functools import cache

from recollectum.text.foreign_time_words import FOREIGN


def _split(words: str) -> tuple[str, ...]:
    return tuple(words.split())


_MONTHS = _split("january february march april may june july august september october november december")
_WEEKDAYS = _split("monday tuesday wednesday thursday friday saturday sunday")
_ONES = _split("one two three four five six seven eight nine")
_TEENS = _split("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
_TENS = _split("twenty thirty forty fifty sixty seventy eighty ninety")
_FIRSTS = _split("first second third fourth fifth sixth seventh eighth ninth")
_TENTHS = _split("tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth")
_DECADES = _split("twenties thirties forties fifties sixties seventies eighties nineties")

#: Months that are also names of people.
_NAMES = frozenset({"april", "june", "august"})
#: Months that are also verbs: with a capital they are as good as the names.
_VERBS = frozenset({"may", "march"})

_BY_TAG = {
    "s": "jan:1 feb:2 mar:3 apr:4 jun:6 jul:7 aug:8 sep:9 sept:9 oct:10 nov:11 dec:12",
    "x": "mon:0 tue:1 tues:1 wed:2 thu:3 thurs:3 fri:4 sat:5 sun:6",
    "S": "spring:0 summer:1 autumn:2 fall:2 winter:3",
    "D": "yesterday:-1 today:0 tonight:0 tomorrow:1",
    "V": "recently:30 lately:30",
    "c": "couple:2 few:3 several:5",
    "a": "a an",
    "h": "half",
    "U": "day:0 days:0 week:1 weeks:1 month:2 months:2 year:3 years:3 quarter:4 quarters:4 decade:5 decades:5"
    " fortnight:6 fortnights:6",
    "u": "hour hours minute minutes",
    "E": "weekend weekends",
    "R": "morning afternoon evening night",
    "L": "last previous",
    "P": "past",
    "T": "this current",
    "X": "next coming upcoming",
    "A": "ago",
    "N": "now",
    "<": "before",
    ">": "after",
    "(": "since",
    ")": "until till til by",
    "C": "between",
    "F": "from",
    "2": "to through thru",
    "&": "and",
    "|": "or",
    "i": "in during over within throughout",
    "j": "on onwards onward",
    "r": "at for",
    "~": "around circa",
    "e": "early:0 mid:1 late:2",
    "b": "beginning:0 start:0 middle:1 end:2",
    "t": "the",
    "f": "of",
    "g": "my our his her its their your 's",
    "q": "every each any some most",
    "#": "words tokens steps people users lines files items dollars euros pounds km miles meters metres pages rows"
    " bytes points calories copies votes kg times ms characters pieces",
}
_PHRASES = {
    "the other day": ("V", 10),
    "the day before yesterday": ("D", -2),
    "day before yesterday": ("D", -2),
    "the day after tomorrow": ("D", 2),
    "day after tomorrow": ("D", 2),
    "from now": ("p", 0),
    "from today": ("p", 0),
    "right now": ("N", 0),
    "the present": ("N", 0),
    "mardi gras": ("z", 0),
    "prior to": ("<", 0),
    "earlier than": ("<", 0),
    "later than": (">", 0),
    "ever since": ("(", 0),
    "up to": (")", 0),
    "up until": (")", 0),
}
_HOLIDAYS = (
    ("christmas", "christmas xmas"),
    ("christmas eve", ""),
    ("christmas day", ""),
    ("new year", "new year 's|new years"),
    ("new year eve", "new year 's eve|new years eve"),
    ("new year day", "new year 's day|new years day"),
    ("halloween", ""),
    ("thanksgiving", "thanksgiving day"),
    ("easter", ""),
    ("good friday", ""),
    ("easter sunday", ""),
    ("easter monday", ""),
    ("valentine", "valentine 's day|valentine 's|valentines day|valentines"),
    ("boxing day", ""),
    ("black friday", ""),
)
#: The holidays by number; their dates are in `holidays`.
HOLIDAYS = tuple(name for name, _ in _HOLIDAYS)


def _listed(tag: str, words: str) -> dict[str, tuple[str, int]]:
    pairs = (word.partition(":") for word in words.split())
    return {word: (tag, int(value or 0)) for word, _, value in pairs}


def _month_words() -> dict[str, tuple[str, int]]:
    tags = {**dict.fromkeys(_NAMES, "m"), **dict.fromkeys(_VERBS, "v")}
    return {word: (tags.get(word, "M"), number) for number, word in enumerate(_MONTHS, 1)}


def _counted(
    tag: str, small: tuple[str, ...], teens: tuple[str, ...], tens: tuple[str, ...]
) -> dict[str, tuple[str, int]]:
    """Numbers below a hundred; the joined ones too, for their last word alone would be another number."""
    found = {word: (tag, value) for value, word in enumerate(small + teens, 1)}
    for ten, word in enumerate(_TENS, 2):
        found |= {
            f"{word} {joint}{one}": (tag, ten * 10 + value)
            for value, one in enumerate(small, 1)
            for joint in ("", "- ")
        }
    return found | {word: (tag, ten * 10) for ten, word in enumerate(tens, 2)}


def _holiday_words() -> dict[str, tuple[str, int]]:
    found: dict[str, tuple[str, int]] = {}
    for number, (name, spellings) in enumerate(_HOLIDAYS):
        split = spellings.split("|") if "|" in spellings or "day" in spellings else spellings.split()
        found |= dict.fromkeys([name, *split], ("H", number))
    return found | {
        "noel": ("H", 0),
        "weihnachten": ("H", 0),
        "navidad": ("H", 0),
        "silvester": ("H", 4),
        "ostern": ("H", 8),
    }


@cache
def vocabulary() -> tuple[dict[str, tuple[str, int]], dict[str, int]]:
    """Each word or phrase, folded, with its tag and value; and each first word of phrases with the longest's length."""
    words: dict[str, tuple[str, int]] = {}
    # English comes last: where two languages share a word, it decides.
    for tag, listed in (*FOREIGN, *_BY_TAG.items()):
        words |= _listed(tag, listed)
    words |= _counted("w", _ONES, _TEENS, _TENS)
    words |= _counted("O", _FIRSTS, _TENTHS, ("twentieth", "thirtieth"))
    words |= {word: ("k", decade * 10) for decade, word in enumerate(_DECADES, 2)}
    words |= {word: ("W", day) for day, word in enumerate(_WEEKDAYS)}
    words |= _month_words() | _holiday_words() | _PHRASES
    lengths: dict[str, int] = {}
    for first, *rest in map(str.split, words):
        if rest:
            lengths[first] = max(lengths.get(first, 1), 1 + len(rest))
    return words, lengths
