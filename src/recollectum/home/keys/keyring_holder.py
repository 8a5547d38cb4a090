"""Holds the master key in the operating system's keyring after a probe of that keyring."""

import secrets
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol, cast

from recollectum.domain.errors import KeyProblem
from recollectum.domain.message import Json
from recollectum.home.keys.wrapping import MasterKey

_SERVICE = "recollectum"
_LEAST_PRIORITY = 1
#: Packages whose keyrings write the secret to disk in plain text, store nothing, or refuse everything.
_REFUSED = ("keyrings.alt", "keyring.backends.null", "keyring.backends.fail")
_CURE = "unlock or reinstall it, or run: recollectum encryption recover"


class Keyring(Protocol):
    """The part of a `keyring` backend that is used here."""

    @property
    def priority(self) -> float:
        """How much it wants to be used; below 1 it is no good."""
        ...

    def set_password(self, service: str, username: str, password: str) -> None:
        """Store a secret."""
        ...

    def get_password(self, service: str, username: str) -> str | None:
        """Return the secret, or None."""
        ...

    def delete_password(self, service: str, username: str) -> None:
        """Delete a secret."""
        ...


def available() -> bool:
    """Return whether a keyring stores what it is given; tested by writing, reading and deleting an entry."""
    return usable() is not None


def keep(home_id: str, master: MasterKey) -> Mapping[str, Json]:
    """Store the key and read it back; return the record of where it is."""
    backend = usable()
    if backend is None:
        raise KeyProblem("no keyring of the operating system can be used here; choose a passphrase or a key file")
    with keyring_errors(backend):
        backend.set_password(_SERVICE, home_id, master.to_text())
        stored = backend.get_password(_SERVICE, home_id)
    if stored is None or MasterKey.from_text(stored) != master:
        raise KeyProblem(f"the keyring {name_of(backend)} did not keep the key; choose a passphrase or a key file")
    return entry(home_id, backend)


def entry(home_id: str, backend: Keyring) -> Mapping[str, Json]:
    """Return the record of an entry in a keyring."""
    return {"backend": name_of(backend), "service": _SERVICE, "account": home_id}


def fetch_all(home_id: str, detail: Mapping[str, Json]) -> list[MasterKey]:
    """Return the keys in the keyring's entry: one, or two while the master key is being changed."""
    backend = _recorded_backend(detail)
    with keyring_errors(backend):
        stored = backend.get_password(_SERVICE, home_id)
    name = name_of(backend)
    if stored is None:
        raise KeyProblem(
            f"the key of this home is held by the keyring {name}, which has no entry {_SERVICE}/{home_id}; {_CURE}"
        )
    found = MasterKey.all_from_text(stored)
    if not found:
        raise KeyProblem(
            f"the entry {_SERVICE}/{home_id} of the keyring {name} is not a key of Recollectum; "
            "restore it, or run: recollectum encryption recover"
        )
    return found


def put(home_id: str, detail: Mapping[str, Json], keys: Sequence[MasterKey]) -> None:
    """Replace the keys in the entry, and read them back."""
    backend = _recorded_backend(detail)
    with keyring_errors(backend):
        backend.set_password(_SERVICE, home_id, "\n".join(key.to_text() for key in keys))
    if fetch_all(home_id, detail) != list(keys):
        raise KeyProblem(f"the keyring {name_of(backend)} did not keep the key; choose a passphrase or a key file")


def _recorded_backend(detail: Mapping[str, Json]) -> Keyring:
    recorded = str(detail.get("backend"))
    backend = next((found for found in acceptable() if name_of(found) == recorded), None)
    if backend is None:
        found = ", ".join(map(name_of, acceptable())) or "none"
        raise KeyProblem(
            f"the key of this home is held by the keyring {recorded}, which is not available (found: {found}); {_CURE}"
        )
    return backend


def drop(home_id: str, detail: Mapping[str, Json]) -> None:
    """Delete the entry; do nothing when it is gone already."""
    recorded = str(detail.get("backend"))
    for backend in acceptable():
        if name_of(backend) == recorded:
            with keyring_errors(backend):
                if backend.get_password(_SERVICE, home_id) is not None:
                    backend.delete_password(_SERVICE, home_id)


def usable() -> Keyring | None:
    """Return a keyring that passes a write, read and delete test; None without one."""
    return next((backend for backend in acceptable() if _passes_probe(backend)), None)


def acceptable() -> list[Keyring]:
    """Return the configured keyring, or the members of a chain, without those that store no secret safely."""
    try:
        # Optional, and slow to import: it searches every installed package for keyrings.
        import keyring  # noqa: PLC0415
        from keyring.backends.chainer import ChainerBackend  # noqa: PLC0415

        configured = keyring.get_keyring()
    except (ImportError, AttributeError, RuntimeError, OSError, ValueError):
        # Not installed, or the keyring settings name a backend that cannot be imported.
        return []
    # A chain writes to the first member that accepts, so each member is tested separately.
    members = list(configured.backends) if isinstance(configured, ChainerBackend) else [configured]
    return [member for member in cast(list[Keyring], members) if _is_acceptable(member)]


def _is_acceptable(backend: Keyring) -> bool:
    # The whole ancestry: a subclass of a plaintext keyring writes plaintext too.
    if any(ancestor.__module__.startswith(_REFUSED) for ancestor in type(backend).__mro__):
        return False
    try:
        with keyring_errors(backend):
            return backend.priority >= _LEAST_PRIORITY
    except KeyProblem:
        return False


def _passes_probe(backend: Keyring) -> bool:
    account, value = f"probe-{secrets.token_hex(8)}", secrets.token_hex(16)
    try:
        with keyring_errors(backend):
            backend.set_password(_SERVICE, account, value)
            kept = backend.get_password(_SERVICE, account) == value
            backend.delete_password(_SERVICE, account)
            return kept and backend.get_password(_SERVICE, account) is None
    except KeyProblem:
        return False


def name_of(backend: Keyring) -> str:
    """Return the name of a keyring for records and errors."""
    return f"{type(backend).__module__}.{type(backend).__qualname__}"


@contextmanager
def keyring_errors(backend: Keyring) -> Generator[None]:
    """Translate any exception of a keyring into our own error: backends are plug-ins with their own exceptions."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  (Windows, D-Bus and GLib errors share no base class)
        # Only the type: the text of a foreign error may quote the secret.
        raise KeyProblem(f"the keyring {name_of(backend)} failed with {type(error).__name__}; {_CURE}") from None
