"""Words that stand where a name could, and are none."""

import unicodedata

from recollectum.text.stopwords import STOP_WORDS

_FILLING = """
    a about account address admin after agent all also always an and anonymous another anybody anyone are
    as ask assistant at august be because before bot both business but by call can cell code contact contacts
    could date december dial did do does dr either email emergency everybody everyone everything example
    favorite favourite fax february flight for friday from god had handle handy has have he her here his home
    hotline how i id if in info invoice is it january july just landline let madam mail march maybe me
    message mine mobile monday mr mrs ms must my name neither never new nickname no nobody none not note nothing
    november now null number numbers october of office ok okay old on once one only or order other others own
    owner people person personal phone pin please private prof reach remember ring room sales saturday send
    september she should signal since sir so somebody someone something still sunday support system tel telegram
    telephone tell test text thanks that the their them then there these they this those three thursday ticket
    time to today todo tomorrow tonight tuesday two unknown until us user users version was we wednesday were
    what whatsapp when where which while who whom whose why with work would write yes yesterday you your
"""
_LIKE = """
    african albanian american aquarius argentinian asian atheist australian austrian belgian brazilian british
    buddhist bulgarian canadian capricorn catholic chilean chinese colombian croatian czech danish democrat
    dutch egyptian english estonian ethiopian european filipino finnish french gemini german greek hindu
    hungarian icelandic indian indonesian iranian iraqi irish israeli italian japanese jewish kenyan korean
    latvian lebanese libra lithuanian malaysian mexican moroccan muslim nigerian norwegian pakistani peruvian
    pisces polish portuguese protestant republican romanian russian sagittarius saudi scorpio scottish serbian
    slovak slovenian spanish swedish swiss syrian taurus thai turkish ukrainian vegan vegetarian vietnamese
    virgo welsh
"""
_NO_NAMES = frozenset(_FILLING.split())
_QUALITIES = frozenset(_LIKE.split())


def folded(text: str) -> str:
    """The text as names are compared: without case, accents, and more than one space."""
    if text.isascii():
        return " ".join(text.lower().split())
    marks = unicodedata.normalize("NFKD", text.casefold().replace("\u2019", "'"))
    return " ".join("".join(char for char in marks if not unicodedata.combining(char)).split())


def is_name(text: str) -> bool:
    """Whether a word or several may be somebody's name."""
    words = folded(text).split()
    # In lower case any little word may stand there; with a capital, Will and Mia are names.
    barred = _NO_NAMES | STOP_WORDS if text.islower() else _NO_NAMES
    return bool(words) and not any(word in barred for word in words)


def is_quality(text: str) -> bool:
    """Whether it says what somebody is like: `My boss is German` names nobody."""
    return folded(text) in _QUALITIES
