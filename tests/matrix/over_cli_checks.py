"""Rules about the command line: with another's key it shows and changes nothing, as if nothing were there."""

import os
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from tests.doors.cli.calls import Answer, call
from tests.matrix import oracle
from tests.matrix.checks import seen
from tests.matrix.homes import Turning, open_home
from tests.matrix.world import COMMON, NOW, OWNERS, Held, World, canary, load

Check = Callable[[Path], Iterator[str]]
#: Callers of a key, from one who has a vault of their own to one whom nobody knows.
_CALLERS = ("bob", "erin", "grace", "revoked", "made_up")
_MAKES_NO_PERSON = "nobody_at_all"


def _reads(held: Held) -> tuple[tuple[str, ...], ...]:
    memory, session = held.memories["active"], held.sessions[0]
    return (
        ("recall", COMMON),
        ("context", COMMON),
        ("memories", "profile"),
        ("status", "--json"),
        ("memories", "list", "--json"),
        ("memories", "show", memory),
        ("memories", "history", memory),
        ("sessions", "list", "--json"),
        ("sessions", "show", session),
        ("sessions", "export", session),
        ("events",),
        ("undo", "diff", "--since", "2026-01-01"),
        ("memories", "trash", "list"),
        ("contacts", "list"),
        ("learnings", "list"),
        ("purge", "receipts", "list"),
        ("quarantine", "list"),
    )


def _writes(held: Held) -> tuple[tuple[str, ...], ...]:
    memory, session = held.memories["active"], held.sessions[0]
    return (
        ("remember", "something of mine"),
        ("memories", "edit", memory, "something else"),
        ("memories", "forget", memory),
        ("memories", "archive", memory),
        ("memories", "restore", held.memories["soft_deleted"]),
        ("sessions", "add", session, "user", "something of mine"),
        ("sessions", "delete", session, "--yes"),
        ("undo", "last"),
        ("index", "rebuild"),
    )


@contextmanager
def command_line(folder: Path, key: str | None) -> Generator[Callable[..., Answer]]:
    """The command line on the home of a folder, as whoever has the key."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECTUM_")}
    environ |= {"HOME": str(folder / "user"), "XDG_CONFIG_HOME": str(folder / "config")}
    environ |= {"RECOLLECTUM_SYSTEM_DIR": str(folder / "system"), "RECOLLECTUM_HOME": str(folder / "home")}
    environ |= {"RECOLLECTUM_ENCRYPTION": "off", "RECOLLECTUM_STORAGE__RESERVE_MIB": "0"}
    environ |= {"RECOLLECTUM_EMBEDDING__PROVIDER": "none"} | ({} if key is None else {"RECOLLECTUM_API_KEY": key})
    with patch.dict(os.environ, environ, clear=True):
        yield call


def _spelled(owner: str) -> str:
    return owner.removeprefix("user:")


def owners_see_theirs(folder: Path) -> Iterator[str]:
    """Without this the other rules would be kept by a command line that shows nobody anything."""
    world = load(folder)
    with command_line(folder, world.secrets["alice"]) as line:
        for words in (("recall", COMMON), ("memories", "list"), ("memories", "show", _active(world, "user:alice"))):
            said = line(*words)
            if canary("user:alice", "active") not in said.out:
                yield f"{words[0]} does not show alice what is hers: {said.err}"


def nothing_shown(folder: Path) -> Iterator[str]:
    """A command for another's vault is refused and shows no word of it, nor does one that names another's ids."""
    world = load(folder)
    for caller in _CALLERS:
        with command_line(folder, world.secrets[caller]) as line:
            for owner in OWNERS:
                if owner not in oracle.RIGHTS.get(caller, {}):
                    yield from _shown(line, caller, owner, world.held[owner])


def _shown(line: Callable[..., Answer], caller: str, owner: str, held: Held) -> Iterator[str]:
    for words in _reads(held):
        said = line(*words, "--user", _spelled(owner))
        # The status of a home is anybody's, and says of a vault that there is none.
        if (said.code == 0 and words[0] != "status") or any(found == owner for found, _ in seen(said.out + said.err)):
            yield f"{caller} is answered {' '.join(words[:2])} of {owner}"
        # In one's own vault, another's id is one that nobody ever gave.
        own = line(*words)
        if any(found == owner for found, _ in seen(own.out + own.err)):
            yield f"{caller} is shown {owner} by {' '.join(words[:2])}"


def nothing_changed(folder: Path) -> Iterator[str]:
    """No command of another changes anything."""
    world = load(folder)
    before = _state(folder)
    for caller in _CALLERS:
        with command_line(folder, world.secrets[caller]) as line:
            for words in _writes(world.held["user:alice"]):
                if line(*words, "--user", "alice").code == 0:
                    yield f"{caller} may {' '.join(words[:2])} for alice"
                if words[0] != "remember":
                    line(*words)
    if _state(folder) != before:
        yield "something of alice changed"


def no_difference(folder: Path) -> Iterator[str]:
    """Whether somebody is there cannot be told: the refusal of one who is and of one who is not is the same."""
    world = load(folder)
    for caller in ("bob", "grace"):
        with command_line(folder, world.secrets[caller]) as line:
            for words in _reads(world.held["user:alice"]):
                there, not_there = (line(*words, "--user", name) for name in ("alice", _MAKES_NO_PERSON))
                told = (there.out + there.err).replace("alice", _MAKES_NO_PERSON)
                if (there.code, told) != (not_there.code, not_there.out + not_there.err):
                    yield f"{caller} can tell by {' '.join(words[:2])} that alice is there"


def _active(world: World, owner: str) -> str:
    return world.held[owner].memories["active"]


def _state(folder: Path) -> str:
    with open_home(folder, Turning(NOW)) as home:
        vault = home.vault("user:alice")
        kept = [vault.memories.list(state=state, limit=1000) for state in ("active", "archived", "soft_deleted")]
        return repr((kept, vault.admin.events.list(limit=1000), vault.admin.totals().messages))


CLI_CHECKS: Mapping[str, Check] = {
    "cli owners": owners_see_theirs,
    "cli reads": nothing_shown,
    "cli writes": nothing_changed,
    "cli no difference": no_difference,
}
