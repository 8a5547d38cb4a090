"""Kills writers of one encrypted vault at random moments and counts what a reopened vault has lost."""

import json
import random
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from recollectum import Recollectum
from tests.crashes.consistency import disagreements
from tests.crashes.homes import only_vault
from tests.crashes.ledger import Intent, Ledger, look, lost, unexplained
from tests.crashes.programs import hear, kill, start, tell

_PROGRAM = "tests.crashes.writing_program"
WRITERS = 2
#: After so many rounds a new vault is begun, so that looking at all of it stays quick.
_ROUNDS_PER_HOME = 20
#: The share of rounds in which every writer has written before one dies, and the most lines that it has said then.
_IN_TIME = 0.8
_MOST_LINES = 16


@dataclass(slots=True)
class Toll:
    """What the kills did."""

    kills: int = 0
    acknowledged: int = 0
    #: Kills that came while a call had not been answered.
    in_flight: int = 0
    lost: list[str] = field(default_factory=list[str])
    half: list[str] = field(default_factory=list[str])

    def line(self) -> str:
        """The result in one line."""
        return (
            f"kills {self.kills}, acknowledged {self.acknowledged}, in flight {self.in_flight}, "
            f"lost {len(self.lost)}, half {len(self.half)}"
        )


def kill_writers(folder: Path, *, kills: int, seed: int, longest: float = 0.15) -> Toll:
    """Start writers and kill them, again and again; the vault is opened and examined after each round.

    `longest` is the seconds within which a round's writers are dead once they write.
    """
    chance = random.Random(seed)
    toll = Toll()
    ledgers: list[Ledger] = []
    home = folder
    for number in range(kills // WRITERS):
        if number % _ROUNDS_PER_HOME == 0:
            home, ledgers = folder / f"home-{number}", []
            with Recollectum(home) as r:
                r.vault("user:ann")
        told = _round(_writers(home, number, chance), chance, longest / WRITERS)
        ledgers += told
        toll.kills += len(told)
        toll.acknowledged += sum(ledger.acknowledged for ledger in told)
        toll.in_flight += sum(ledger.begun is not None for ledger in told)
        _examine(home, ledgers, toll)
    return toll


def _writers(home: Path, number: int, chance: random.Random) -> list[subprocess.Popen[str]]:
    names = [f"r{number}w{writer}" for writer in range(WRITERS)]
    return [start(_PROGRAM, str(home), name, str(chance.random())) for name in names]


def _round(writers: list[subprocess.Popen[str]], chance: random.Random, longest: float) -> list[Ledger]:
    """Writers that begin together and die one after the other; what each was told."""
    for writer in writers:
        assert hear(writer) == "ready"
    for writer in writers:
        tell(writer, "go")
    # Some die while they open the home; most are heard first, so that they have written on a slow machine too.
    in_time = chance.random() < _IN_TIME
    heard = [[hear(writer) for _ in range(chance.randint(1, _MOST_LINES))] if in_time else [] for writer in writers]
    told: list[Ledger] = []
    for writer, first in zip(writers, heard, strict=True):
        time.sleep(chance.uniform(0, longest))
        told.append(_ledger(first + kill(writer)))
    return told


def _ledger(said: list[str]) -> Ledger:
    ledger = Ledger()
    for line in said:
        word = json.loads(line)
        if "begin" in word:
            ledger.begin(Intent(**word["begin"]))
        else:
            ledger.done(word["done"])
    return ledger


def _examine(home: Path, ledgers: list[Ledger], toll: Toll) -> None:
    with only_vault(home) as database:
        toll.half += disagreements(database)
        seen = database.read(look)
    toll.half += unexplained(ledgers, seen)
    toll.lost += [one for ledger in ledgers for one in lost(ledger, seen)]
    # What was in flight has been decided now, one way or the other; the next look must find the same.
    for ledger in ledgers:
        ledger.settle(seen)
