"""Recognises what people say about themselves by its English form; it prefers a miss to an error."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from recollectum.distil.rules.clauses import Clause, claimed_clauses
from recollectum.distil.sentences import Sentence
from recollectum.domain.memory import Kind
from recollectum.domain.records import dataclass
from recollectum.text.secrets.redaction import find_secrets

# For secrets that only words reveal: "my password is swordfish" has nothing that looks like a key.
_TOLD = re.compile(
    r"\b(?:pass(?:word|code|phrase)|pin(?: code| number)?|api[ _-]?key|secret(?: key)?|access token|private key|cvv"
    r"|iban|card number|credit card|security code|ssn|social security number)\b.{0,40}?(?:\b(?:is|are|was|be)\b|:|=)",
    re.IGNORECASE,
)
#: The placeholder of a secret in a message.
_PLACE = "[secret:"


def holds_secret(text: str) -> bool:
    """Return whether the text contains a password, a key or a card number, by its form and words."""
    return _PLACE in text or _TOLD.search(text) is not None or bool(find_secrets(text))


def _any(words: str) -> str:
    return "(?:" + "|".join(word.strip() for word in words.split(",")) + ")"


_AM = "(?:I'm|I am)"
_ARE = "(?:I'm|I am|we're|we are)"
_HAVE = "(?:I have|I've got)"
_NOW = "(?:now |currently |still |also |mostly |mainly |exclusively )?"
_OFTEN = "(?:(?:really|absolutely|also|still|always|usually|mostly|generally|strongly|personally|much) )*"
#: References to something said before: the sentence alone says nothing.
_POINTING = _any("it, that, this, these, those, them, him, her, you, your, yours, one, what, how, when") + r"\b"
_PICKING = (
    "(?:the|your) "
    + _any(
        "first, second, third, last, latest, new, other, idea, way, sound, look, answer, version, option, approach, one"
    )
    + r"\b"
)
#: Praise of what was offered: "the second one", "the green idea", "any of those".
_PRAISING = (
    r"(?:any|all|some|both|each|none) of|the\b[^.,;!]*?\b"
    + _any(
        "idea, ideas, approach, direction, suggestions?, template, recipe, version, options?, trend, plan, tips?, list"
    )
    + r"\b"
)
_DOING = "to " + _any(
    "cook, read, travel, swim, run, sing, dance, paint, hike, garden, write, draw, bake, be, move, build, buy, start,"
    "open, learn, marry, sell, visit, launch, study"
)
_OBJECT = rf"(?!{_POINTING}|{_PICKING}|{_PRAISING})(?={_DOING}\b|(?!to\b)\w)"
_KIN = _any(
    "wife, husband, partner, girlfriend, boyfriend, fianc[eé]e?, mother, mum, mom, father, dad, parents, sister,"
    "brother, son, daughter, kids?, children, twins, baby, grandmother, grandma, grandfather, grandpa, aunt, uncle,"
    "niece, nephew, cousin, family, dogs?, cats?, horse, parrot, rabbit"
)
_OWN = _any(
    rf"(?:\w+ )?{_KIN}(?:'s name|'s birthday)?, nickname, birthday, date of birth, age, e-?mail(?: address)?,"
    "phone(?: number)?, address, home ?town, job, occupation, employer, boss, manager, team, company, car, bike,"
    "time ?zone, pronouns, height, blood type, (?:native|first|second) language, nationality, doctor, dentist,"
    "allergies, hobby, hobbies, diet, school, university, goal, dream"
)
#: After "is" these describe a moment, not the person.
_PASSING = (
    r"(?:\w+ing\b(?! (?:at|in|as|for) )|"
    + _any(
        "here, there, late, ill, sick, tired, angry, asleep, awake, back, away, out, down, broken, fine, ok, okay,"
        "great, good, bad, so, too, really, very, not, over, at the, in the, on the, being, been, just"
    )
    + r"\b)"
)
_HAVING = _any(
    rf"{_KIN}s?, siblings, sisters, brothers, sons, daughters, grandchildren, intolerance, asthma, diabetes, adhd,"
    "dyslexia, migraines?, coeliac, celiac, epilepsy, arthritis, insomnia, phd, degree, master's, bachelor's,"
    "licen[cs]e, car, motorbike, bike, house, flat, apartment, garden, boat, company, startup, business, blog,"
    "podcast, pacemaker, tattoos?, citizenship, passport, laptop"
)
_BEING = _any(
    "(?:an? )?(?:vegetarian|vegan|pescatarian), lactose[- ]intolerant, gluten[- ]intolerant, asthmatic, left-handed,"
    "right-handed, colou?r-?blind, deaf, blind, dyslexic, autistic, married, single, divorced, widowed, engaged,"
    "pregnant, retired, unemployed, self-employed, bilingual, an? (?:early bird|night owl|morning person|only child),"
    "intolerant to, afraid of, scared of, from, originally from, based in, fluent in, called"
)
_NO_TRADE = (
    _any("bit, little, lot, few, big, huge, fan, fool, idiot, mess, wreck, member, part, user, customer") + r"\b"
)
_TRADE = (
    r"(?:\w{2,}(?:er|or|ist|ian|ant|yst)|"
    + _any("student, nurse, chef, cook, pilot, coach, judge, priest, vet, nanny, midwife, guide, architect, salesman")
    + ")"
)
_DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
_WHEN = rf"(?:by|before|until|on|next) .*?(?:\d|tomorrow|{_DAY}|week|month|year|{_MONTH}|christmas|easter|summer)"
_LIKING = _any(
    "like, love, adore, enjoy, hate, dislike, prefer, detest, can't stand, cannot stand, can't eat, cannot eat, avoid,"
    "(?:don't|do not) (?:really )?(?:like|eat|drink|enjoy), never (?:eat|drink)"
)
_HABIT = _any(
    "drink, eat, use, work, wake, get up, go to bed, take the, start, travel, fly, pay, order, cook, wear, buy, sleep,"
    "shop, listen"
)
_PROJECT = _any(
    "working on, building, writing, learning, training for, planning, preparing for, renovating, organi[sz]ing,"
    "developing, saving for, studying"
)
_DATE_OF_MINE = _any("deadline, appointment, exam, flight, interview, surgery, wedding, due date")
#: How often somebody does something: the mark of a habit.
_REGULARLY = (
    r"\b(?:every (?:single |other )?"
    rf"(?:day|morning|evening|night|week|weekend|month|year|spring|summer|autumn|winter|{_DAY})"
    r"|(?:once|twice|(?:two|three|four|five|six|\d{1,2}) times) (?:a|per) (?:day|week|month|year)"
    rf"|(?:on|at) (?:{_DAY}s|weekends)|(?:two|three|four|five|six|\d{{1,2}}) [\w ]{{2,20}} a (?:day|week)"
    r"|daily|weekly)\b"
)
#: Before such a verb nothing is a habit: the past, a wish, or the work at hand.
_NO_HABIT = (
    r"(?:\w+ed|was|were|had|did|went|got|ate|saw|took|made|said|came|ran|will|can|am|need|want|see|get an?|have to"
    r"|'\w+)\b"
)
_NAME = (
    r"(?:my (?:full |first |last |middle )?name is|(?:please |you can |everyone |people )?calls? me|I go by)"
    r" (?-i:[A-Z])"
)
_FORMS = (
    (Kind.FACT, 0.9, _NAME),
    (Kind.FACT, 0.9, rf"(?:{_AM}|{_HAVE} an?) (?:\w+ ){{0,2}}(?:allergic|allergy|diabetic|coeliac|celiac)\b"),
    (Kind.FACT, 0.8, rf"I {_NOW}(?:live|reside) (?:in|at|near|with|on|alone)\b"),
    (Kind.FACT, 0.8, r"(?:I|we|I have|I've|we've) (?:just |recently )?moved (?:back )?to \w"),
    (Kind.FACT, 0.8, r"I (?:grew up in|was born (?:in|on)|come from) \w"),
    (Kind.FACT, 0.8, rf"{_AM} (?:currently |now )?living (?:in|at|with)\b"),
    (
        Kind.FACT,
        0.7,
        rf"I {_NOW}work (?:as|at|for|from|in|part-time|full-time|nights|remotely)\b(?! (?:it|that|this|me)\b)",
    ),
    (Kind.FACT, 0.7, rf"I {_NOW}(?:study|teach|coach|own|manage|speak|play|drive|ride) (?!{_POINTING}|\w*\d)\w"),
    (Kind.FACT, 0.7, rf"I {_NOW}run (?:an?|my own) \w"),
    (Kind.FACT, 0.7, rf"{_AM} {_NOW}{_BEING}\b"),
    (Kind.FACT, 0.7, rf"{_AM} \d{{1,3}}(?: years old)?(?=[.,!]|\Z| and\b)"),
    (Kind.FACT, 0.7, rf"{_AM} an? (?!{_NO_TRADE})(?:[\w-]+ ){{0,2}}?{_TRADE}\b"),
    (
        Kind.FACT,
        0.7,
        rf"{_HAVE} (?:(?:an?|one|two|three|four|five|\d+|no|my own|type \d) )?(?:[\w-]+ ){{0,2}}?{_HAVING}\b",
    ),
    (Kind.PREFERENCE, 0.6, rf"my (?:\w+ )?favou?rite [\w ]{{2,30}}? (?:is|are) (?!{_POINTING})"),
    (Kind.PREFERENCE, 0.6, rf"I {_OFTEN}{_LIKING} {_OBJECT}\w"),
    (Kind.PREFERENCE, 0.6, rf"{_AM} (?:(?:not )?a (?:big |huge )?fan of|into|fond of) (?!{_POINTING})\w"),
    (Kind.PREFERENCE, 0.5, rf"I (?:always|usually|never|only) {_HABIT}\b(?! {_POINTING})"),
    (Kind.FACT, 0.5, rf"I {_NOW}use (?!{_POINTING}|{_PICKING})\w"),
    (Kind.FACT, 0.5, rf"(?:I|we) {_NOW}(?!{_NO_HABIT})[a-z]+\b(?! {_POINTING})[^;:]{{0,80}}?{_REGULARLY}"),
    (Kind.PROJECT, 0.6, rf"{_ARE} {_NOW}{_PROJECT} {_OBJECT}(?!a lot\b|something\b)\w"),
    (Kind.TASK, 0.6, rf"(?:I|we) (?:need to|have to|must) (?!know\b|understand\b|ask\b|go\b)\w+.*? {_WHEN}"),
    (Kind.TASK, 0.6, rf"my (?:\w+ )?{_DATE_OF_MINE} is (?:on|at|in|by|next|the|tomorrow|\d|{_DAY}|{_MONTH})"),
    (Kind.FACT, 0.6, rf"my {_OWN} (?:is|are|has|have|lives?|works?|studies|was born|speaks?) (?!{_PASSING})"),
    (Kind.FACT, 0.6, rf"my (?:\w+ )?{_KIN} (?:loves?|likes|hates?|plays?|teach(?:es)?|collects?|attends?) {_OBJECT}\w"),
)


@cache
def forms() -> tuple[tuple[Kind, float, re.Pattern[str]], ...]:
    """Return the forms in the order in which they are tried; compile them on first use, which is slow."""
    return tuple((kind, importance, re.compile(form, re.IGNORECASE)) for kind, importance, form in _FORMS)


_LONGEST = 300
#: Nobody types this much about themselves at once: it is a paste.
_LONGEST_MESSAGE = 3000
_OF_REQUEST = 0.8
_LEAD = re.compile(
    r"(?:(?:hi|hello|hey|well|so|and|but|also|oh|ok|okay|yes|yeah|no|actually|btw|fyi|by the way|for the record|in fact"
    r"|besides|unfortunately|luckily|personally|sorry|thanks|I mean|just so you know|for what it's worth)(?: there)?"
    r"(?:[,:!]\s*|\s+[–-]\s+|\s+))*",
    re.IGNORECASE,
)
# Words by which a sentence does not claim that something is so, or not for long.
_UNSURE = re.compile(
    r"\?|…|\.\.\.|\b(?:if|unless|whether|would|could|might|(?-i:may)|should|maybe|perhaps|probably|possibly|suppose"
    r"|imagine|pretend|assume|hypothetically|wish|hope|guess|think|wonder|not sure|kind of|sort of|as though|kidding"
    r"|joking|for example|e\.g\.|right now|at the moment|for now|tonight|this (?:morning|afternoon|evening)|today)\b",
    re.IGNORECASE,
)
# The sentences of such a message are a text to work on, not statements of its writer.
_MATERIAL = re.compile(
    r"\b(?:translate|proofread|rewrite|rephrase|paraphrase|summari[sz]e|role-?play|pretend|act as|imagine|let's say"
    r"|the following|example sentence|in the voice of|from the perspective|fill in"
    r"|(?:write|draft|compose|generate)(?: me)? (?:an?|the|some|my)|correct (?:this|the|my) (?:text|grammar))\b",
    re.IGNORECASE,
)
_REMEMBER = re.compile(
    r"(?:please |pls )?(?:remember|keep in mind|don't forget|make a note)(?:,? that\b|:)\s*(?P<what>.+)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class PersonalStatement:
    """A lasting statement of a person, and its kind."""

    start: int
    end: int
    #: As it was said, without its introduction.
    content: str
    kind: Kind
    importance: float


def is_material(text: str) -> bool:
    """Return whether a message gives its reader a text to work on, so that nothing in it is a statement."""
    return len(text.strip()) > _LONGEST_MESSAGE or _MATERIAL.search(text) is not None


def is_unsure(text: str) -> bool:
    """Return whether a sentence asks, supposes or describes a moment."""
    return _UNSURE.search(text) is not None


def without_lead(text: str) -> int:
    """Return the start of a sentence after "well" and "by the way"."""
    lead = _LEAD.match(text)
    return lead.end() if lead else 0


def read_statements(sentence: Sentence) -> Iterator[PersonalStatement]:
    """Yield the statements of a sentence about its writer; none for a question, a supposition or a quotation."""
    # The same length as before, so that positions stay valid.
    text = sentence.text.replace("’", "'")
    if len(text) > _LONGEST or sentence.lead.startswith((">", "|")) or holds_secret(text):
        return
    start = without_lead(text)
    if asked := _REMEMBER.match(text, start):
        if len(asked["what"].split()) > 1 and not is_unsure(text):
            kind = _form(text, asked.start("what"))[0] or Kind.FACT
            yield _statement(sentence, asked.start("what"), len(text), kind, _OF_REQUEST)
        return
    parts = claimed_clauses(text, start)
    for place, clause in enumerate(parts):
        begin = clause.start + without_lead(clause.text)
        end = _reach(parts, place)
        kind, importance = _form(text[:end], begin)
        if kind and not is_unsure(clause.text):
            yield _statement(sentence, begin, end, kind, importance)


def _reach(parts: Sequence[Clause], place: int) -> int:
    """Return the end of a statement: it takes in the clauses that only add to it."""
    end = parts[place].end
    for clause in parts[place + 1 :]:
        if not clause.adds or is_unsure(clause.text):
            return end
        end = clause.end
    return end


def _statement(sentence: Sentence, start: int, end: int, kind: Kind, importance: float) -> PersonalStatement:
    return PersonalStatement(sentence.start + start, sentence.start + end, sentence.text[start:end], kind, importance)


def _form(text: str, start: int) -> tuple[Kind | None, float]:
    matching = ((kind, importance) for kind, importance, form in forms() if form.match(text, start))
    return next(matching, (None, 0.0))
