"""Measures isolation: between people, between sessions, over time, and recall quality with it."""

import random
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.bar_row import Measured, own_place
from recollectum.domain.errors import Denied
from recollectum.testing import ScriptedEmbedder
from recollectum.vault.intake.draft import Draft
from tests.matrix import oracle
from tests.matrix.checks import Check, seen, told
from tests.matrix.homes import Turning, copy_home, open_home, quick_folder
from tests.matrix.mutants import MUTANTS, Patch
from tests.matrix.operations import attempts
from tests.matrix.over_cli_checks import CLI_CHECKS
from tests.matrix.over_cli_mutants import MUTANTS as CLI_MUTANTS
from tests.matrix.over_http_mutants import LIKELY
from tests.matrix.over_http_mutants import MUTANTS as HTTP_MUTANTS
from tests.matrix.over_http_runner import ALL as OVER_HTTP
from tests.matrix.over_http_world import furnish
from tests.matrix.runner import ALL, CAUGHT
from tests.matrix.test_mutants import run_matrix
from tests.matrix.world import NOW, OWNERS, build, enter, load

_SEED = 20261115
_STEPS = 12
_K = 10


@contextmanager
def _world() -> Generator[tuple[Path, Path]]:
    """Yield a home with every state in it, and a folder for copies."""
    with ExitStack() as stack:
        stack.enter_context(own_place())
        world, scratch = (stack.enter_context(quick_folder()) for _ in range(2))
        build(world)
        yield world, scratch


def _findings(checks: Mapping[str, Check]) -> list[str]:
    with _world() as (world, scratch):
        return [
            found
            for name, check in checks.items()
            for found in check(copy_home(world, scratch / name.replace(" ", "_")))
        ]


def clock_jumps(*, long: bool, checks: Mapping[str, Check] = ALL) -> Measured:
    """Set the clock ten years off in both directions, also over a restart, and run sweeps."""
    names = ("clock back", "clock leap", "grace")
    found = [one for _ in range(5 if long else 1) for one in _findings({name: checks[name] for name in names})]
    return Measured(f"{len(found)} destroyed or resurrected in {len(names)} scenes", not found)


def never_served(*, long: bool, checks: Mapping[str, Check] = ALL) -> Measured:
    """Run every read of every memory that is archived, expired, superseded or deleted, without a sweep."""
    names = ("reads and refusals", "outcomes", "clock back") if long else ("reads and refusals",)
    found = _findings({name: checks[name] for name in names})
    return Measured(f"{len(found)} served", not found)


#: The sample of the HTTP and MCP matrix in a short run: every route and tool with another's key and ids.
_DOORS = ("foreign ids", "mcp strangers", "mcp foreign ids", "purge tokens")


@dataclass(frozen=True, slots=True)
class Door:
    """A door: its rules, the program that checks them, and planted mistakes that it must detect."""

    checks: Mapping[str, Check]
    runner: str
    mutants: Mapping[str, tuple[Patch, ...]]
    #: The rules of a short run; all if it names none.
    short: tuple[str, ...] = ()
    #: How many mistakes a short run plants.
    few: int = 4

    def tried(self, *, long: bool) -> tuple[list[Check], list[str]]:
        """Return the rules, and the mistakes by name."""
        names = list(self.mutants)
        chosen = names if long else names[:: max(1, len(names) // self.few)][: self.few]
        return [check for name, check in self.checks.items() if long or not self.short or name in self.short], chosen


DOORS: Mapping[str, Door] = {
    "Python": Door(ALL, "tests.matrix.runner", MUTANTS),
    "HTTP and MCP": Door(OVER_HTTP, "tests.matrix.over_http_runner", HTTP_MUTANTS, _DOORS, few=2),
    "the command line": Door(CLI_CHECKS, "tests.matrix.over_cli_runner", CLI_MUTANTS, few=1),
}


def no_leaks(*, long: bool, doors: Mapping[str, Door] = DOORS) -> Measured:
    """Run the matrix of owner, caller, state and operation at every door, with planted mistakes it must detect."""
    leaks: list[str] = []
    missed: list[str] = []
    planted = 0
    with own_place(), quick_folder() as world, quick_folder() as scratch:
        furnish(world)
        for place, door in doors.items():
            checks, names = door.tried(long=long)
            for number, check in enumerate(checks):
                leaks += check(copy_home(world, scratch / f"{place.replace(' ', '_')}{number}"))
            missed += [name for name in names if not _is_caught(world, door, name)]
            planted += len(names)
    said = f"{len(leaks)} leaks by {', '.join(doors)}; {planted - len(missed)} of {planted} planted mistakes caught"
    said += "".join(f" (first: {one})" for one in (*leaks, *missed)[:1])
    return Measured(said, not leaks and not missed and (planted >= 20 or not long))


def _is_caught(world: Path, door: Door, name: str) -> bool:
    first = next((names for group, names in LIKELY if name in group), ()) if door.mutants is HTTP_MUTANTS else ()
    return run_matrix(world, door.mutants[name], door.runner, *first).returncode == CAUGHT


def random_sequences(*, long: bool) -> Measured:
    """Let random callers try random operations one after the other, in a home that keeps their effects."""
    chance = random.Random(_SEED)
    sequences, leaks, refused = 10_000 if long else 20, 0, 0
    with _world() as (world, scratch):
        for number in range(sequences):
            folder = copy_home(world, scratch / str(number))
            found = list(_sequence(folder, chance))
            leaks += sum(found)
            refused += len(found)
    return Measured(f"{leaks} leaks in {sequences} sequences of {_STEPS}", leaks == 0 and refused > 0)


def _sequence(folder: Path, chance: random.Random) -> Iterator[bool]:
    """Yield for each step whether it leaked: showed another owner's text, or admitted a caller without access."""
    world = load(folder)
    with open_home(folder, Turning(NOW)) as home:
        for _ in range(_STEPS):
            caller = chance.choice([one for one in oracle.RIGHTS if oracle.RIGHTS[one]])
            owner = chance.choice(list(oracle.RIGHTS[caller]))
            view = enter(home, world, caller)
            assert view is not None
            # Half of the time the id belongs to another vault.
            aimed = world.held[chance.choice((owner, chance.choice(OWNERS)))]
            attempt = chance.choice(attempts(aimed))
            text, error = told(lambda v=view, a=attempt, o=owner: a.run(v.vault(o)))
            let_in = not isinstance(error, Denied)
            session = attempt.session if aimed is world.held[owner] else None
            may = oracle.allowed(caller, owner, attempt.permission, session)
            foreign = {found for found, _ in seen(text)} - {owner}
            yield bool(foreign) or (let_in and not may and error is None)


def foreign_documents(*, long: bool, checks: Mapping[str, Check] = ALL) -> Measured:
    """Add a thousand documents of another person; check that no byte of one's own results changes."""
    rounds = 5 if long else 1
    changed = sum(len(_findings({"scores": checks["scores"]})) for _ in range(rounds))
    return Measured(f"{changed} of {rounds} comparisons differ", changed == 0)


def full_recall(*, long: bool, owners: int | None = None, own: int = 12) -> Measured:
    """Fill many vaults with the same words; count how many of ten hits each gets."""
    people = owners or (50 if long else 10)
    counts: list[int] = []
    with (
        own_place() as folder,
        open_home(folder, Turning(), embedder=ScriptedEmbedder()) as home,
    ):
        for number in range(people):
            vault = home.vault(f"user:person{number}")
            vault.memories.save_many([Draft(content=f"person {number} likes the garden {n}") for n in range(own)])
            vault.admin.index.update()
        for number in range(people):
            hits = home.vault(f"user:person{number}").recall("garden", limit=_K)
            counts.append(sum(hit.text.startswith(f"person {number} ") for hit in hits))
    mean = sum(counts) / len(counts)
    return Measured(f"mean {mean:.2f} of {_K}, {people} owners", mean >= 9.99)
