"""English words about contacts: relations with their spellings, and words that are not names."""

import unicodedata
from collections.abc import Mapping

from recollectum.text.terms.stopwords import STOP_WORDS

#: Spellings by their canonical form.
_SPELLINGS: Mapping[str, str] = {
    "girlfriend": "girlfriend|girl friend|gf",
    "boyfriend": "boyfriend|boy friend|bf",
    "partner": "partner|significant other|life partner|other half|better half",
    "fiancé": "fiance|fiancee|betrothed",
    "wife": "wife",
    "husband": "husband|hubby",
    "spouse": "spouse",
    "mother": "mother|mum|mom|mummy|mommy|mama|mam",
    "father": "father|dad|daddy|papa",
    "parent": "parent",
    "sister": "sister|sis|big sister|little sister|older sister|younger sister|twin sister",
    "brother": "brother|bro|big brother|little brother|older brother|younger brother|twin brother",
    "sibling": "sibling",
    "daughter": "daughter",
    "son": "son",
    "child": "child|kid",
    "grandmother": "grandmother|grandma|granny|gran|nana|nan",
    "grandfather": "grandfather|grandpa|granddad|grandad",
    "aunt": "aunt|auntie|aunty",
    "uncle": "uncle",
    "cousin": "cousin",
    "nephew": "nephew",
    "niece": "niece",
    "mother-in-law": "mother-in-law|mother in law",
    "father-in-law": "father-in-law|father in law",
    "sister-in-law": "sister-in-law|sister in law",
    "brother-in-law": "brother-in-law|brother in law",
    "best friend": "best friend|bestie|bff",
    "friend": "friend|mate|buddy|pal",
    "flatmate": "flatmate|roommate|housemate|room mate|flat mate",
    "neighbour": "neighbour|neighbor",
    "colleague": "colleague|coworker|co-worker|workmate|teammate",
    "classmate": "classmate",
    "boss": "boss|manager|supervisor|line manager",
    "assistant": "assistant|secretary",
    "landlord": "landlord|landlady",
    "doctor": "doctor|gp|physician",
    "dentist": "dentist",
    "therapist": "therapist|psychologist|psychiatrist",
    "lawyer": "lawyer|attorney|solicitor",
    "accountant": "accountant|tax adviser|tax advisor",
    "plumber": "plumber",
    "electrician": "electrician",
    "mechanic": "mechanic",
    "hairdresser": "hairdresser|barber",
    "teacher": "teacher",
    "coach": "coach|trainer",
    "babysitter": "babysitter|nanny",
    "business partner": "business partner|cofounder|co-founder",
    "client": "client|customer",
}
#: Every known spelling, mapped to its canonical form.
RELATIONS: Mapping[str, str] = {
    spelling: relation for relation, line in _SPELLINGS.items() for spelling in line.split("|")
}
#: What a broader word covers: a search for a partner also finds a girlfriend, but not the other way round.
_COVERS: Mapping[str, frozenset[str]] = {
    "partner": frozenset({"girlfriend", "boyfriend", "fiancé", "wife", "husband", "spouse"}),
    "spouse": frozenset({"wife", "husband"}),
    "parent": frozenset({"mother", "father"}),
    "sibling": frozenset({"sister", "brother"}),
    "child": frozenset({"son", "daughter"}),
    "friend": frozenset({"best friend"}),
}
#: Relations that are often used for the same person.
_TOGETHER = (
    frozenset({"girlfriend", "boyfriend", "partner", "fiancé", "wife", "husband", "spouse"}),
    frozenset({"friend", "best friend", "flatmate", "neighbour", "colleague", "classmate"}),
    frozenset({"mother", "parent"}),
    frozenset({"father", "parent"}),
    frozenset({"sister", "sibling"}),
    frozenset({"brother", "sibling"}),
    frozenset({"daughter", "child"}),
    frozenset({"son", "child"}),
)


def narrower_relations(relation: str) -> frozenset[str]:
    """Return a relation and those that it is a broader word for."""
    return frozenset({relation}) | _COVERS.get(relation, frozenset())


def broader_relations(relation: str) -> frozenset[str]:
    """Return the broader words for a relation."""
    return frozenset(word for word, narrow in _COVERS.items() if relation in narrow)


def are_compatible(one: str, other: str) -> bool:
    """Return whether two relations may well be those of one person; a sister and a dentist are probably two."""
    return one == other or any({one, other} <= group for group in _TOGETHER)


_NOT_NAMES = """
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
_QUALITY_WORDS = """
    african albanian american aquarius argentinian asian atheist australian austrian belgian brazilian british
    buddhist bulgarian canadian capricorn catholic chilean chinese colombian croatian czech danish democrat
    dutch egyptian english estonian ethiopian european filipino finnish french gemini german greek hindu
    hungarian icelandic indian indonesian iranian iraqi irish israeli italian japanese jewish kenyan korean
    latvian lebanese libra lithuanian malaysian mexican moroccan muslim nigerian norwegian pakistani peruvian
    pisces polish portuguese protestant republican romanian russian sagittarius saudi scorpio scottish serbian
    slovak slovenian spanish swedish swiss syrian taurus thai turkish ukrainian vegan vegetarian vietnamese
    virgo welsh
"""
_NO_NAMES = frozenset(_NOT_NAMES.split())
_QUALITIES = frozenset(_QUALITY_WORDS.split())


def fold_name(text: str) -> str:
    """Return a name in the form for comparison: without case, accents, and repeated spaces."""
    if text.isascii():
        return " ".join(text.lower().split())
    marks = unicodedata.normalize("NFKD", text.casefold().replace("\u2019", "'"))
    return " ".join("".join(char for char in marks if not unicodedata.combining(char)).split())


def is_name(text: str) -> bool:
    """Return whether some words may be a person's name."""
    words = fold_name(text).split()
    # In lower case any short word may occur there; with a capital, Will and Mia are names.
    barred = _NO_NAMES | STOP_WORDS if text.islower() else _NO_NAMES
    return bool(words) and not any(word in barred for word in words)


def is_quality(text: str) -> bool:
    """Return whether a word describes a person: `My boss is German` names nobody."""
    return fold_name(text) in _QUALITIES
