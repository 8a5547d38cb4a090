"""Checks the caller's permission before every public operation of a vault or a home."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from recollectum.domain.access.caller import Caller, Permission, Scope
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Denied
from recollectum.policy.access import decide_access
from recollectum.policy.actions import Action, ActionChoice, ActionWith
from recollectum.vault.policies import PolicyGate

P = ParamSpec("P")
R = TypeVar("R")


#: The arguments of a call by their names, made only when somebody looks at them.
Arguments = Callable[[], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Operation:
    """What a public method declares about itself."""

    #: What it does; or how one of its arguments says what it does.
    action: Action | ActionChoice
    scope: Scope
    permission: Permission
    #: A change that answers with what was there before: who may only write may not make it.
    reads: bool = False
    #: What it does on the way; a rule about any of it holds for the whole.
    also: tuple[Action | ActionWith, ...] = ()

    @property
    def actions(self) -> tuple[Action, ...]:
        """Every action it may take, first the one that it is called for."""
        first = (self.action,) if isinstance(self.action, Action) else self.action.actions
        return (*first, *(one.action if isinstance(one, ActionWith) else one for one in self.also))

    def actions_of(self, arguments: Arguments) -> tuple[Action, ...]:
        """The actions of one call."""
        first = self.action if isinstance(self.action, Action) else self.action.choose(arguments())
        if not self.also:
            return (first,)
        also = (
            one if isinstance(one, Action) else None if arguments().get(one.argument) is None else one.action
            for one in self.also
        )
        return (first, *(one for one in also if one))


@dataclass(frozen=True, slots=True)
class Gate:
    """One caller before one owner's vault (or before the home itself, when there is no owner)."""

    caller: Caller
    owner: Owner | None
    #: Set for the operations of one open session.
    session_id: str | None = None
    #: Looks the caller up again: a key may have been revoked, or a grant withdrawn, since it was last used.
    look_up: Callable[[], Caller] | None = None
    #: The policies of the home; None where there is no home.
    ruling: PolicyGate | None = None
    #: Further names by which rules know who asks: an agent, an MCP client.
    clients: tuple[str, ...] = ()

    @property
    def own(self) -> bool:
        """Whether the caller speaks for the owner: as the person, or as the operator of the home."""
        return self.caller.operator or (self.owner is not None and self.owner.person == self.caller.person)

    def may_read(self) -> bool:
        """Whether the caller may see what the vault holds."""
        return decide_access(self.caller_now(), self.owner, Permission.READ, Scope.USER).allowed

    def caller_now(self) -> Caller:
        """The caller with the rights of this moment."""
        return self.look_up() if self.look_up else self.caller

    def check(self, operation: Operation, session_id: str | None = None, arguments: Arguments = dict) -> None:
        """Let the operation pass, or refuse it in words."""
        wanted = self.session_id or session_id
        caller = self.caller_now()
        decision = decide_access(caller, self.owner, operation.permission, operation.scope, wanted)
        if decision.allowed and operation.reads:
            decision = decide_access(caller, self.owner, Permission.READ, operation.scope, wanted)
        if not decision.allowed:
            place = f"in {self.owner}" if self.owner else "in this home"
            raise Denied(f"{self.caller.name} may not do this {place}: {decision.rule}")
        if self.ruling is not None:
            names = (caller.name, *self.clients)
            for action in operation.actions_of(arguments):
                self.ruling.check(action, names, arguments)


class Gated(Protocol):
    """Anything that stands behind a gate."""

    @property
    def gate(self) -> Gate:
        """The gate to pass."""
        ...


G = TypeVar("G", bound=Gated)
Method = Callable[Concatenate[G, P], R]


def operation(
    action: Action | ActionChoice, scope: Scope, *, reads: bool = False, also: tuple[Action | ActionWith, ...] = ()
) -> Callable[[Method[G, P, R]], Method[G, P, R]]:
    """Declare what a public method does; it is checked once, before the method begins.

    The permission follows from the action, and what is about a whole home needs `admin`. A method of session scope
    takes the session's id as its first argument, unless its gate is for one session.
    """
    by_session = scope is Scope.SESSION
    first = action if isinstance(action, Action) else action.otherwise
    declared = Operation(action, scope, Permission.ADMIN if scope is Scope.GLOBAL else first.permission, reads, also)

    def declare(method: Method[G, P, R]) -> Method[G, P, R]:
        @wraps(method)
        def call(self: G, /, *args: P.args, **kwargs: P.kwargs) -> R:
            self.gate.check(
                declared,
                _first_argument(args, kwargs) if by_session else None,
                lambda: _named_arguments(method, args, kwargs),
            )
            return method(self, *args, **kwargs)

        call.__dict__["operation"] = declared
        return call

    return declare


def declared_operation(method: Callable[..., Any]) -> Operation | None:
    """What a method declared, or None when it forgot to."""
    return getattr(method, "operation", None)


def _named_arguments(method: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by their names, which is how rules know them."""
    names = list(signature(method).parameters)[1:]
    return {**dict(zip(names, args, strict=False)), **kwargs}


def _first_argument(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    found = args[0] if args else kwargs.get("session_id")
    return found if isinstance(found, str) else None
