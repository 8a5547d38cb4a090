"""Hostile values, and every way in which a caller hands text or a number to a home.

The operations are found by walking the services, so that a new one is tried without being listed; what is no plain
argument is in `WITHIN`.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from recollectum import Recollectum
from recollectum.domain.message import Message, Role, ToolCall, ToolStatus, ToolUse
from recollectum.domain.session import Session, SessionKey
from recollectum.vault.gate import declared_operation
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.purge.request import PurgeRequest
from recollectum.vault.sessions.chat import Chat
from recollectum.vault.vault import Vault
from tests.matrix.homes import START

#: A part of every text, which no statement has.
MARK = "qzjx"
#: In every argument that takes text.
ALWAYS = {"NUL": f"{MARK}\0b", "half a character": f"{MARK}\ud800b"}
TEXTS = {
    "quotes": f"{MARK}'\";--",
    "per cent": f"{MARK}%s %(a)s %%",
    "colon": f"{MARK}:x ::int",
    "dollar": f"$1{MARK} $$ $a$",
    "backslash": f"{MARK}\\ \\' \\x00 \\000",
    "a statement": f"'; DROP TABLE {MARK}; --",
    "a condition": f"{MARK}' OR '1'='1",
    "the last characters": f"{MARK}\uffff\U0010ffff\u202e",
    "nothing": "",
    "a space": " ",
    "wildcards": f"{MARK}%_*?[",
    "a list": f'["{MARK}", {{"b": null}}]',
    "a list of halves": f'["{MARK}\\u0000", "\\ud800"]',
}
NUMBERS = {str(number): number for number in (2**63 - 1, 2**63, 2**65, -1, -(2**63) - 1, 0)}
LONG = {"10 MB": f"{MARK} " * 2_000_000, "beyond an index": f"{MARK} é" * 500}
#: Arguments that name something; a long text in others is a long text, and takes its time.
NAMES = re.compile(
    r"agent|channel|cursor|group|hook|identity|key|key_prefix|name|owner|person|source|speaker|to|token|topic|\w+_id"
)
#: What takes long for another reason: an agent's name is looked for in every text of a context.
SLOW = {("context", "agent"), ("find", "agent")}


@dataclass(frozen=True)
class World:
    """One home, with a memory, a message and a session that have the same ids on every engine."""

    home: Recollectum
    vault: Vault
    chat: Chat
    ordinary: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def made(cls, home: Recollectum) -> "World":
        vault = home.vault("user:ann")
        chat = vault.sessions.open(channel="test", agent="main")
        ids = {
            "memory_id": vault.memories.save("the car is red", key="car").memory.id,
            "message_id": chat.add("user", "the boat is blue", speaker="Ann").id,
            "session_id": chat.id,
        }
        return cls(home, vault, chat, {**_ORDINARY, **ids})


#: Values of arguments that a call needs beside the hostile one.
_ORDINARY: dict[str, Any] = {
    "category": "preference",
    "content": "plain words",
    "folder": "nowhere",
    "grant_id": "grt_1",
    "identity": "telegram:1",
    "import_id": "imp_1",
    "kept": "user:ann",
    "key": "a_key",
    "key_id": "key_1",
    "merge_id": "mrg_1",
    "merged": "user:bob",
    "name": "a name",
    "number": 1,
    "owner": "user:ann",
    "permission": "read",
    "person": "user:ann",
    "place": "nowhere",
    "position": 1,
    "proposal_id": "prp_1",
    "quarantine_id": "qrn_1",
    "query": "car",
    "receipt_id": "rcp_1",
    "retention_days": "keep",
    "role": "user",
    "run_id": "run_1",
    "source": "tool",
    "state": "active",
    "subject_id": "mem_1",
    "text": "plain words",
    "to": "user:bob",
    "token": "a token",
}
#: One call with a hostile value, which is made in every home.
Call = Callable[[World], object]


@dataclass(frozen=True)
class Attempt:
    """A call with one hostile value, and its name for a report."""

    name: str
    call: Call


def attempts(world: World, every: int) -> Iterator[Attempt]:
    """Every argument with the hostile values: those of `ALWAYS`, and one in `every` of the others, in turn."""
    turn = 0
    for path in _operations(world):
        for argument, taken in _arguments(_method(world, path)):
            for place, (label, value) in enumerate(_values(path[-1], argument, taken)):
                if label in ALWAYS or (place + turn) % every == 0:
                    yield Attempt(f"{'.'.join(path)}({argument}={label})", _calling(path, argument, value))
            turn += 1
    for name, call in WITHIN.items():
        for place, (label, value) in enumerate({**ALWAYS, **TEXTS, **LONG}.items()):
            if label in ALWAYS or (place + turn) % every == 0:
                yield Attempt(f"{name}({label})", _with(call, value))
        turn += 1


def _with(call: Callable[[World, Any], object], value: object) -> Call:
    return lambda world: call(world, value)


def _calling(path: tuple[str, ...], argument: str, value: object) -> Call:
    def call(world: World) -> object:
        method = _method(world, path)
        needed = {
            name: world.ordinary[name]
            for name, one in inspect.signature(method).parameters.items()
            if one.default is one.empty
        }
        return method(**{**needed, argument: value})

    return call


def _values(operation: str, argument: str, taken: set[type]) -> Iterator[tuple[str, object]]:
    if str in taken:
        yield from {**ALWAYS, **TEXTS}.items()
        if NAMES.fullmatch(argument) and (operation, argument) not in SLOW:
            yield from LONG.items()
    if taken & {int, float}:
        yield from NUMBERS.items()


def _operations(world: World) -> Iterator[tuple[str, ...]]:
    seen: set[int] = set()
    for root in ("vault", "chat", "home"):
        yield from _within(getattr(world, root), (root,), seen)


def _within(thing: object, path: tuple[str, ...], seen: set[int]) -> Iterator[tuple[str, ...]]:
    """The path of every operation of an object and of the services it holds, whose arguments are all known."""
    if id(thing) in seen or not type(thing).__module__.startswith("recollectum."):
        return
    seen.add(id(thing))
    for name in dir(thing):
        found = None if name.startswith("_") else getattr(thing, name)
        if callable(found) and declared_operation(found):
            needed = [one.name for one in inspect.signature(found).parameters.values() if one.default is one.empty]
            if all(one in _ORDINARY or one in ("memory_id", "message_id", "session_id") for one in needed):
                yield (*path, name)
        elif not callable(found):
            yield from _within(found, (*path, name), seen)


def _method(world: World, path: tuple[str, ...]) -> Callable[..., object]:
    found: Any = world
    for name in path:
        found = getattr(found, name)
    return found


def _arguments(method: Callable[..., object]) -> Iterator[tuple[str, set[type]]]:
    hints = inspect.get_annotations(
        inspect.unwrap(method), eval_str=True, locals={"Context": object, "LearnResult": object}
    )
    for name in inspect.signature(method).parameters:
        taken = _taken(hints[name])
        if taken:
            yield name, taken


def _taken(kind: Any) -> set[type]:  # noqa: ANN401 - an annotation
    """Of text and numbers what an annotation admits; a choice among words is text."""
    if kind in (str, int, float):
        return {kind}
    if get_origin(kind) is Literal:
        return {str}
    if isinstance(kind, UnionType) or get_origin(kind) is Union:
        return set[type]().union(*map(_taken, get_args(kind)))
    return set()


def _adopt(world: World, *, session: str = "ses_1", message: str = "msg_1", import_id: str | None = None) -> object:
    said = Message(id=message, session_id=session, position=1, role=Role.USER, content="plain words", created_at=START)
    whole = Session(id=session, key=SessionKey(topic="adopted"), created_at=START, updated_at=START)
    return world.vault.sessions.adopt(whole, [said], import_id=import_id)


def _call(value: str) -> ToolCall:
    return ToolCall(id=value, name=value, args={value: value}, result=value, status=ToolStatus.COMPLETE)


def _purged(world: World, request: PurgeRequest) -> object:
    return world.vault.privacy.purge.preview(request).counts


#: Ways in that are no argument of a method.
WITHIN: dict[str, Callable[[World, Any], object]] = {
    "vault of an owner": lambda world, value: world.home.vault(value).owner,
    "vault of a name": lambda world, value: world.home.vault(f"user:{value}").owner,
    "place of a vault": lambda world, value: world.home.vault_place(value),
    "draft.key": lambda world, value: world.vault.memories.save_many([Draft(content="a plain thing", key=value)]),
    "draft.message_id": lambda world, value: world.vault.memories.save_many([Draft(content="a", message_id=value)]),
    "draft.agent": lambda world, value: world.vault.memories.save_many([Draft(content="of an agent", agent=value)]),
    "new_message.native_id": lambda world, value: world.chat.add_many(
        [NewMessage(role="user", content="a", native_id=value)]
    ),
    "new_message.speaker": lambda world, value: world.chat.add_many(
        [NewMessage(role="user", content="a", speaker=value)]
    ),
    "new_message.extra": lambda world, value: world.chat.add_many(
        [NewMessage(role="user", content="a", extra={value: value})]
    ),
    "tool_call": lambda world, value: world.chat.add("tool", "found", tool_calls=[_call(value)]),
    "record_call": lambda world, value: world.chat.record_call(world.ordinary["message_id"], _call(value)),
    "said_by.tool": lambda world, value: world.vault.memories.save(
        "by a tool", said_by=ToolUse(tool=value, agent="a", channel="c")
    ),
    "said_by.agent": lambda world, value: world.vault.memories.save(
        "by a tool", said_by=ToolUse(tool="a", agent=value, channel="c")
    ),
    "purge of a memory": lambda world, value: _purged(world, PurgeRequest.memories(value)),
    "purge of a session": lambda world, value: _purged(world, PurgeRequest.sessions(value)),
    "purge of a source": lambda world, value: _purged(world, PurgeRequest.of_source(value)),
    "estimate": lambda world, value: world.vault.admin.consolidation.estimate([value]),
    "owners of a key": lambda world, value: world.home.keys.add("user:ann", owners=[value]),
    "adopted session": lambda world, value: _adopt(world, session=value),
    "adopted message": lambda world, value: _adopt(world, message=value),
    "adopted import": lambda world, value: _adopt(world, session="ses_2", import_id=value),
    "tenant": lambda world, value: world.home.people.save_tenant("a tenant", {value: 1}),
}
STEP = timedelta(seconds=1)
