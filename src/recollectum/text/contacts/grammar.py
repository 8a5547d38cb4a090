"""Regular expressions for the English forms in which people are named, related and reached.

All are matched against a text without accents, and only at the start of a statement: a person who is quoted, doubted or
only mentioned is not taken for a contact.
"""

import re
from functools import cache

from recollectum.text.contacts.addresses import ADDRESS, PLATFORMS
from recollectum.text.contacts.vocabulary import RELATIONS

# Capitals of the scripts that have them, and all letters of the others.
_CAPITAL = (
    "A-Z\u00c6\u00d0\u00d8\u00de\u0110\u0141\u0152\u0391-\u03a9\u0410-\u042f\u0590-\u08ff\u3040-\u30ff"
    "\u4e00-\u9fff\uac00-\ud7af"
)
_LETTER = r"[^\W\d_]"
_WORD = rf"[{_CAPITAL}]{_LETTER}*+(?:[-'\u2019]{_LETTER}{{2,}})*"
_PARTICLE = "van|von|de|der|den|la|di|da|bin|al|zu"
_TITLE = r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?"
_NAME = rf"{_WORD}(?:(?: (?:{_PARTICLE})){{0,2}} {_WORD}){{0,3}}"
# Many people write without capitals; then a name is at most one word.
_ANY_NAME = rf"(?:{_NAME}|{_LETTER}{{2,}}(?!{_LETTER}))"
_QUOTE = "[\"'\u201c\u2018\u201d\u2019]?"
_MY = r"(?i:my|our|the (?:user|person|owner)['\u2019]s|(?:user|owner)['\u2019]s)"
_PRAISE = r"(?:(?i:new|current|dear|lovely|beloved|own|only|long-term|amazing|wonderful)\s+)*"
#: Words that put a relation into the past.
_PAST = r"(?P<{past}>(?i:ex[- ]|(?:former|old|late|previous|first|last|future)\s+))?"
_RELATION = "|".join(re.escape(word) for word in sorted(RELATIONS, key=len, reverse=True))
_OF = "['\u2019]s?"


def _my(suffix: str) -> str:
    past = _PAST.format(past=f"past{suffix}")
    return rf"{_MY}\s+{_PRAISE}{past}(?P<relation{suffix}>(?i:{_RELATION}))(?![\w-])"


_WHO = (
    rf"(?:{_my('1')}(?:,?\s+{_TITLE}(?P<name1>{_NAME}),?)?"
    rf"|{_TITLE}(?P<name2>{_ANY_NAME})(?:,?\s+\(?{_my('2')}\)?,?)?)"
)
_ATTRIBUTE = (
    r"(?:(?i:new|current|private|personal|mobile|cell|work|office|business|home|main|old|former|previous|wrong)\s+)*"
)
_LABEL = (
    rf"(?P<label{{n}}>{_ATTRIBUTE}(?i:(?:{'|'.join(PLATFORMS[:-1])})(?:\s+(?:number|handle|account|name|id|username))?"
    r"|(?:tele|cell|mobile\s*)?\s*phone(?:\s+number)?|mobile(?:\s+number)?|cell(?:\s+number)?|landline|numbers?"
    r"|e-?mail(?:\s+address)?|mail|contact(?:\s+details)?|handle|handy|tel\.?|address))"
)
_IS = r"(?:\s+(?:is|are|was)(?:\s+(?:now|still|currently|no longer|not))?:?|\s*[:=])"
_AT = r"(?:at|on|under|via|by|using)"
_DONT = "(?i:(?:do|does)(?:n['\u2019]t| not)|never)"
_BELONGS = rf"(?:(?:is|was)(?:\s+(?:not|no longer|now))?|isn['\u2019]t|belongs to|{_DONT}\s+belong to)"
_ADDRESS = rf"(?P<address>{ADDRESS})"


def _label(number: int) -> str:
    return _LABEL.replace("{n}", str(number))


#: A person, and then their address.
_REACHED = (
    rf"{_WHO}{_OF}\s+{_label(1)}(?:{_IS})?\s*{_ADDRESS}",
    rf"{_WHO}\s*(?:[:=(\u2013\u2014-]|,)\s*(?:{_label(1)}\s*(?:is)?[:=]?\s*)?{_ADDRESS}",
    rf"{_WHO}\s+(?P<bare>)(?:{_label(1)}:?\s+)?{_ADDRESS}",
    rf"{_WHO}\s+(?:can be|is)\s+(?:reached|reachable|contacted|available)\s+{_AT}\s+(?:{_label(1)}\s+)?{_ADDRESS}",
    rf"(?:[Tt]he\s+)?{_label(1)}\s+(?:of|for)\s+{_WHO}{_IS}\s*{_ADDRESS}",
    rf"(?:{_DONT}\s+)?(?i:call|text|reach|e-?mail|mail|message|contact|ring)\s+{_WHO}\s+{_AT}\s+(?:{_label(1)}\s+)?{_ADDRESS}",
    rf"{_WHO}\s+(?:has|uses|got)\s+(?:(?:a|the)\s+)?{_label(1)}(?:{_IS}|,)?\s*{_ADDRESS}",
    rf"{_WHO}\s+(?:no longer|{_DONT})\s+(?:has|have|uses?)\s+(?:(?:a|the)\s+)?(?:{_label(1)}\s+)?{_ADDRESS}",
    rf"{_WHO}\s+(?:has\s+)?changed\s+(?:her|his|their)\s+{_label(1)}\s+to\s+{_ADDRESS}",
    rf"{_WHO}\s+is\s+{_ADDRESS}\s+on\s+(?P<label2>\w+)",
    rf"{_WHO}\s+is\s+on\s+(?P<label2>\w+)\s+as\s+{_ADDRESS}",
    rf"{_ADDRESS}\s+{_BELONGS}\s+{_WHO}(?:{_OF}\s+{_label(1)})?(?=\s*(?:$|[.!,;]))",
)
_ENDS = r"(?=\s*(?:$|[.,;:!()\u2013\u2014])|\s+(?:and|who|whose|since|now)\b)"
_MORE = rf"(?:\s+and\s+(?:also\s+)?{_my('3')})?"
#: A person, and their relation to the owner.
_RELATED = (
    rf"{_TITLE}(?P<name1>{_ANY_NAME})(?:\s+\((?:aka\s+)?(?P<nick>{_NAME})\))?\s+(?P<copula>is|was|isn['\u2019]t)"
    rf"(?:\s+(?:also|now|still|currently|(?P<negated>not|no longer|never)))?\s+{_my('1')}{_MORE}{_ENDS}",
    rf"{_my('1')}(?:{_OF}\s+name)?\s+(?P<copula>is|was)\s+(?:now\s+|still\s+)?"
    rf"(?:(?P<called>called|named)\s+)?{_TITLE}(?P<name1>{_NAME}){_ENDS}",
    rf"(?:I|[Ww]e|(?i:the user))\s+ha(?:ve|s)\s+an?\s+{_PRAISE}(?P<relation1>(?i:{_RELATION}))\s+(?:called|named)\s+"
    rf"{_TITLE}(?P<name1>{_NAME}){_ENDS}",
    rf"(?P<several>{_NAME}(?:,\s+{_NAME})*\s+and\s+{_NAME})\s+are\s+{_MY}\s+{_PRAISE}"
    rf"(?P<relation1>(?i:{_RELATION}))s{_ENDS}",
    rf"{_MY}\s+{_PRAISE}(?P<relation1>(?i:{_RELATION}))s\s+are\s+(?:called\s+)?"
    rf"(?P<several>{_NAME}(?:,\s+{_NAME})*\s+and\s+{_NAME}){_ENDS}",
    rf"{_my('1')},?\s+{_TITLE}(?P<name1>{_NAME}),?(?=\s|$|[.!])",
    rf"{_TITLE}(?P<name1>{_NAME}),\s+{_my('1')}(?=\s*(?:$|[.,;:!(]))",
)
#: A person whose number has changed, without the new number.
_RENUMBERED = (
    rf"{_WHO}\s+(?:has|got)\s+a\s+(?:new|different)\s+(?:phone\s+|mobile\s+)?number(?=\s*(?:$|[.!]))",
    rf"{_WHO}\s+(?:has\s+)?changed\s+(?:her|his|their)\s+(?:phone\s+|mobile\s+)?number(?=\s*(?:$|[.!]))",
    rf"{_WHO}{_OF}\s+(?:phone\s+|mobile\s+)?number\s+(?:has\s+changed|changed|no longer works|{_DONT}\s+work"
    r"|is\s+(?:wrong|outdated|out of date|disconnected|invalid|no longer valid))",
)
_NICK = rf"{_QUOTE}(?P<nick>{_NAME}){_QUOTE}"
#: A person, and another name of theirs.
_NAMED = (
    rf"{_WHO}{_OF}\s+nickname\s+is\s+{_NICK}",
    rf"(?:(?:I|[Ww]e|[Ee]verybody|[Ee]veryone)\s+calls?)\s+{_WHO}\s+{_NICK}",
    rf"{_WHO},?\s+(?:goes by|is called|is known as|also known as|aka|a\.k\.a\.|is nicknamed)\s+{_NICK}",
    rf"{_NICK}\s+is\s+(?:short for|a nickname (?:for|of)|the nickname of)\s+{_WHO}",
    rf"{_NICK}\s+is\s+{_WHO}{_OF}\s+nickname",
)
_PRONOUN = (
    rf"(?i:her|his|their)\s+{_label(1)}{_IS}\s*{_ADDRESS}",
    rf"(?i:she|he|they)\s+(?:can be|is|are)\s+(?:reached|reachable|contacted)\s+{_AT}\s+(?:{_label(1)}\s+)?{_ADDRESS}",
    rf"(?i:call|text|reach|e-?mail|message)\s+(?:her|him|them)\s+{_AT}\s+(?:{_label(1)}\s+)?{_ADDRESS}",
)
_TAIL = (
    rf"(?:\s*[,;/|&(:\u2013\u2014-]+|\s+and\b)?\s*(?P<pronoun>(?:(?:and|whose|her|his|their)\s+)*)(?:{_label(1)}(?:\s+is)?[:=]?\s*)?"
    rf"{_ADDRESS}\)?(?:\s+on\s+(?P<label2>\w+)|\s*\((?P<label3>[\w ]+)\))?"
)
#: Words after which "my girlfriend Anna" may occur in the middle of a sentence without being its subject.
_BESIDE = rf"\b(?:with|for|from|of|by|visit|visiting)\s+{_my('1')},?\s+{_TITLE}(?P<name1>{_NAME})"


@cache
def reached() -> tuple[re.Pattern[str], ...]:
    """Return the forms that give a person an address; compile them on first use."""
    return tuple(map(re.compile, _REACHED))


@cache
def renumbered() -> tuple[re.Pattern[str], ...]:
    """Return the forms that say that a known number has changed."""
    return tuple(map(re.compile, _RENUMBERED))


@cache
def related() -> tuple[re.Pattern[str], ...]:
    """Return the forms that say how a person is related to the owner."""
    return tuple(map(re.compile, _RELATED))


@cache
def named() -> tuple[re.Pattern[str], ...]:
    """Return the forms that give a person another name."""
    return tuple(map(re.compile, _NAMED))


@cache
def pronouns() -> tuple[re.Pattern[str], ...]:
    """Return the forms that give an address to the person of the previous statement."""
    return tuple(map(re.compile, _PRONOUN))


@cache
def tail() -> re.Pattern[str]:
    """Return the form of one more address of the same person."""
    return re.compile(_TAIL)


@cache
def beside() -> re.Pattern[str]:
    """Return the form of a person named in passing, with their relation to the owner."""
    return re.compile(_BESIDE)
