"""Recognises requests for help, and texts that may state a standing wish, by their words."""

import re

_WORK = (
    "suggest|recommend|plan|help|write|draft|give me|find|book|make|explain|tell me (?:about|how)|summari[sz]e|compare"
    "|create|design|choose|pick|show me|list|translate|prepare|set up|schedule|organi[sz]e|teach|describe|order"
    "|reserve|arrange|compose|propose|come up with|put together|reply|review|fix|add|implement|refactor|improve"
    "|convert|invent|outline|sketch|build|advise|generate|rewrite|rename|clean up|edit|proofread|correct|brainstorm"
    "|get me|buy|look for|introduce|walk me|talk me|ideas for"
)
_ENGLISH = (
    r"^\W*(?:please,? )?(?:(?:can|could|would|will) you (?:please )?)?"
    rf"(?:{_WORK})\b"
    r"|\b(?:any|some|more) (?:\w+ )?(?:ideas?|suggestions?|recommendations?|tips|advice|thoughts|inspiration)\b"
    r"|\b(?:should|shall|could|can|might) (?:I|we)\b|\b(?:can|could|would|will) you\b|\bwhat do you think\b"
    r"|\b(?:I|we)(?:['’]m| am|['’]re| are|['’]d| would)? (?:just |also |really )?"
    r"(?:need|want|like|looking for|thinking (?:of|about)|planning|trying to decide)\b"
    r"|\bis it (?:worth|safe|ok(?:ay)?|a good idea)\b|\bhow (?:do|can|should|could|would) (?:I|we)\b"
    r"|\bwhat(?:['’]s| is| are| would be) (?:a |an |the |some )?(?:good|best|nice|great)\b"
)
_OTHERS = (
    r"\b(?:soll(?:te|en|ten)?|kann|könnte|können) (?:ich|wir)\b|\b(?:kannst|könntest) du\b"
    r"|^\W*(?:bitte )?(?:empfiehl|schlag|plane?|schreibe?|erkläre?|hilf|finde?|gib|mach|erstelle?|vergleiche?|buche?)\b"
    r"|\b(?:devrais|dois|puis|pourrais)-je\b|\b(?:peux|pourrais)-tu\b|\b(?:pouvez|pourriez)-vous\b"
    r"|^\W*(?:propose|conseille|recommande|aide|planifie|écris|explique|trouve|donne|prépare|réserve|compare)\b"
    r"|\b(?:debería|debo|puedo|podría|podrías|puedes)\b"
    r"|^\W*(?:recomiéndame|sugiere|ayúdame|planea|escribe|explícame|busca|dame|prepara|reserva|compara)\b"
    r"|\b(?:dovrei|potrei|puoi|potresti|posso)\b"
    r"|^\W*(?:consigliami|suggerisci|aiutami|pianifica|scrivi|spiegami|trova|dammi|prenota)\b"
    r"|\b(?:deveria|poderia|podes)\b|\b(?:zal|moet|kan|zou) ik\b|\b(?:kun|kan|wil|zou) je\b"
    r"|[てで](?:ください|下さい|くれる|くれませんか)|おすすめ|お勧め|べき|たらいい"
)
_REQUEST = re.compile(f"{_ENGLISH}|{_OTHERS}", re.IGNORECASE)
#: What happened is asked of the memory, and is no request.
_PAST = re.compile(
    r"\b(?:did|was|were|had|has|have (?:I|we)|remind me|previous(?:ly)?|earlier|last time)\b", re.IGNORECASE
)
#: A longer text is no request: somebody tells something.
_LONGEST_REQUEST = 1_000
_LIKING = """
always never ever whenever prefer prefers preferred rather hate hates love loves enjoy dislike detest avoid avoids
allergic allergy allergies intolerant intolerance vegan vegetarian kosher halal diabetic coeliac celiac deaf blind
claustrophobic terrified afraid scared sober pregnant dyslexic autistic asthmatic beginner favourite favorite don't dont
can't cant cannot won't wont stop skip unless future anymore only without no
immer nie niemals künftig lieber bevorzuge hasse liebe vertrage allergisch verzichte kein keine keinen nur
toujours jamais désormais dorénavant préfère déteste allergique plutôt sans
siempre nunca jamás prefiero odio alérgico alérgica sin solo
sempre mai preferisco detesto allergico allergica senza prefiro sem
altijd nooit liever voortaan haat geen zonder
"""
#: Words of those who say what they like, avoid, cannot do, or want in general.
_WISH_WORDS = frozenset(_LIKING.split())
_PUNCTUATION = str.maketrans(dict.fromkeys('.,;:!?()[]{}"“”„«»…-–—/', " ") | {"’": "'"})


def is_request(text: str) -> bool:
    """Return whether a text asks for advice or work, and not for what happened."""
    text = text[:_LONGEST_REQUEST]
    return _REQUEST.search(text) is not None and _PAST.search(text) is None


def may_state_wish(text: str) -> bool:
    """Return whether a text has a word of those who say what they like, avoid or want in general."""
    return not _WISH_WORDS.isdisjoint(text.casefold().translate(_PUNCTUATION).split())
