"""Stores, finds, lists, refreshes and deletes credentials, in the keyring or the sealed file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

from recollectum.domain.access.credential import (
    DEFAULT_ACCOUNT,
    LEEWAY,
    Credential,
    CredentialEntry,
    CredentialKind,
    CredentialName,
    OAuthToken,
    SecretLocation,
    ServiceApiKey,
)
from recollectum.domain.errors import Conflict, InvalidInput, KeyProblem, NotFound
from recollectum.domain.ids import Clock, system_clock
from recollectum.domain.records import dataclass
from recollectum.home.credentials import keychain
from recollectum.home.credentials.file_key import FileKey, KeyStorePort
from recollectum.home.credentials.keychain import FORCE_VARIABLE
from recollectum.home.credentials.payload import decode, encode
from recollectum.home.credentials.register import CredentialRecord, Register, read, seal, unseal, write
from recollectum.home.files import make_private_folder
from recollectum.home.locks import Lock
from recollectum.home.paths import Home

_YES, _NO = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


@dataclass(frozen=True, slots=True, kw_only=True)
class Safety:
    """Where the next secret is stored and who can read it; and how many are stored where."""

    holder: SecretLocation
    words: str
    #: True when the environment variable disables the keyring.
    forced: bool
    in_keyring: int
    in_file: int


def forced(environ: Mapping[str, str]) -> bool:
    """Return whether the environment forces the file, even where a keyring works."""
    text = environ.get(FORCE_VARIABLE, "").strip().lower()
    if text not in (*_YES, *_NO):
        raise InvalidInput(f"{FORCE_VARIABLE} is neither yes nor no; set it to 1, or leave it out")
    return text in _YES


def describe_safety(
    backend: str | None, path: Path, key_words: str, held: Sequence[SecretLocation], environ: Mapping[str, str]
) -> Safety:
    """Return the safety of the stored secrets as one sentence and two counts."""
    if backend is not None:
        words = f"held by the operating system's keyring ({backend}); other programs of your account can ask for it"
    else:
        words = f"sealed by AES-256-GCM in {path}; {key_words}"
    return Safety(
        holder=SecretLocation.FILE if backend is None else SecretLocation.KEYRING,
        words=words,
        forced=forced(environ),
        in_keyring=sum(one is SecretLocation.KEYRING for one in held),
        in_file=sum(one is SecretLocation.FILE for one in held),
    )


#: Refreshes a token at the server that issued it.
Refresher = Callable[[OAuthToken], OAuthToken]
#: How long one process waits for another that is asking the server.
REFRESH_TIMEOUT = timedelta(seconds=60)


class Credentials:
    """The API keys and OAuth tokens of one home; only `find`, `secret` and `refresh` return a secret."""

    def __init__(
        self, home: Home, keys: KeyStorePort, *, environ: Mapping[str, str], clock: Clock = system_clock
    ) -> None:
        self._home = home
        self._path = home.root / "credentials.json"
        self._file_key = FileKey(home.root, keys, environ)
        self._environ = environ
        self._clock = clock

    def save(self, service: str, credential: Credential, *, account: str | None = None) -> CredentialEntry:
        """Save a secret in place of the previous one; it is durable and was read back when this returns."""
        with self._lock():
            # Uses the active account, so that replacing a key does not need the account's name.
            name = self._name(self._read(), service, account, credential.kind)
            register = self._put(self._made(), [(name, credential, self._clock())])
        return _entry(register, register.records[name])

    def save_all(self, given: Sequence[tuple[CredentialName, Credential, datetime]]) -> None:
        """Save several with their creation times; in the file all of them or none."""
        if not given:
            return
        with self._lock():
            self._put(self._made(), given)

    def find(
        self, service: str, *, account: str | None = None, kind: CredentialKind = CredentialKind.API_KEY
    ) -> Credential | None:
        """Return the secret of an account, or of the active one; None when there is none."""
        register = self._read()
        kept = register.records.get(self._name(register, service, account, kind))
        return None if kept is None else self._open(register, kept)

    def secret(self, name: str) -> str | None:
        """Return the API key stored under the name of its environment variable; None when there is none."""
        try:
            found = self.find(name)
        except InvalidInput:
            # No credential can have such a name.
            return None
        return found.value if isinstance(found, ServiceApiKey) else None

    def delete(
        self, service: str, *, account: str | None = None, kind: CredentialKind = CredentialKind.API_KEY
    ) -> CredentialName:
        """Delete a secret wherever it is stored; raise `NotFound` when there is none."""
        with self._lock():
            register = self._read()
            name = self._name(register, service, account, kind)
            kept = register.records.get(name)
            # First the secret, then its name: after an interruption it can be deleted again.
            dropped = self._drop_everywhere(register.id, name, kept)
            if kept is not None:
                write(self._path, register.without(name))
            elif not dropped:
                raise NotFound(f"there is no {name}; see: recollectum credentials list")
        return name

    def all(self) -> list[CredentialEntry]:
        """Return all credentials without the secrets; the key is not needed."""
        register = self._read()
        return [_entry(register, register.records[name]) for name in sorted(register.records)]

    def accounts(self, service: str) -> list[tuple[str, bool]]:
        """Return the accounts of a service, and whether each is the active one; raise `NotFound` when it has none."""
        register = self._read()
        if not register.accounts(service):
            raise NotFound(f"there is no credential {service!r}; see: recollectum credentials list")
        return [(one, one == _in_use(register, service)) for one in register.accounts(service)]

    def activate(self, service: str, account: str) -> None:
        """Make this account of a service the active one; raise `NotFound` when it has no credential."""
        with self._lock():
            register = self._read()
            if account not in register.accounts(service):
                raise NotFound(f"{service!r} has no account {account!r}; see: recollectum credentials accounts")
            write(self._path, replace(register, active={**register.active, service: account}))

    def refresh(
        self,
        service: str,
        refresher: Refresher,
        *,
        account: str | None = None,
        leeway: timedelta = LEEWAY,
        refused: OAuthToken | None = None,
    ) -> OAuthToken:
        """Return a valid token: the stored one, or one that exactly one process refreshes.

        `refused` is a token that the server rejected before its end; it is refreshed even if it has not expired.
        """
        name = self._name(self._read(), service, account, CredentialKind.OAUTH)

        def usable(token: OAuthToken) -> bool:
            return token != refused if refused is not None else not token.is_expired(self._clock, leeway)

        _, token = self._token(name)
        if usable(token):
            return token
        digest = sha256(name.text_key().encode()).hexdigest()[:16]
        # A separate lock: the server may be slow, and other callers need not wait for it.
        with self._lock(f"credentials-{digest}", REFRESH_TIMEOUT):
            seen, token = self._token(name)
            if usable(token):
                return token
            fresh = refresher(token)
            # A server that sends no new refresh token expects the old one to be used again.
            fresh = replace(fresh, refresh_token=fresh.refresh_token or token.refresh_token)
            with self._lock():
                register = self._made()
                if register.records.get(name) == seen:
                    self._put(register, [(name, fresh, self._clock())])
                    return fresh
        # Somebody deleted it or logged in again in the meantime, and that takes precedence.
        return self._token(name)[1]

    def safety(self) -> Safety:
        """Return how safe a secret saved now would be, in plain words; no key is needed."""
        register = self._read()
        backend = None if forced(self._environ) else keychain.find_backend()
        held = [one.held for one in register.records.values()]
        return describe_safety(backend, self._path, self._file_key.words(register), held, self._environ)

    def _put(self, register: Register, given: Sequence[tuple[CredentialName, Credential, datetime]]) -> Register:
        """Store secrets in the current holder, then record that it has them."""
        backend = None if forced(self._environ) else keychain.find_backend()
        before = register.records
        kept: list[CredentialRecord] = []
        if backend is None:
            register, key = self._file_key.ensure(register)
            for name, credential, at in given:
                one = CredentialRecord(name=name, updated_at=at, held=SecretLocation.FILE)
                kept.append(replace(one, sealed=seal(key, register, one, credential)))
        else:
            for name, credential, at in given:
                keychain.put(backend, register.id, name, encode(credential))
                kept.append(CredentialRecord(name=name, updated_at=at, held=SecretLocation.KEYRING, backend=backend))
        after = register.with_records(*kept)
        write(self._path, after)
        for name, credential, _ in given:
            self._check(name, credential)
            self._drop_old(register.id, before.get(name), after.records[name])
        return after

    def _check(self, name: CredentialName, credential: Credential) -> None:
        register = self._read()
        if self._open(register, register.records[name]) != credential:
            raise KeyProblem(f"{self._path} did not keep the {name}; set it again")

    def _drop_everywhere(self, register_id: str, name: CredentialName, kept: CredentialRecord | None) -> bool:
        """Delete it from its keyring and from the current one, to which an interrupted `save` may have written it."""
        backends = {kept.backend} if kept is not None and kept.held is SecretLocation.KEYRING else set[str]()
        if not forced(self._environ) and (present := keychain.find_backend()) is not None:
            backends.add(present)
        return any([keychain.drop(backend, register_id, name) for backend in sorted(backends)])

    def _drop_old(self, register_id: str, old: CredentialRecord | None, new: CredentialRecord) -> None:
        """Delete what another keyring still has of a moved secret."""
        if (
            old is not None
            and old.held is SecretLocation.KEYRING
            and (new.held, new.backend) != (old.held, old.backend)
        ):
            keychain.drop(old.backend, register_id, old.name)

    def _open(self, register: Register, kept: CredentialRecord) -> Credential | None:
        if kept.held is SecretLocation.FILE:
            return unseal(self._file_key.fetch(register), register, kept)
        text = keychain.get(kept.backend, register.id, kept.name)
        if text is None and kept.name not in self._read().records:
            # Another process has just deleted it.
            return None
        credential = decode(kept.name.kind, text) if text is not None else None
        if credential is None:
            found = "has no entry for it" if text is None else "has something else in its place"
            raise KeyProblem(f"the {kept.name} is held by the keyring {kept.backend}, which {found}; set it again")
        return credential

    def _token(self, name: CredentialName) -> tuple[CredentialRecord, OAuthToken]:
        register = self._read()
        kept = register.records.get(name)
        token = None if kept is None else self._open(register, kept)
        if kept is None or not isinstance(token, OAuthToken):
            raise NotFound(f"there is no {name}; log in first, or see: recollectum credentials list")
        return kept, token

    def _name(self, register: Register, service: str, account: str | None, kind: CredentialKind) -> CredentialName:
        return CredentialName(service, account or _account(register, service), kind)

    def _read(self) -> Register:
        return read(self._path) or Register.new()

    def _made(self) -> Register:
        """Return the register, written to its file: its id must be durable before a keyring uses it."""
        register = read(self._path)
        if register is None:
            register = Register.new()
            write(self._path, register)
        return register

    def _lock(self, name: str = "credentials", timeout: timedelta | None = None) -> Lock:
        make_private_folder(self._home.locks)
        path = self._home.locks / f"{name}.lock"
        return Lock(path) if timeout is None else Lock(path, timeout=timeout)


def _in_use(register: Register, service: str) -> str | None:
    """Return the active account: the chosen one, or the only one."""
    accounts = register.accounts(service)
    chosen = register.active.get(service)
    return chosen if chosen in accounts else accounts[0] if len(accounts) == 1 else None


def _account(register: Register, service: str) -> str:
    """Return the account to use when none is named; raise when there are several and none is active."""
    accounts = register.accounts(service)
    found = _in_use(register, service)
    if found is None and accounts:
        raise Conflict(
            f"{service!r} has the accounts {', '.join(accounts)} and none is in use; "
            "choose one with: recollectum credentials use"
        )
    return found or DEFAULT_ACCOUNT


def _entry(register: Register, kept: CredentialRecord) -> CredentialEntry:
    name = kept.name
    return CredentialEntry(
        service=name.service,
        account=name.account,
        kind=name.kind,
        held=kept.held,
        active=name.account == _in_use(register, name.service),
        updated_at=kept.updated_at,
    )
