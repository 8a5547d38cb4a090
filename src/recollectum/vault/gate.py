"""Checks the caller's permission before every public operation of a vault or a home."""

from collections.abc import Callable, Mapping
from functools import cache, wraps
from inspect import signature
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

from recollectum.domain.access.caller import Caller, Permission, Scope
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Denied
from recollectum.domain.ids import check_text
from recollectum.domain.records import dataclass
from recollectum.domain.telemetry.spans import Spans
from recollectum.policy.access import decide_access
from recollectum.policy.actions import Action, ActionChoice, ActionWith
from recollectum.vault.policies import PolicyGate

P = ParamSpec("P")
R = TypeVar("R")
_OPTIONAL_TEXT = str | None

#: The arguments of a call by name; a function, because they are built only when a rule needs them.
Arguments = Callable[[], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Operation:
    """What a public method declares about itself."""

    #: The action, or a function that derives it from an argument.
    action: Action | ActionChoice
    scope: Scope
    permission: Permission
    #: Whether a change returns what was there before: a caller with write access only may not make it.
    reads: bool = False
    #: Further actions it takes on the way; a rule about any of them applies to the whole call.
    also: tuple[Action | ActionWith, ...] = ()

    @property
    def actions(self) -> tuple[Action, ...]:
        """All actions it may take, the main one first."""
        first = (self.action,) if isinstance(self.action, Action) else self.action.actions
        return (*first, *(one.action if isinstance(one, ActionWith) else one for one in self.also))

    def actions_of(self, arguments: Arguments) -> tuple[Action, ...]:
        """Return the actions of one call."""
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
    """The permission check for one caller at one owner's vault (or at the home itself, when there is no owner)."""

    caller: Caller
    owner: Owner | None
    #: Set for the operations of one open session.
    session_id: str | None = None
    #: Loads the caller again: a key may have been revoked, or a grant withdrawn, since its last use.
    look_up: Callable[[], Caller] | None = None
    #: The policies of the home; None where there is no home.
    ruling: PolicyGate | None = None
    #: Further names for the caller that rules may use: an agent, an MCP client.
    clients: tuple[str, ...] = ()
    #: Measures each operation, if the settings ask for it.
    spans: Spans | None = None

    @property
    def own(self) -> bool:
        """Whether the caller speaks for the owner: as the person, or as the operator of the home."""
        return self.caller.operator or (self.owner is not None and self.owner.person == self.caller.person)

    def may_read(self) -> bool:
        """Return whether the caller may read the vault."""
        return decide_access(self.caller_now(), self.owner, Permission.READ, Scope.USER).allowed

    def rules_allow(self, action: Action, arguments: Arguments = dict) -> bool:
        """Return whether the policy rules allow a caller who passed the gate another action with that permission."""
        return self.ruling is None or self.ruling.allows(action, (self.caller.name, *self.clients), arguments)

    def check_rules(self, action: Action) -> None:
        """Raise where the policy rules deny the caller an action for which another caller's permission is used."""
        if self.ruling is not None:
            self.ruling.check(action, (self.caller.name, *self.clients), dict)

    def caller_now(self) -> Caller:
        """Return the caller with its current permissions."""
        return self.look_up() if self.look_up else self.caller

    def check(self, operation: Operation, session_id: str | None = None, arguments: Arguments = dict) -> None:
        """Allow the operation, or raise an error that says why not."""
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
    """Anything that is protected by a gate."""

    @property
    def gate(self) -> Gate:
        """The gate that checks every operation."""
        ...


G = TypeVar("G", bound=Gated)
Method = Callable[Concatenate[G, P], R]


def operation(
    action: Action | ActionChoice, scope: Scope, *, reads: bool = False, also: tuple[Action | ActionWith, ...] = ()
) -> Callable[[Method[G, P, R]], Method[G, P, R]]:
    """Declare the action of a public method; it is checked once, before the method runs.

    The permission follows from the action; operations on a whole home need `admin`. A method with session scope takes
    the session's id as its first argument, unless its gate is for one session.
    """
    by_session = scope is Scope.SESSION
    first = action if isinstance(action, Action) else action.otherwise
    declared = Operation(action, scope, Permission.ADMIN if scope is Scope.GLOBAL else first.permission, reads, also)

    def declare(method: Method[G, P, R]) -> Method[G, P, R]:
        texts = text_parameters(method)

        def checked(self: G, /, *args: P.args, **kwargs: P.kwargs) -> R:
            self.gate.check(
                declared,
                _first_argument(args, kwargs) if by_session else None,
                lambda: _named_arguments(method, args, kwargs),
            )
            _check_texts(texts, args, kwargs)
            return method(self, *args, **kwargs)

        @wraps(method)
        def call(self: G, /, *args: P.args, **kwargs: P.kwargs) -> R:
            spans = self.gate.spans
            if spans is None:
                return checked(self, *args, **kwargs)
            action = declared.actions_of(lambda: _named_arguments(method, args, kwargs))[0].value
            with spans.measure(action, {"recollectum.action": action, "recollectum.operation": method.__qualname__}):
                return checked(self, *args, **kwargs)

        call.__dict__["operation"] = declared
        return call

    return declare


class TextParameter(NamedTuple):
    """A parameter that takes text."""

    name: str
    #: Its position after `self`.
    place: int
    #: Whether None is allowed.
    optional: bool


def text_parameters(method: Callable[..., Any]) -> tuple[TextParameter, ...]:
    """Return the parameters of a method that take text and nothing else."""
    kinds: Mapping[str, object] = method.__annotations__
    # Not `inspect.signature`, which would take a tenth of the time of the import.
    names = method.__code__.co_varnames[1:]
    return tuple(
        TextParameter(name, place, kinds[name] is not str)
        for place, name in enumerate(names)
        if name in kinds and kinds[name] in (str, _OPTIONAL_TEXT)
    )


def _check_texts(texts: tuple[TextParameter, ...], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise for an argument that is not text; a program without a type checker may pass anything."""
    for name, place, optional in texts:
        given = args[place] if place < len(args) else kwargs.get(name, "")
        if not (isinstance(given, str) or (optional and given is None)):
            check_text(name, given)


def declared_operation(method: Callable[..., Any]) -> Operation | None:
    """Return what a method declared, or None when it declared nothing."""
    return getattr(method, "operation", None)


def _named_arguments(method: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by name, as rules refer to them."""
    return {**dict(zip(_parameter_names(method), args, strict=False)), **kwargs}


@cache
def _parameter_names(method: Callable[..., Any]) -> tuple[str, ...]:
    # Kept, and only for methods that are called: `signature` takes as long as writing a row.
    return tuple(signature(method).parameters)[1:]


def _first_argument(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    found = args[0] if args else kwargs.get("session_id")
    return found if isinstance(found, str) else None
