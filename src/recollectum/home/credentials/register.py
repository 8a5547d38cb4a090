"""Reads and writes credentials.json, and seals each of its records under its name with AES-256-GCM."""

import base64
import json
import secrets
from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import cast

from recollectum.domain.access.credential import Credential, CredentialKind, CredentialName, SecretLocation
from recollectum.domain.errors import Damaged, InvalidInput, SchemaNewer
from recollectum.domain.records import dataclass
from recollectum.home.credentials.payload import decode, encode, json_object
from recollectum.home.files import explain, write_atomic
from recollectum.home.keys.wrapping import unwrap, wrap

FORMAT = "recollectum-credentials"
VERSION = 1


class KeySource(StrEnum):
    """Where the key that seals the file's records comes from."""

    HOME = "home"
    KEY_FILE = "key_file"


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialRecord:
    """One credential: sealed here, or the name of the keyring that holds it."""

    name: CredentialName
    updated_at: datetime
    held: SecretLocation
    #: The keyring that holds it, if any.
    backend: str = ""
    sealed: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Register:
    """The whole file."""

    #: The id of this file; keyring entries and the file's own key are named after it.
    id: str
    records: Mapping[CredentialName, CredentialRecord] = field(default_factory=dict[CredentialName, CredentialRecord])
    #: The active account of each service.
    active: Mapping[str, str] = field(default_factory=dict[str, str])
    source: KeySource | None = None
    #: Sealed by the file's key, to tell a wrong key from a changed record.
    proof: bytes = b""

    @classmethod
    def new(cls) -> "Register":
        """Return an empty register with a new id."""
        return cls(id=secrets.token_hex(16))

    def with_records(self, *added: CredentialRecord) -> "Register":
        """Return it with these records replaced or added; the first account of a service becomes its active one."""
        active = dict(self.active)
        for one in added:
            if not self.accounts(one.name.service):
                active.setdefault(one.name.service, one.name.account)
        return replace(self, records={**self.records, **{one.name: one for one in added}}, active=active)

    def without(self, name: CredentialName) -> "Register":
        """Return it without one record; an account without records is no longer active."""
        left = replace(self, records={key: one for key, one in self.records.items() if key != name})
        if self.active.get(name.service) in left.accounts(name.service):
            return left
        return replace(left, active={key: one for key, one in self.active.items() if key != name.service})

    def accounts(self, service: str) -> list[str]:
        """Return the accounts that a service has credentials for."""
        return sorted({name.account for name in self.records if name.service == service})


def read(path: Path) -> Register | None:
    """Return the register, or None where there is no file."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise explain(error, path) from error
    document = json_object(data)
    version = document.get("version")
    if document.get("format") == FORMAT and isinstance(version, int) and version > VERSION:
        raise SchemaNewer(
            f"{path} was written by a newer Recollectum (form {version}, this one knows {VERSION}); upgrade the program"
        )
    register = _parse(document) if document.get("format") == FORMAT and version == VERSION else None
    if register is None:
        raise Damaged(
            f"{path} is damaged or was changed; restore it from a backup, or move it away and set the credentials again"
        )
    return register


def write(path: Path, register: Register) -> None:
    """Replace the file atomically, private to this account."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "id": register.id,
        "key": register.source,
        "proof": _spell(register.proof),
        "active": dict(sorted(register.active.items())),
        "records": [_fields(register.records[name]) for name in sorted(register.records)],
    }
    write_atomic(path, json.dumps(document, indent=1).encode() + b"\n")


def _fields(one: CredentialRecord) -> dict[str, str]:
    return {
        "service": one.name.service,
        "account": one.name.account,
        "kind": one.name.kind,
        "updated_at": one.updated_at.isoformat(),
        "held": one.held,
        "backend": one.backend,
        "sealed": _spell(one.sealed),
    }


def _parse(document: Mapping[str, object]) -> Register | None:
    try:
        kept = [_record(one) for one in cast("list[Mapping[str, str]]", document["records"])]
        source, active = document["key"], cast("Mapping[str, str]", document["active"])
        return Register(
            id=_hex(str(document["id"])),
            records={one.name: one for one in kept},
            active={str(service): str(account) for service, account in active.items()},
            source=KeySource(str(source)) if source is not None else None,
            proof=base64.b64decode(str(document["proof"]), validate=True),
        )
    except (KeyError, ValueError, TypeError, AttributeError, InvalidInput):
        return None


def _record(fields: Mapping[str, str]) -> CredentialRecord:
    updated = datetime.fromisoformat(fields["updated_at"])
    if updated.tzinfo is None:
        raise ValueError("a time without a zone")
    return CredentialRecord(
        name=CredentialName(fields["service"], fields["account"], CredentialKind(fields["kind"])),
        updated_at=updated,
        held=SecretLocation(fields["held"]),
        backend=fields["backend"],
        sealed=base64.b64decode(fields["sealed"], validate=True),
    )


def _hex(text: str) -> str:
    # It becomes part of a file name.
    bytes.fromhex(text)
    if not text.isalnum():
        raise ValueError("not an id")
    return text


def _spell(data: bytes) -> str:
    return base64.b64encode(data).decode()


def seal(key: bytes, register: Register, one: CredentialRecord, credential: Credential) -> bytes:
    """Seal the secret with AES-256-GCM, bound to this name, time and file."""
    return wrap(key, encode(credential).encode(), seal_label(register, one))


def unseal(key: bytes, register: Register, one: CredentialRecord) -> Credential:
    """Unseal the secret; raise when a byte of it or of its name has changed."""
    plain = unwrap(key, one.sealed, seal_label(register, one))
    credential = decode(one.name.kind, plain.decode("utf-8", "replace")) if plain is not None else None
    if credential is None:
        raise Damaged(
            f"the {one.name} was changed or moved from another name since it was sealed; "
            "restore credentials.json from a backup, or delete it and set it again"
        )
    return credential


def seal_label(register: Register, one: CredentialRecord) -> str:
    """Return what a seal is bound to: the file, the whole name and the time, as one unique text."""
    name = one.name
    bound = [register.id, name.service, name.account, name.kind.value, one.updated_at.isoformat()]
    return f"credential v1 {json.dumps(bound)}"
