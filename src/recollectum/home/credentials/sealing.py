"""Seal one credential under its own name, so that a record cannot be changed or moved under another."""

import json

from recollectum.domain.credential import Credential
from recollectum.domain.errors import Damaged
from recollectum.home.credentials.payload import decode, encode
from recollectum.home.credentials.register import Kept, Register
from recollectum.home.keys.wrapping import unwrap, wrap


def seal(key: bytes, register: Register, one: Kept, credential: Credential) -> bytes:
    """The secret under AES-256-GCM, readable under this name, of this time, in this file only."""
    return wrap(key, encode(credential).encode(), label(register, one))


def unseal(key: bytes, register: Register, one: Kept) -> Credential:
    """The secret again, or one sentence when a byte of it or of its name is not the same."""
    plain = unwrap(key, one.sealed, label(register, one))
    credential = decode(one.name.kind, plain.decode("utf-8", "replace")) if plain is not None else None
    if credential is None:
        raise Damaged(
            f"the {one.name} was changed or moved from another name since it was sealed; "
            "restore credentials.json from a backup, or delete it and set it again"
        )
    return credential


def label(register: Register, one: Kept) -> str:
    """What a seal is bound to: the file, the whole name and the time, as one text that no other has."""
    name = one.name
    bound = [register.id, name.service, name.account, name.kind.value, one.updated_at.isoformat()]
    return f"credential v1 {json.dumps(bound)}"
