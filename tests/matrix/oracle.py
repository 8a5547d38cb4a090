"""What must be allowed and what must come out, written from the rules and not from the code."""

from collections.abc import Mapping

#: What each caller may do with each owner's vault; what is not here must look as if it did not exist.
RIGHTS: Mapping[str, Mapping[str, str]] = {
    "operator": {
        "user:alice": "write",
        "user:bob": "write",
        "group:whatsapp:1": "write",
        "agent:coder": "write",
        "global": "write",
    },
    "alice": {"user:alice": "write"},
    "bob": {"user:bob": "write"},
    "acting": {"user:alice": "write"},
    "alice_reads": {"user:alice": "read"},
    "carol": {"user:alice": "read"},
    "dave": {"user:alice": "session"},
    "erin": {"global": "read"},
    "frank": {"user:bob": "read", "user:alice": "session"},
    "grace": {},
}
#: Who is not let in at all.
STRANGERS = ("revoked", "made_up")

#: Archived is readable by its id; deleted, expired and pending are not there.
BY_ID = frozenset({"active", "archived", "aged", "superseded", "superseded_row", "successor"})
BY_KEY = frozenset({"active"})
RECALLED = frozenset({"active", "successor", "talk0", "talk1"})
AS_CONTEXT = frozenset({"active", "successor"})
# No operation leaves an active row that is superseded: a list by state shows it where recall does not.
PAGES: Mapping[str, frozenset[str]] = {
    "active": frozenset({"active", "successor", "superseded_row"}),
    "archived": frozenset({"archived", "aged", "superseded"}),
    "soft_deleted": frozenset({"soft_deleted", "expired", "outlived"}),
}
#: What age alone took out of recall.
AGED = frozenset({"aged", "outlived"})
AS_OF_THEN = frozenset({"active", "archived", "aged", "superseded", "superseded_row"})
AS_OF_NOW = frozenset({"active", "successor", "superseded_row"})
# What did not change is not in it; what was deleted since is named by its id and not shown.
DIFF_SINCE_THEN = frozenset({"archived", "aged", "superseded", "superseded_row", "successor"})

#: How an owner's own change ends, by operation and state: done, or the error that says why not.
OUTCOMES: Mapping[str, Mapping[str, str]] = {
    "memories.edit": {
        "active": "done",
        "archived": "StepRefused",
        "aged": "StepRefused",
        "superseded": "StepRefused",
        "soft_deleted": "NotFound",
        "expired": "NotFound",
        "pending": "NotFound",
        "pending_row": "NotFound",
    },
    "memories.supersede": {
        "active": "done",
        "archived": "done",
        "aged": "done",
        "superseded": "Conflict",
        "soft_deleted": "NotFound",
        "expired": "NotFound",
        "pending": "NotFound",
        "pending_row": "NotFound",
    },
    "memories.forget": {
        "active": "done",
        "archived": "done",
        "aged": "done",
        "superseded": "done",
        "soft_deleted": "done",
        "expired": "done",
        "outlived": "done",
        "pending": "StepRefused",
        "pending_row": "StepRefused",
    },
    "memories.move": {
        "active to active": "done",
        "archived to active": "done",
        "aged to active": "done",
        "superseded to active": "StepRefused",
        "soft_deleted to active": "done",
        "expired to active": "done",
        "outlived to active": "done",
        "pending to active": "StepRefused",
        "pending_row to active": "StepRefused",
        "active": "done",
        "archived": "done",
        "aged": "done",
        "superseded": "done",
        "soft_deleted": "StepRefused",
        "expired": "StepRefused",
        "pending": "StepRefused",
        "pending_row": "StepRefused",
    },
}


def allowed(caller: str, owner: str, permission: str, session: int | None) -> bool:
    """Whether the rules let this caller do it; `session` is the number of the one session it touches."""
    right = RIGHTS[caller].get(owner)
    if permission == "admin":
        return caller == "operator"
    if right == "session":
        # The grant is for the first session only, and for reading.
        return permission == "read" and session == 0
    return right == "write" or (right == "read" and permission == "read")
