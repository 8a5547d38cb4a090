"""Prints what a benchmark of PostgreSQL found as lines of one table, and gives its parts texts and homes."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg

from bench.scale_clock import Spent, watch
from recollectum import Recollectum
from recollectum.testing import ScriptedEmbedder
from recollectum.vault.intake.draft import Draft
from recollectum.vault.vault import Vault
from tests.plugins.postgres import PostgresDatabase

DIMENSIONS = 384
_WORDS = 20
#: From so many chunks on the rows are most of the work of a move and of a cold recall, and their limits hold.
JUDGED = 10_000
_SYLLABLES = [first + last for first in "bdfgklmnprst" for last in ("a", "e", "i", "o", "u", "an", "er", "in")]
#: Words of two and three syllables, the same in every run.
_VOCABULARY = ["".join(random.Random(number).choices(_SYLLABLES, k=2 + number % 2)) for number in range(5_000)]
_WEIGHTS = [1 / (number + 1) for number in range(len(_VOCABULARY))]
HEAD = "| what | ours | floor | ratio | processor time | at most | kept |\n|---|--:|--:|--:|--:|--:|---|"


@dataclass(frozen=True)
class Ratio:
    """One line of the table: ours and its floor, in milliseconds or bytes; without a limit it is a comparison only."""

    what: str
    ours: float
    floor: float
    most: float | None
    #: The ratio of the processor times.
    cpu: float | None = None

    @classmethod
    def of(cls, what: str, ours: Spent, floor: Spent, most: float | None) -> "Ratio":
        """Return the line of two works."""
        return cls(f"{what}, ms", ours.wall, floor.wall, most, ours.cpu / floor.cpu)

    def __str__(self) -> str:
        """The line."""
        ratio = self.ours / self.floor
        verdict = "" if self.most is None else "yes" if ratio <= self.most else "no"
        cpu = "" if self.cpu is None else f"{self.cpu:.2f}"
        most = "" if self.most is None else self.most
        return f"| {self.what} | {self.ours:,.2f} | {self.floor:,.2f} | {ratio:.2f} | {cpu} | {most} | {verdict} |"


def made_texts(count: int, seed: int = 5) -> list[str]:
    """Texts of twenty words, whose frequencies are those of a language."""
    chance = random.Random(seed)
    return [" ".join(chance.choices(_VOCABULARY, _WEIGHTS, k=_WORDS)) for _ in range(count)]


def made_questions(count: int = 20) -> list[str]:
    """Questions of five words, without the most frequent ones."""
    chance = random.Random(6)
    return [" ".join(chance.choices(_VOCABULARY[3:], _WEIGHTS[3:], k=5)) for _ in range(count)]


def opened(folder: Path, settings: Mapping[str, object]) -> Recollectum:
    """Open a home with an embedder that takes no time; nothing is encrypted unless the settings say so."""
    return Recollectum(
        folder, settings={"encryption": "off", **settings}, embedder=ScriptedEmbedder(dimensions=DIMENSIONS)
    )


def filled(vault: Vault, texts: Sequence[str]) -> None:
    """Save texts as memories, with their vectors."""
    vault.memories.save_many([Draft(content=text) for text in texts])
    vault.admin.index.update()


def switch_sync_on(database: PostgresDatabase) -> None:
    """Switch on what a test server has off: a commit is durable. Also count the server's processor time from now on."""
    watch(database)
    with psycopg.connect(database.administrator_url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = on")
        connection.execute("SELECT pg_reload_conf()")


def analyse(database: PostgresDatabase) -> None:
    """Count the rows for the planner, as the server does by itself a minute after a large write."""
    with psycopg.connect(database.administrator_url, autocommit=True) as connection:
        connection.execute("ANALYZE")
