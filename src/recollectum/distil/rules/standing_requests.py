"""Recognises lasting requests to the assistant, such as "always cite your sources", by their English form."""

import re

from recollectum.distil.rules.statements import PersonalStatement, holds_secret, without_lead
from recollectum.distil.sentences import Sentence
from recollectum.domain.memory import Kind

_LONGEST = 300
_IMPORTANCE = 0.8
_FROM_NOW = r"(?:from now on|in (?:the )?future|going forward|as a (?:general )?rule|in general|generally|by default)"
_POLITE = r"(?:please |pls |kindly |I(?:'d| would)? (?:want|like|need) you to |(?:can|could|would|will) you )"
_SERVE = (
    r"(?:answer|reply|respond|write|use|give(?! up)|show|cite|quote|call|address|include|add|explain|keep|speak|talk"
    r"|format|ask|suggest|recommend|tell|send|start|begin|end|put|mention|make|translate|check|correct|apologi[sz]e|refer"
    r"|list|name|spell|round|convert|remind|warn|stick|assume|treat|skip|leave|avoid|offer|say|summari[sz]e|provide|state"
    r"|be (?:brief|short|concise|honest|blunt|direct|polite|formal|informal|critical|specific|precise|strict|gentle))"
)
# "Don't", "stop" and "never" turn the request; "always" makes it last.
_FORM = re.compile(
    rf"(?:{_FROM_NOW},? |(?:whenever|every time|each time|any time) I [^,]{{3,60}}, )?"
    rf"{_POLITE}{{0,3}}(?:{_FROM_NOW},? )?(?:please )?"
    r"(?:(?:always|never|don't ever|do not ever|don't|do not) ){0,2}"
    rf"(?:{_SERVE}|stop \w+ing)\b",
    re.IGNORECASE,
)
#: Without one of these a request is about the present answer.
_LASTING = re.compile(
    rf"\b(?:{_FROM_NOW}|always|never|ever|whenever|every time|each time|any time|unless I (?:ask|say|tell)"
    r"|until I (?:say|tell)|in all (?:your )?(?:answers|replies)|in every (?:answer|reply))\b",
    re.IGNORECASE,
)
#: About the work at hand, reported, or addressed to somebody else.
_PASSING = re.compile(
    r"\b(?:for now|right now|this time|today|just this once|for example|e\.g\.|in this (?:text|story|scene|game|letter)"
    r"|says|said|told|taught|motto|proverb|rule of thumb|never (?:say never|tell a soul))\b|[\"“”«»]|…|\.\.\.",
    re.IGNORECASE,
)
_ASKED = re.compile(r"(?:please )?(?:can|could|would|will) you\b", re.IGNORECASE)
#: The reason that somebody gives for a request is no part of it.
_REASON = re.compile(r",\s+(?:because\s+|since\s+|as\s+)?(?:I|I'm|I've|we|my|our)\b", re.IGNORECASE)
_FEWEST_WORDS = 3


def read_request(sentence: Sentence) -> PersonalStatement | None:
    """Return the lasting request of a sentence; None if it asks for one answer, reports or quotes."""
    # The same length as before, so that positions stay valid.
    text = sentence.text.replace("’", "'")
    if len(text) > _LONGEST or sentence.lead.startswith((">", "|")) or holds_secret(text) or _PASSING.search(text):
        return None
    start = without_lead(text)
    reason = _REASON.search(text, start)
    end = reason.start() if reason else len(text)
    told = text[start:end]
    if not _FORM.match(told) or not _LASTING.search(told) or len(told.split()) < _FEWEST_WORDS:
        return None
    if "?" in told and not _ASKED.match(told):
        return None
    place = sentence.start + start, sentence.start + end
    return PersonalStatement(*place, sentence.text[start:end], Kind.CORRECTION, _IMPORTANCE)
