"""Keeps the state of user interfaces between runs: themes, tips that were shown, versions that were seen."""

import builtins
import json

from recollectum.domain.access.caller import Scope
from recollectum.domain.agent_state.interface import (
    DEFAULT_INTERFACE,
    MOST_BYTES,
    MOST_VALUES,
    InterfaceValue,
    check_state_key,
    check_state_value,
)
from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.ids import check_name
from recollectum.domain.message import Json
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.agent_state import documents
from recollectum.text.cleaning import clean_json
from recollectum.vault.agent_state.documents import DocumentKind, load, store
from recollectum.vault.gate import operation
from recollectum.vault.intake.intake import Intake
from recollectum.vault.intake.kept_secrets import queue_secret_deletion
from recollectum.vault.service import VaultService

_PREFIX = "state:"
_VERSION = 1


class InterfaceState(VaultService):
    """The values that the person's user interfaces keep; each interface has its own."""

    @operation(Action.STATE_READ, Scope.USER)
    def list(self, interface: str = DEFAULT_INTERFACE) -> builtins.list[InterfaceValue]:
        """Return all values of an interface, by key."""
        whose = check_name(interface, "interface")
        fields = self._runtime.read(lambda tx, _: load(tx, _PREFIX + whose, _kind(whose)))
        return [InterfaceValue(interface=whose, key=key, value=fields[key]) for key in sorted(fields)]

    @operation(Action.STATE_READ, Scope.USER)
    def list_interfaces(self) -> builtins.list[str]:
        """Return the names of the interfaces that keep something."""
        names = self._runtime.read(lambda tx, _: documents.names(tx))
        return [name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX)]

    @operation(Action.STATE_READ, Scope.USER)
    def get(self, key: str, interface: str = DEFAULT_INTERFACE) -> InterfaceValue:
        """Return one value; raise when the interface keeps none under that key."""
        found = self._find(key, interface)
        if found is None:
            raise NotFound(f"{interface!r} keeps no {key!r}; `state show` lists what it keeps")
        return found

    @operation(Action.STATE_READ, Scope.USER)
    def find(self, key: str, interface: str = DEFAULT_INTERFACE) -> InterfaceValue | None:
        """Return one value, or None."""
        return self._find(key, interface)

    @operation(Action.STATE_WRITE, Scope.USER)
    def save(self, key: str, value: Json, interface: str = DEFAULT_INTERFACE) -> InterfaceValue:
        """Save a value in place of the one that the key has; the other values stay, also those of newer interfaces."""
        whose = check_name(interface, "interface")
        checked = check_state_value(check_state_key(key), clean_json(value))
        with Intake(self._runtime) as intake:
            name, admitted = intake.name(key, "key"), intake.value(key, checked)
            intake.name(whose, "interface")

            def change(tx: Tx, reading: ClockReading) -> None:
                fields = load(tx, _PREFIX + whose, _kind(whose))
                if name not in fields and len(fields) >= MOST_VALUES:
                    raise InvalidInput(f"{whose!r} keeps {MOST_VALUES} values, which is the most; unset some first")
                queue_secret_deletion(tx, json.dumps(fields.get(name)))
                store(tx, _PREFIX + whose, _kind(whose), {**fields, name: admitted}, reading.now)

            self._runtime.write(change)
            return InterfaceValue(interface=whose, key=name, value=admitted, notice=intake.notice)

    @operation(Action.STATE_DELETE, Scope.USER)
    def delete(self, key: str, interface: str = DEFAULT_INTERFACE) -> None:
        """Delete one value; raise when the interface keeps none under that key."""
        whose = check_name(interface, "interface")

        def change(tx: Tx, reading: ClockReading) -> None:
            fields = load(tx, _PREFIX + whose, _kind(whose))
            if key not in fields:
                raise NotFound(f"{whose!r} keeps no {key!r}; `state show` lists what it keeps")
            queue_secret_deletion(tx, json.dumps(fields.pop(key)))
            store(tx, _PREFIX + whose, _kind(whose), fields, reading.now)

        self._runtime.write(change, frees=True)

    def _find(self, key: str, interface: str) -> InterfaceValue | None:
        whose = check_name(interface, "interface")
        fields = self._runtime.read(lambda tx, _: load(tx, _PREFIX + whose, _kind(whose)))
        return InterfaceValue(interface=whose, key=key, value=fields[key]) if key in fields else None


def _kind(interface: str) -> DocumentKind:
    return DocumentKind(f"the state of {interface!r}", _VERSION, MOST_BYTES)
