"""Words about time in seven languages, each with a one-letter tag for the part it can play, and its value."""

from functools import cache

#: Pairs of a tag of `calendar_words` and its words, each with its value if it has one.
FOREIGN: tuple[tuple[str, str], ...] = (
    ("M", "januar:1 janner:1 februar:2 marz:3 juni:6 juli:7 oktober:10 dezember:12"),
    ("M", "janvier:1 fevrier:2 juin:6 juillet:7 aout:8 septembre:9 octobre:10 novembre:11 decembre:12"),
    ("M", "enero:1 febrero:2 abril:4 junio:6 agosto:8 septiembre:9 setiembre:9 octubre:10 noviembre:11 diciembre:12"),
    ("M", "gennaio:1 febbraio:2 aprile:4 maggio:5 giugno:6 luglio:7 settembre:9 ottobre:10 dicembre:12 marzo:3"),
    ("M", "janeiro:1 fevereiro:2 maio:5 junho:6 julho:7 setembro:9 outubro:10 novembro:11 dezembro:12"),
    ("M", "januari:1 februari:2 maart:3"),
    ("s", "mai:5 avril:4 julio:7 mei:5 augustus:8"),
    ("G", "mars:3 mayo:5 marco:3"),
    ("s", "mrz:3 okt:10 dez:12 janv:1 fevr:2 avr:4 juil:7 ene:1 abr:4 dic:12 giu:6 ott:10 fev:2"),
    ("W", "montag:0 dienstag:1 mittwoch:2 donnerstag:3 freitag:4 samstag:5 sonnabend:5 sonntag:6"),
    ("W", "lundi:0 mardi:1 mercredi:2 jeudi:3 vendredi:4 samedi:5 dimanche:6"),
    ("W", "lunes:0 martes:1 miercoles:2 jueves:3 viernes:4 sabado:5 domingo:6"),
    ("W", "lunedi:0 martedi:1 mercoledi:2 giovedi:3 venerdi:4 sabato:5 domenica:6"),
    ("W", "maandag:0 dinsdag:1 woensdag:2 donderdag:3 vrijdag:4 zaterdag:5 zondag:6"),
    ("D", "gestern:-1 vorgestern:-2 heute:0 morgen:1 ayer:-1 anteayer:-2 hoy:0 ieri:-1 oggi:0 domani:1"),
    ("D", "ontem:-1 hoje:0 amanha:1 gisteren:-1 vandaag:0 demain:1"),
    ("U", "tag:0 tage:0 tagen:0 woche:1 wochen:1 monat:2 monate:2 monaten:2 jahr:3 jahre:3 jahren:3"),
    ("U", "jour:0 jours:0 semaine:1 semaines:1 mois:2 annee:3 annees:3 ans:3 dag:0 dagen:0 weken:1 maand:2 maanden:2"),
    ("U", "dia:0 dias:0 semana:1 semanas:1 mes:2 meses:2 ano:3 anos:3 jaar:3 jaren:3"),
    ("U", "giorno:0 giorni:0 settimana:1 settimane:1 mese:2 mesi:2 anno:3 anni:3"),
    ("L", "letzte letzten letzter letztes letztem vorige vorigen voriger voriges vergangene vergangenen afgelopen"),
    ("X", "nachste nachsten nachster nachstes kommende kommenden volgende"),
    ("T", "diese diesen dieser dieses diesem cette este esta questo questa deze"),
    ("l", "dernier derniere pasado pasada scorso scorsa passado passada"),
    ("y", "prochain prochaine proximo proxima prossimo prossima"),
    ("A", "geleden fa atras"),
    ("B", "vor hace"),
    ("<", "avant antes voor"),
    (">", "nach apres despues dopo depois"),
    ("(", "seit depuis desde sinds"),
    (")", "bis hasta fino"),
    ("I", "im en em pendant durante nel"),
    ("j", "am le el il op"),
    ("f", "de del di von du van"),
    ("&", "und et y e"),
    ("w", "eine:1 einem:1 einer:1 zwei:2 drei:3 vier:4 funf:5 sechs:6 sieben:7 acht:8 neun:9 zehn:10"),
    ("w", "un:1 une:1 deux:2 trois:3 quatre:4 cinq:5 six:6 huit:8 neuf:9 dix:10"),
    ("w", "una:1 uno:1 dos:2 tres:3 cuatro:4 cinco:5 seis:6 siete:7 ocho:8 nueve:9 diez:10"),
    ("w", "due:2 tre:3 quattro:4 cinque:5 sei:6 sette:7 otto:8 dieci:10 dois:2 duas:2 een:1 twee:2 vijf:5"),
)


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
#: Months that are also verbs: with a capital they count as months.
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
    """Return the numbers below a hundred, including joined ones, whose last word alone would be another number."""
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
    """Return each folded word or phrase with its tag and value, and the longest phrase length of each first word."""
    words: dict[str, tuple[str, int]] = {}
    # English comes last: if two languages share a word, English wins.
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
