"""Signs purge receipts with Ed25519, and verifies their signatures."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any

from recollectum.domain.errors import InvalidInput
from recollectum.storage.tables.erasure.receipts import StoredReceipt
from recollectum.vault.purge.request import PurgeKind, PurgeState, Receipt

#: The fields that receipts of the first form do not have.
_SECOND_FORM = frozenset({"form", "unread", "excused", "remaining", "elsewhere"})
#: The field that only receipts of the third form have.
_THIRD_FORM = frozenset({"shredded"})
_LISTS = ("hit_files", "unread", "remaining", "elsewhere")


def public_key(seed: bytes) -> str:
    """Return the public key of a seed."""
    # Slower to import than most commands take, and most sign nothing.
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw().hex()


def sign_receipt(receipt: Receipt, seed: bytes) -> Receipt:
    """Return the same receipt with a signature over all its fields."""
    # Imported here: slow to import.
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    whole = replace(receipt, public_key=public_key(seed), signature="")
    return replace(whole, signature=Ed25519PrivateKey.from_private_bytes(seed).sign(_signed_body(whole)).hex())


def is_genuine(receipt: Receipt, key: str) -> bool:
    """Return whether the holder of `key` signed the receipt and no field was changed since."""
    # Imported here: slow to import.
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(
            bytes.fromhex(receipt.signature), _signed_body(replace(receipt, signature=""))
        )
    except (InvalidSignature, ValueError):
        return False
    # The signature of an earlier form does not cover the later fields.
    if any(getattr(receipt, name) for name in _unsigned(receipt.form) - {"form"}):
        return False
    return receipt.public_key == key


def to_stored(receipt: Receipt, vault: bytes) -> StoredReceipt:
    """Return a signed receipt as the catalog stores it."""
    return StoredReceipt(
        id=receipt.id,
        vault=vault,
        state=receipt.state.value,
        body=_signed_body(replace(receipt, signature="")).decode(),
        signature=bytes.fromhex(receipt.signature),
    )


def from_stored(kept: StoredReceipt) -> Receipt:
    """Return the receipt that the catalog stores."""
    return from_json({**json.loads(kept.body), "signature": kept.signature.hex()})


def from_json(given: Mapping[str, Any]) -> Receipt:
    """Parse a receipt from its JSON form; raise when fields are missing or unknown."""
    names = {one.name for one in fields(Receipt)}
    if set(given) not in (names, *(names - _unsigned(form) for form in (1, 2))):
        raise InvalidInput(f"that is not a receipt: its fields are not {', '.join(sorted(names))}")
    try:
        whole: dict[str, Any] = {**given, "kind": PurgeKind(given["kind"]), "state": PurgeState(given["state"])}
        whole["form"] = given.get("form", 1)
        whole |= {name: tuple(given.get(name, ())) for name in _LISTS}
        return Receipt(**whole)
    except (TypeError, ValueError):
        raise InvalidInput("that is not a receipt: a field has the wrong type") from None


def _signed_body(receipt: Receipt) -> bytes:
    values = {**asdict(receipt), "counts": dict(receipt.counts)}
    del values["signature"]
    values = {name: value for name, value in values.items() if name not in _unsigned(receipt.form)}
    return json.dumps(values, sort_keys=True, separators=(",", ":")).encode()


def _unsigned(form: int) -> frozenset[str]:
    """Return the fields that a form does not have."""
    earlier = {1: _SECOND_FORM | _THIRD_FORM, 2: _THIRD_FORM}
    return earlier.get(form, frozenset())
