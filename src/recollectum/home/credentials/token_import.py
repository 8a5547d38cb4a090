"""Imports an old plain-text token file, verifies the result and destroys the file; idempotent."""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

from recollectum.domain.access.credential import (
    DEFAULT_ACCOUNT,
    Credential,
    CredentialKind,
    CredentialName,
    OAuthToken,
    ServiceApiKey,
)
from recollectum.domain.errors import Conflict, Damaged, InvalidInput, NotFound, RecollectumError
from recollectum.domain.records import dataclass
from recollectum.home.credentials.store import Credentials
from recollectum.home.files import explain, make_private_folder, sync_file, sync_folder, write_all
from recollectum.home.locks import Lock
from recollectum.home.paths import Home

OldTokens = tuple[CredentialName, Credential, datetime]
_MOST_BYTES = 16 * 1024 * 1024
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_MS = 253_402_300_799_000
_FACTS = ("refreshToken", "expiresAt", "scope")
_PLACES = ("clientId", "tokenUrl", "mcpServerUrl")


def read_old(path: Path) -> list[OldTokens]:
    """Return every credential of the file with all its fields; refuse the whole file if one cannot be parsed."""
    try:
        found: object = json.loads(_read(path))
    except (ValueError, RecursionError):
        found = None
    # A list of credentials, or a mapping by server name.
    if isinstance(found, dict):
        found = list(cast("Mapping[str, object]", found).values())
    if not isinstance(found, list):
        raise Damaged(f"{path} is not a token file in JSON; nothing of it was imported, and it is as it was")
    read = list(_each(cast("list[object]", found), path))
    if len({name for name, _, _ in read}) != len(read):
        raise Damaged(f"{path} has two credentials of one server; nothing of it was imported, leave one of them out")
    return read


def _each(found: list[object], path: Path) -> Iterator[OldTokens]:
    for place, one in enumerate(found, start=1):
        try:
            yield _credential(cast("Mapping[str, object]", one))
        except (KeyError, TypeError, ValueError, AttributeError, InvalidInput):
            # Not chained: the text that could not be parsed may be the secret.
            problem = Damaged(
                f"credential {place} of {path} cannot be read; nothing was imported, correct or remove it"
            )
            raise problem from None


def _credential(fields: Mapping[str, object]) -> OldTokens:
    token = cast("Mapping[str, object]", fields["token"])
    access, kind = _text(token["accessToken"]), _text(token.get("tokenType", "Bearer"))
    updated = _moment(fields.get("updatedAt", 0))
    plain = kind == "ApiKey" and not any(token.get(name) for name in _FACTS)
    if plain and not any(fields.get(name) for name in _PLACES):
        return _named(fields, CredentialKind.API_KEY), ServiceApiKey(access), updated
    # A key with an end or a URL is stored as a token, so that no field is lost.
    expires = token.get("expiresAt")
    client, token_url, server = (_optional(fields, name) for name in _PLACES)
    credential = OAuthToken(
        access_token=access,
        refresh_token=_optional(token, "refreshToken"),
        expires_at=None if expires is None else _moment(expires),
        scope=_optional(token, "scope") or "",
        token_type=kind,
        client_id=client,
        token_url=token_url,
        server_url=server,
    )
    return _named(fields, CredentialKind.OAUTH), credential, updated


def _named(fields: Mapping[str, object], kind: CredentialKind) -> CredentialName:
    return CredentialName(_text(fields["serverName"]), DEFAULT_ACCOUNT, kind)


def _text(found: object) -> str:
    if not isinstance(found, str):
        raise TypeError("not a text")
    return found


def _optional(fields: Mapping[str, object], name: str) -> str | None:
    found = fields.get(name)
    return None if found is None or found == "" else _text(found)


def _moment(millis: object) -> datetime:
    if isinstance(millis, bool) or not isinstance(millis, int | float) or not 0 <= millis <= _LATEST_MS:
        raise TypeError("not a time")
    return _EPOCH + timedelta(milliseconds=millis)


def _read(path: Path) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        file = os.open(path, flags)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read ({error.strerror}); name a regular file that you own") from None
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            raise InvalidInput(
                f"{path} is not a file, or has a second name (hard link); name a plain file with one name"
            )
        with os.fdopen(file, "rb", closefd=False) as opened:
            data = opened.read(_MOST_BYTES + 1)
    finally:
        os.close(file)
    if len(data) > _MOST_BYTES:
        raise InvalidInput(f"{path} has more than {_MOST_BYTES // 2**20} MiB; that is not a token file")
    return data


_BLOCK = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenImport:
    """The result of an import."""

    #: The credentials of the file, all stored now.
    names: list[CredentialName]
    #: Those that had been stored before.
    known: list[CredentialName]


def import_tokens(home: Home, credentials: Credentials, path: Path) -> TokenImport:
    """Import the file and destroy it; run again after a crash, it finishes the import.

    The file's name records the progress: its original name, `.importing` while it is read, `.imported` once all is
    stored and verified.
    """
    begun, done = path.with_name(f"{path.name}.importing"), path.with_name(f"{path.name}.imported")
    make_private_folder(home.locks)
    with Lock(home.locks / "credentials-import.lock"):
        if not any(map(os.path.lexists, (path, begun, done))):
            raise NotFound(f"there is no token file at {path}; name the file that is to be imported")
        names: list[CredentialName] = []
        known: list[CredentialName] = []
        if os.path.lexists(done):
            destroy(done)
        # An interrupted import comes first; the older program may have written a new file since.
        for _ in range(2):
            if not os.path.lexists(begun):
                if not os.path.lexists(path):
                    break
                read_old(path)
                _rename(path, begun)
            old = _bring_in(credentials, begun, path)
            names += [name for name, _, _ in old[0]]
            known += old[1]
            _rename(begun, done)
            destroy(done)
    return TokenImport(names=sorted(set(names)), known=sorted(set(known)))


def destroy(path: Path) -> None:
    """Overwrite the file and remove it. On flash or copy-on-write storage the old bytes may survive."""
    try:
        file = os.open(path, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        try:
            left = os.fstat(file).st_size
            while left > 0:
                size = min(left, _BLOCK)
                write_all(file, bytes(size))
                left -= size
            sync_file(file)
        finally:
            os.close(file)
        path.unlink()
        sync_folder(path.parent)
    except OSError as error:
        raise explain(error, path) from error


def _bring_in(credentials: Credentials, begun: Path, path: Path) -> tuple[list[OldTokens], list[CredentialName]]:
    try:
        old = read_old(begun)
        known = [name for name, credential, _ in old if _is_known(credentials, begun, (name, credential))]
        credentials.save_all([one for one in old if one[0] not in known])
    except RecollectumError:
        # Unchanged, for a person to look at, unless the older program has written another one since.
        if not os.path.lexists(path):
            _rename(begun, path)
        raise
    return old, known


def _is_known(credentials: Credentials, path: Path, one: tuple[CredentialName, object]) -> bool:
    name, credential = one
    kept = credentials.find(name.service, account=name.account, kind=name.kind)
    if kept is not None and kept != credential:
        raise Conflict(
            f"{path.name.removesuffix('.importing')} has another {name} than the one that is kept; "
            "nothing was imported, delete one of the two"
        )
    return kept is not None


def _rename(old: Path, new: Path) -> None:
    try:
        old.rename(new)
        sync_folder(new.parent)
    except OSError as error:
        raise explain(error, old) from error
