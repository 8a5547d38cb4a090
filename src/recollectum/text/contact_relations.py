"""Relations: what somebody is to the person, in English, each in one spelling."""

from collections.abc import Mapping

#: Spellings by the one that stands for them all.
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
#: Every spelling that is known, to the one that stands for it.
RELATIONS: Mapping[str, str] = {
    spelling: relation for relation, line in _SPELLINGS.items() for spelling in line.split("|")
}
#: What a wider word covers: who asks for a partner is also told of a girlfriend, but not the other way round.
_COVERS: Mapping[str, frozenset[str]] = {
    "partner": frozenset({"girlfriend", "boyfriend", "fiancé", "wife", "husband", "spouse"}),
    "spouse": frozenset({"wife", "husband"}),
    "parent": frozenset({"mother", "father"}),
    "sibling": frozenset({"sister", "brother"}),
    "child": frozenset({"son", "daughter"}),
    "friend": frozenset({"best friend"}),
}
#: Relations that one person is easily said to have two of, now this one and now that one.
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


def covered(relation: str) -> frozenset[str]:
    """A relation and those that it is a wider word for."""
    return frozenset({relation}) | _COVERS.get(relation, frozenset())


def wider(relation: str) -> frozenset[str]:
    """The wider words for a relation."""
    return frozenset(word for word, narrow in _COVERS.items() if relation in narrow)


def go_together(one: str, other: str) -> bool:
    """Whether two relations are easily those of one person; a sister and a dentist are rather two."""
    return one == other or any({one, other} <= group for group in _TOGETHER)
