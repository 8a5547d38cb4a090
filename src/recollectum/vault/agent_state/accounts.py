"""Keeps which accounts a person has at services, and which one of each is in use; earlier ones stay on the list."""

import builtins
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from recollectum.domain.access.caller import Scope
from recollectum.domain.agent_state.account import MOST_ACCOUNTS, Account, check_account
from recollectum.domain.errors import Conflict, InvalidInput, NotFound
from recollectum.domain.ids import check_name
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.vault.agent_state.documents import DocumentKind, Fields, load, refuse, store
from recollectum.vault.gate import operation
from recollectum.vault.intake.intake import Intake
from recollectum.vault.service import VaultService

_NAME = "accounts"
_KIND = DocumentKind("the list of accounts", 1, 524_288)
#: The field of the document that holds the accounts; any others stay as they are.
_LIST = "accounts"


class Accounts(VaultService):
    """The accounts of one person at services; the secrets of them are in the credential store."""

    @operation(Action.STATE_READ, Scope.USER)
    def list(self, service: str | None = None) -> builtins.list[Account]:
        """Return the accounts of one service, or of all, by name."""
        whose = None if service is None else check_name(service, "service")
        found = self._runtime.read(lambda tx, _: _accounts(load(tx, _NAME, _KIND)))
        wanted = (one for one in found if whose is None or one.service == whose)
        return sorted(wanted, key=lambda one: (one.service, one.account))

    @operation(Action.STATE_READ, Scope.USER)
    def find_active(self, service: str) -> Account | None:
        """Return the account that is in use at a service, or None."""
        found = self._runtime.read(lambda tx, _: _accounts(load(tx, _NAME, _KIND)))
        return next((one for one in found if one.service == service and one.active), None)

    @operation(Action.STATE_WRITE, Scope.USER)
    def add(self, service: str, account: str) -> Account:
        """Add an account; the first one of a service is the active one. One that is known stays as it is."""
        where, name = check_name(service, "service"), check_account(account)
        with Intake(self._runtime) as intake:
            intake.name(where, "service")
            intake.name(name, "account")

            def change(tx: Tx, reading: ClockReading) -> Account:
                fields = load(tx, _NAME, _KIND)
                known = _accounts(fields)
                there = _find(known, where, name)
                if there is not None:
                    return there
                if len(known) >= MOST_ACCOUNTS:
                    raise InvalidInput(f"there are {MOST_ACCOUNTS} accounts, which is the most; remove one first")
                first = not any(one.service == where and one.active for one in known)
                used = reading.now if first else None
                made = Account(service=where, account=name, active=first, added_at=reading.now, used_at=used)
                _store(tx, fields, [*known, made], reading.now)
                return made

            return self._runtime.write(change)

    @operation(Action.STATE_WRITE, Scope.USER)
    def activate(self, service: str, account: str) -> Account:
        """Use this account of a service from now on; the one that was in use stays on the list."""
        name = check_account(account)

        def change(tx: Tx, reading: ClockReading) -> Account:
            fields = load(tx, _NAME, _KIND)
            known = _accounts(fields)
            chosen = replace(_get(known, service, name), active=True, used_at=reading.now)
            others = [one for one in known if (one.service, one.account) != (service, name)]
            unused = [replace(one, active=False) if one.service == service else one for one in others]
            _store(tx, fields, [*unused, chosen], reading.now)
            return chosen

        return self._runtime.write(change)

    @operation(Action.STATE_DELETE, Scope.USER)
    def remove(self, service: str, account: str) -> None:
        """Remove an account from the list; the one in use only when its service has no other."""
        name = check_account(account)

        def change(tx: Tx, reading: ClockReading) -> None:
            fields = load(tx, _NAME, _KIND)
            known = _accounts(fields)
            gone = _get(known, service, name)
            left = [one for one in known if one != gone]
            other = next((one for one in left if one.service == service), None)
            if gone.active and other:
                raise Conflict(
                    f"{name!r} is in use at {service!r}; first use another one, such as: "
                    f"recollectum accounts use {service} {other.account}"
                )
            _store(tx, fields, left, reading.now)

        self._runtime.write(change, frees=True)


def _accounts(fields: Fields) -> list[Account]:
    """Return the accounts of a document; raise when one of them is not what this program wrote."""
    listed: object = fields.get(_LIST, [])
    if not isinstance(listed, list):
        refuse(_KIND)
    try:
        return [_account(one) for one in cast("list[Mapping[str, Any]]", listed)]
    except (KeyError, TypeError, ValueError, AttributeError):
        refuse(_KIND)


def _account(one: Mapping[str, Any]) -> Account:
    used = one.get("used_at")
    return Account(
        service=str(one["service"]),
        account=str(one["account"]),
        active=one["active"] is True,
        added_at=datetime.fromisoformat(one["added_at"]),
        used_at=None if used is None else datetime.fromisoformat(used),
    )


def _find(known: list[Account], service: str, account: str) -> Account | None:
    return next((one for one in known if (one.service, one.account) == (service, account)), None)


def _get(known: list[Account], service: str, account: str) -> Account:
    found = _find(known, service, account)
    if found is None:
        raise NotFound(f"{service!r} has no account {account!r}; `accounts list` shows those that it has")
    return found


def _store(tx: Tx, fields: Fields, accounts: list[Account], at: datetime) -> None:
    """Store the accounts beside what a newer program added to the document and to each of them."""
    before = {(one["service"], one["account"]): one for one in cast("list[Fields]", fields.get(_LIST, []))}
    listed = [
        {
            **before.get((one.service, one.account), {}),
            "service": one.service,
            "account": one.account,
            "active": one.active,
            "added_at": one.added_at.isoformat(),
            "used_at": one.used_at and one.used_at.isoformat(),
        }
        for one in sorted(accounts, key=lambda one: (one.service, one.account))
    ]
    others = {name: value for name, value in fields.items() if name != _LIST}
    store(tx, _NAME, _KIND, {**others, _LIST: listed} if listed else others, at)
