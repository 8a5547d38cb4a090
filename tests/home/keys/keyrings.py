"""Small real backends for the `keyring` package: one that keeps, and several that must not be trusted."""

from keyring.backend import KeyringBackend
from keyring.backends.chainer import ChainerBackend


class DictKeyring(KeyringBackend):
    """Keeps entries in memory, as long as the object lives."""

    priority: float = 5  # pyright: ignore[reportIncompatibleMethodOverride, reportIncompatibleVariableOverride]

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.entries[service, username]


class WeakKeyring(DictKeyring):
    """One that the package itself would only use for want of a better."""

    priority: float = 0.5


class PlaintextKeyring(DictKeyring):
    """Stands where keyrings.alt has its own; that package writes the secret to disk as it is."""


PlaintextKeyring.__module__ = "keyrings.alt.file"


class PlaintextInDisguise(PlaintextKeyring):
    """A subclass of it, somewhere else."""


class ForgetfulKeyring(DictKeyring):
    """Takes everything, keeps nothing, and never complains."""

    def set_password(self, service: str, username: str, password: str) -> None:
        pass

    def delete_password(self, service: str, username: str) -> None:
        pass


class ClingingKeyring(DictKeyring):
    """Says that it deleted, and did not."""

    def delete_password(self, service: str, username: str) -> None:
        pass


class BrokenKeyring(DictKeyring):
    """Raises an error of its own, which quotes what it was given."""

    def set_password(self, service: str, username: str, password: str) -> None:
        raise Exception(f"cannot store {password}")


class UnavailableKeyring(DictKeyring):
    """Cannot even say how good it is, like the Secret Service without a daemon."""

    @property
    def priority(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        raise RuntimeError("no daemon")


class Chain(ChainerBackend):
    """A chain whose members the test chooses."""

    def __init__(self, *members: KeyringBackend) -> None:
        super().__init__()
        self.members = members

    @property
    def backends(self) -> tuple[KeyringBackend, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.members
