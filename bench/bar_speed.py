"""Measures what encryption costs: the same writes and recalls with and without it, alternating in one run."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from bench.bar_row import Measured, own_place
from bench.bar_secrets import private_files
from recollectum import Recollectum
from recollectum.testing import ScriptedEmbedder
from recollectum.vault.intake.draft import Draft
from recollectum.vault.vault import Vault


def encryption_cost(*, long: bool) -> tuple[float, float]:
    """Return how many times as long writes and recalls take in an encrypted vault."""
    rows, rounds = (5000, 24) if long else (300, 20)
    with ExitStack() as stack:
        folder = stack.enter_context(own_place())
        one, other = (stack.enter_context(_home(folder, encryption)) for encryption in ("auto", "off"))
        vaults = one.vault("user:ann"), other.vault("user:ann")
        for vault in vaults:
            vault.memories.save_many([Draft(content=f"the garden has bed {n}") for n in range(rows)])
            vault.admin.index.update()
        return _ratio(vaults, _write, rounds), _ratio(vaults, _recall, rounds)


def _home(folder: Path, encryption: str) -> Recollectum:
    settings = {"encryption": encryption, "storage.reserve_mib": 0}
    return Recollectum(folder / encryption, settings=settings, embedder=ScriptedEmbedder())


def _write(vault: Vault, turn: int) -> None:
    for number in range(20):
        vault.memories.save(f"written in turn {turn} as number {number}")


def _recall(vault: Vault, turn: int) -> None:
    for number in range(20):
        vault.recall(f"garden bed {turn} {number}")


def _ratio(vaults: tuple[Vault, Vault], work: Callable[[Vault, int], None], rounds: int) -> float:
    # The fastest round of each: other load can only add to one.
    times = [[_seconds(vault, work, turn) for vault in vaults] for turn in range(rounds)]
    return min(one for one, _ in times) / min(other for _, other in times)


def _seconds(vault: Vault, work: Callable[[Vault, int], None], turn: int) -> float:
    began = time.perf_counter()
    work(vault, turn)
    return time.perf_counter() - began


def encrypted_and_private(*, long: bool) -> Measured:
    """Check the key, the modes of the files, and what encryption costs."""
    private = private_files(long=long)
    writes, recalls = encryption_cost(long=long)
    said = f"{private.said}; writes {writes:.2f}×, recall {recalls:.2f}×"
    return Measured(said, private.met and writes <= 2 and recalls <= 1.2)
