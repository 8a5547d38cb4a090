"""Walks from an open home to every service one can reach, so that none is forgotten by hand."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any, get_args, get_type_hints

import recollectum.domain
import recollectum.vault
from recollectum import Recollectum
from recollectum.models.embedding.port import Embedder
from recollectum.models.search import SearchModels
from recollectum.settings.load import LoadedSettings
from recollectum.settings.model import Settings
from recollectum.storage.engine import VaultPlace
from recollectum.storage.keystore import KeyStore
from recollectum.storage.port import Database
from recollectum.upkeep.home_admin import HomeAdmin
from recollectum.vault.access.latest_time import LatestTime
from recollectum.vault.files.file_host import SharedHosts
from recollectum.vault.gate import Gate, Gated
from recollectum.vault.idempotency import Idempotency
from recollectum.vault.intake.intake import Intake
from recollectum.vault.open_vaults import MarkKeeper, OpenVault
from recollectum.vault.runtime import HomeServices, VaultRuntime
from recollectum.vault.service import Service, VaultService

#: What services stand on, and what runs a caller's own request once: no rule knows it, the request passes the gate.
PLUMBING = frozenset(
    {
        VaultRuntime,
        HomeServices,
        VaultService,
        Gated,
        Idempotency,
        OpenVault,
        Intake,
        LatestTime,
        MarkKeeper,
        SharedHosts,
    }
)


def reached(home: Recollectum, owner: str) -> set[type]:
    """The service classes to be had from a home: as attributes, or as what a method returns."""
    found: set[type] = set()
    queue: list[object] = [home, home.vault(owner)]
    while queue:
        one = queue.pop()
        kind = one if isinstance(one, type) else type(one)
        if kind in found:
            continue
        found.add(kind)
        if not isinstance(one, type):
            queue += [
                value for name, value in vars(one).items() if not name.startswith("_") and is_service(_kind(value))
            ]
            queue += [getattr(one, name) for name in service_properties(kind)]
        for _, method in public_methods(kind):
            queue += [part for part in _returned(method) if is_service(part)]
    return {kind for kind in found if is_service(kind)}


def declared() -> set[type]:
    """Every service class in the package, reached or not."""
    found = {kind for module in _modules() for kind in vars(module).values() if isinstance(kind, type)}
    return {kind for kind in found if is_service(kind)}


def is_service(kind: object) -> bool:
    """Whether a class of the vault package stands behind a gate, or has a database and so should."""
    if not isinstance(kind, type) or not kind.__module__.startswith("recollectum.vault") or kind in PLUMBING:
        return False
    hints = get_type_hints(kind.__init__, localns=_names()) if "__init__" in vars(kind) else {}
    return hasattr(kind, "gate") or bool({VaultRuntime, Gate, Database} & set(hints.values()))


def public_methods(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The methods that a caller may use, constructors and properties left out."""
    for name, member in inspect.getmembers(kind, inspect.isroutine):
        if not name.startswith("_"):
            yield name, member


def public_properties(kind: type) -> set[str]:
    """The properties a caller may read."""
    return {name for name, _ in inspect.getmembers(kind, inspect.isdatadescriptor) if not name.startswith("_")}


def service_properties(kind: type) -> set[str]:
    """The properties that lead to another service, which has a gate of its own."""
    found = ((name, inspect.getattr_static(kind, name)) for name in public_properties(kind))
    return {
        name
        for name, member in found
        if isinstance(member, Service)
        or (isinstance(member, property) and any(is_service(part) for part in _returned(member.fget)))
    }


def _returned(method: Callable[..., Any] | None) -> Iterator[type]:
    # What a module imports for its types alone is found by its name.
    return _parts(get_type_hints(method, localns=_names()).get("return") if method else None)


@cache
def _names() -> dict[str, Any]:
    found = {name: kind for module in _modules() for name, kind in vars(module).items() if isinstance(kind, type)}
    # Named by the engine alone, and loaded only where it is asked for.
    late = (HomeAdmin, Embedder, SearchModels, LoadedSettings, Settings, VaultPlace, KeyStore)
    return {**found, **{kind.__name__: kind for kind in late}}


def _kind(value: object) -> type:
    return type(value)


def _parts(hint: object) -> Iterator[type]:
    """The classes in a type: those of `list[Chat] | None` are list, Chat and NoneType."""
    if isinstance(hint, type):
        yield hint
    for part in get_args(hint):
        yield from _parts(part)


def _modules() -> Iterator[ModuleType]:
    for package in (recollectum.domain, recollectum.vault):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(found.name)
