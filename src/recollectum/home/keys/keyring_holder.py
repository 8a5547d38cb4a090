"""Holds the master key in the operating system's keyring after a probe of that keyring."""

import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Protocol, cast

from recollectum.domain.errors import KeyProblem
from recollectum.domain.message import Json
from recollectum.home.keys.wrapping import MasterKey

_SERVICE = "recollectum"
_LEAST_PRIORITY = 1
#: Packages whose keyrings write the secret to disk as it is, keep nothing, or refuse everything.
_REFUSED = ("keyrings.alt", "keyring.backends.null", "keyring.backends.fail")
_CURE = "unlock or reinstall it, or run: recollectum encryption recover"


class Keyring(Protocol):
    """What is used of a backend of the `keyring` package."""

    @property
    def priority(self) -> float:
        """How much it wants to be used; below 1 it is no good."""
        ...

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep a secret."""
        ...

    def get_password(self, service: str, username: str) -> str | None:
        """The secret, or None."""
        ...

    def delete_password(self, service: str, username: str) -> None:
        """Remove a secret."""
        ...


def available() -> bool:
    """Whether a keyring is here that keeps what it is given; asked by writing, reading and deleting a trial entry."""
    return usable() is not None


def keep(home_id: str, master: MasterKey) -> Mapping[str, Json]:
    """Store the key and read it back; what to record is where it went."""
    backend = usable()
    if backend is None:
        raise KeyProblem("no keyring of the operating system can be used here; choose a passphrase or a key file")
    with keyring_errors(backend):
        backend.set_password(_SERVICE, home_id, master.to_text())
        stored = backend.get_password(_SERVICE, home_id)
    if stored is None or MasterKey.from_text(stored) != master:
        raise KeyProblem(f"the keyring {name_of(backend)} did not keep the key; choose a passphrase or a key file")
    return {"backend": name_of(backend), "service": _SERVICE, "account": home_id}


def fetch(home_id: str, detail: Mapping[str, Json]) -> MasterKey:
    """The key from the keyring in which it was stored."""
    recorded = str(detail.get("backend"))
    backend = next((found for found in acceptable() if name_of(found) == recorded), None)
    if backend is None:
        found = ", ".join(map(name_of, acceptable())) or "none"
        raise KeyProblem(
            f"the key of this home is held by the keyring {recorded}, which is not here (found: {found}); {_CURE}"
        )
    with keyring_errors(backend):
        stored = backend.get_password(_SERVICE, home_id)
    if stored is None:
        raise KeyProblem(
            f"the key of this home is held by the keyring {recorded}, which has no entry {_SERVICE}/{home_id}; {_CURE}"
        )
    master = MasterKey.from_text(stored)
    if master is None:
        raise KeyProblem(
            f"the entry {_SERVICE}/{home_id} of the keyring {recorded} is not a key of Recollectum; "
            "restore it, or run: recollectum encryption recover"
        )
    return master


def drop(home_id: str, detail: Mapping[str, Json]) -> None:
    """Remove the entry; one that is gone already is no failure."""
    recorded = str(detail.get("backend"))
    for backend in acceptable():
        if name_of(backend) == recorded:
            with keyring_errors(backend):
                if backend.get_password(_SERVICE, home_id) is not None:
                    backend.delete_password(_SERVICE, home_id)


def usable() -> Keyring | None:
    """A keyring that keeps what it is given, asked by writing, reading and deleting; None without one."""
    return next((backend for backend in acceptable() if _passes_probe(backend)), None)


def acceptable() -> list[Keyring]:
    """The configured keyring, or the members of a chain of them, without those that keep no secret."""
    try:
        # Optional, and slow to load: it looks through every installed package for keyrings.
        import keyring  # noqa: PLC0415
        from keyring.backends.chainer import ChainerBackend  # noqa: PLC0415

        configured = keyring.get_keyring()
    except (ImportError, AttributeError, RuntimeError, OSError, ValueError):
        # Not installed, or the person's keyring settings name one that cannot be loaded.
        return []
    # A chain writes to whichever member takes it first, so each member answers for itself.
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
    """What a keyring is called in records and errors."""
    return f"{type(backend).__module__}.{type(backend).__qualname__}"


@contextmanager
def keyring_errors(backend: Keyring) -> Generator[None]:
    """Whatever a keyring raises, as our own error: it is a plug-in, and each has exceptions of its own."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  (Windows, D-Bus and GLib errors share no base class)
        # Only the type: the text of a foreign error may quote what it was given.
        raise KeyProblem(f"the keyring {name_of(backend)} failed with {type(error).__name__}; {_CURE}") from None
