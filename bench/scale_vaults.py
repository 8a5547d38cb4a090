"""Measures whether a vault is as fast beside 10,000 others, or beside a very large one, as beside nine others."""

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import timedelta
from functools import partial
from pathlib import Path

from bench.scale_bare import recorded
from bench.scale_clock import Spent, compared, timed
from bench.scale_copies import VaultCopies
from bench.scale_table import Ratio, analyse, filled, made_questions, made_texts, opened, switch_sync_on
from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.upkeep.rounds.duties import UpkeepRuntime
from recollectum.upkeep.rounds.scheduler import duty
from recollectum.vault.vault import Vault
from tests.plugins.postgres import PostgresDatabase, available, database_on

_PROBES = 10
_PIECES = 20
#: The memories of the large vault that are saved; the rest are copies of their rows.
_BASE = 1_000
#: At most so many times slower.
_FLAT = 1.2
_LATE = 2**60


def measure(folder: Path, vaults: int, whale: int, rounds: int) -> Iterator[Ratio]:
    """Yield recall and save in ten vaults, beside many others and beside a large one, against the ten alone."""
    with ExitStack() as stack:
        homes: dict[str, Recollectum] = {}
        databases: dict[str, PostgresDatabase] = {}
        for name in ("alone", "many", "whale"):
            databases[name] = stack.enter_context(database_on(available()[-1]))
            switch_sync_on(databases[name])
            homes[name] = stack.enter_context(opened(folder / name, {"storage.url": databases[name].url()}))
            for probe in _probes(homes[name]):
                filled(probe, made_texts(_PIECES))
            analyse(databases[name])
        with closing(VaultCopies(databases["many"])) as copies:
            copies.add_vaults(1, vaults - _PROBES)
        large = homes["whale"].vault("user:whale")
        filled(large, made_texts(min(_BASE, whale)))
        with closing(VaultCopies(databases["whale"])) as copies:
            copies.enlarge(_PROBES + 1, max(1, whale // _BASE))
        beside = {"many": f"{vaults:,} vaults", "whale": f"one vault of {whale:,} chunks"}
        yield from _flat(homes, large, beside, rounds)
        yield from _sweep(homes["alone"], homes["many"], databases["many"], vaults)


def _probes(home: Recollectum) -> list[Vault]:
    return [home.vault(f"user:person{number}") for number in range(_PROBES)]


def _flat(homes: dict[str, Recollectum], large: Vault, beside: dict[str, str], rounds: int) -> Iterator[Ratio]:
    """Compare recall and save in the ten vaults; the large vault is asked in every round, outside of what is timed."""
    questions = itertools.cycle(made_questions())
    texts = (f"boat {number} is white and {number * 7} is black" for number in itertools.count())
    works: dict[str, Callable[[Vault], object]] = {
        "recall": lambda vault: vault.recall(next(questions)),
        "save": lambda vault: vault.memories.save(next(texts)),
    }
    for what, work in works.items():
        turns: dict[str, Callable[[], object]] = {
            name: partial(_each, _probes(home), work) for name, home in homes.items()
        }
        for turn in turns.values():
            turn()
        turns["large"] = partial(large.recall, next(questions))
        found = compared(rounds, turns)
        for name, words in beside.items():
            ours, floor = found[name].divided(_PROBES), found["alone"].divided(_PROBES)
            yield Ratio.of(f"{what}, ten vaults beside {words}", ours, floor, _FLAT)


def _each(vaults: Sequence[Vault], work: Callable[[Vault], object]) -> None:
    for vault in vaults:
        work(vault)


def _sweep(few: Recollectum, many: Recollectum, database: PostgresDatabase, vaults: int) -> Iterator[Ratio]:
    """Compare what a sweep opens and sends when ten of many vaults are due, with ten vaults that are all due."""
    with closing(VaultCopies(database)) as copies:
        copies.note_rounds("retention", _LATE)
    touched: dict[str, list[str]] = {}
    sent: dict[str, int] = {}
    took: dict[str, Spent] = {}
    for name, home in (("few", few), ("many", many)):
        visited = touched.setdefault(name, [])

        def open_vault(owner: Owner, home: Recollectum = home, visited: list[str] = visited) -> Vault:
            visited.append(str(owner))
            return home.vault(owner)

        upkeep = UpkeepRuntime(admin=home.admin, settings=home.settings, open_vault=open_vault, stop=threading.Event())
        sweep = duty(upkeep, "retention", timedelta(hours=1))
        sent[name] = len(recorded(sweep.make))
        took[name] = timed(sweep.make)
    if sorted(touched["few"]) != sorted(touched["many"]):
        raise SystemExit(f"python -m bench scale: the sweep touched {len(touched['many'])} vaults and not {_PROBES}")
    yield Ratio(f"vaults that a sweep opens, {_PROBES} due of {vaults:,}", len(touched["many"]), _PROBES, 1)
    yield Ratio("statements that it sends", sent["many"], sent["few"], _FLAT)
    yield Ratio.of(f"a sweep with nothing due of {vaults:,}, against ten vaults", took["many"], took["few"], None)
