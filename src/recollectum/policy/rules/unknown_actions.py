"""Suggests an action for a rule that names one of our nouns with a verb that no action has."""

import re
from difflib import get_close_matches

from recollectum.policy.actions import Action
from recollectum.policy.rules.matching import matches_name

_NAMED = re.compile(r"(?P<noun>[a-z]+)\.(?P<verb>[a-z_*]+)")
#: Each noun in the singular and in the plural.
_NOUNS = {
    **{form: action.noun for action in Action for form in (action.noun, f"{action.noun}s")},
    **{"people": "person", "memories": "memory", "indexes": "index"},
}
#: Synonyms of the verbs; if a noun lacks the first, the next is used.
_VERBS = {
    **dict.fromkeys(("all", "find", "get", "history", "list", "page", "show", "status", "preview"), ("read",)),
    **dict.fromkeys(("context", "query", "recall"), ("search", "read")),
    **dict.fromkeys(("erase", "forget", "purge", "remove"), ("delete", "write", "run")),
    **dict.fromkeys(("approve", "reject"), ("decide",)),
}


def nearest_action(name: str) -> str | None:
    """Return the action that a rule means if it has one of our nouns with an unknown verb, else None."""
    named = _NAMED.fullmatch(name)
    noun = _NOUNS.get(named["noun"]) if named else None
    if named is None or noun is None or any(matches_name(action, name) for action in Action):
        return None
    verbs = [action.value.partition(".")[2] for action in Action if action.noun == noun]
    if "*" in named["verb"]:
        return f"{noun}.*"
    likely = (*_VERBS.get(named["verb"], ()), *get_close_matches(named["verb"], verbs))
    wanted = (*likely, "write", "run", "propose", *verbs)
    return f"{noun}.{next(verb for verb in wanted if verb in verbs)}"
