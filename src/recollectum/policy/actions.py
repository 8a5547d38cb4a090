"""Names the operations as policy rules do (a noun and a verb, such as `memory.forget`), and checks client names."""

import re

from recollectum.domain.errors import InvalidInput

#: Services whose own name is not what a person would write into a rule.
_NOUNS = {
    "Vault": "memory",
    "Idempotency": "repeats",
    "Memories": "memory",
    "Chat": "sessions",
    "Profiles": "profile",
    "GlobalNotesFile": "global_notes",
    "Quarantines": "quarantine",
}


def tool_name(qualified: str) -> str:
    """The name of an operation from that of its method, as in `Memories.forget`."""
    service, _, verb = qualified.rpartition(".")
    noun = service.rpartition(".")[2]
    return f"{_NOUNS.get(noun, noun.lower())}.{verb}"


_CLIENT = re.compile(r"[a-z][a-z0-9_-]*:[^\x00-\x1f\x7f]{1,200}")
#: What a credential alone can say.
_PROVEN = ("key:", "person:", "process:")


def check_client(name: str) -> str:
    """The name of a program that asks, or a sentence about what it may not look like."""
    if not _CLIENT.fullmatch(name) or name.startswith(_PROVEN):
        raise InvalidInput(
            "a client is named by its kind and a name, such as mcp:desktop; key, person and process are taken"
        )
    return name
