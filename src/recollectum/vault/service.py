"""Gives every service of a vault its runtime and gate, and imports a service when it is first asked for."""

from importlib import import_module
from typing import Generic, Protocol, Self, TypeVar, cast, overload

from recollectum.vault.gate import Gate
from recollectum.vault.runtime import VaultRuntime

S = TypeVar("S", covariant=True)
_ROOM = "recollectum.vault."


class VaultService:
    """A service of one vault. Its operations pass the gate of the runtime."""

    def __init__(self, runtime: VaultRuntime) -> None:
        self._runtime = runtime

    @property
    def gate(self) -> Gate:
        """The gate that every operation passes."""
        return self._runtime.gate


class WithRuntime(Protocol):
    """Anything that has the runtime of its vault."""

    _runtime: VaultRuntime


class Service(Generic[S]):
    """A descriptor for a service that needs only the runtime, named by its class under `recollectum.vault`."""

    def __init__(self, place: str, doc: str) -> None:
        self.place = place
        self.__doc__ = doc

    def kind(self) -> type[S]:
        """Return the class of the service."""
        module, _, name = self.place.rpartition(".")
        return cast("type[S]", getattr(import_module(_ROOM + module), name))

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: WithRuntime, owner: type) -> S: ...
    def __get__(self, instance: WithRuntime | None, owner: type) -> Self | S:
        """Return the service of one vault."""
        if instance is None:
            return self
        return self.kind()(instance._runtime)  # pyright: ignore[reportCallIssue, reportPrivateUsage]

    def __set__(self, instance: object, value: object) -> None:
        """Raise: a service cannot be replaced."""
        raise AttributeError(f"{self.place.rpartition('.')[2]} of a vault cannot be replaced")
