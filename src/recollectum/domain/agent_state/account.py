"""Account: one of a person's accounts at a service. Its secret is in the credential store, and never here."""

import unicodedata
from datetime import datetime

from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass

#: How many accounts a person has at all services together.
MOST_ACCOUNTS = 1000
_LONGEST = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account that the person uses or used at a service."""

    service: str
    account: str
    #: Whether it is the one in use; at most one of each service is.
    active: bool
    added_at: datetime
    #: When it was last made the active one.
    used_at: datetime | None = None


def check_account(name: str) -> str:
    """Return the name of an account in its composed form; raise when it is empty, too long or not one line."""
    said = unicodedata.normalize("NFC", name.strip())
    if not said:
        raise InvalidInput("the account is empty; give its name, such as ada@example.com")
    if len(said) > _LONGEST:
        raise InvalidInput(f"the account has {len(said)} characters; use at most {_LONGEST}")
    if any(unicodedata.category(char)[0] == "C" for char in said):
        raise InvalidInput("the account holds a control character; give its name on one line")
    return said
