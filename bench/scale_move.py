"""Measures how fast a vault moves from a file to PostgreSQL, against inserting the same rows with psycopg alone."""

import io
from collections.abc import Iterator, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path

from bench.scale_clock import Spent, timed, typical
from bench.scale_rows import BareRows
from bench.scale_table import JUDGED, Ratio, analyse, filled, made_texts, opened, switch_sync_on
from recollectum.doors.cli.entry import main as command_line
from tests.plugins.postgres import PostgresDatabase, available, database_on

_OWNER = "user:alice"


def measure(folder: Path, size: int, rounds: int) -> Iterator[Ratio]:
    """Yield the time of a whole move of an encrypted vault, and its rows in a second."""
    ours: list[Spent] = []
    floors: list[Spent] = []
    texts, count = made_texts(size), 0
    for number in range(rounds):
        home = folder / str(number)
        with opened(home, {"encryption": "auto"}) as files:
            filled(files.vault(_OWNER), texts)
        with database_on(available()[-1]) as database, closing(BareRows(database)) as rows:
            switch_sync_on(database)
            ours.append(timed(partial(_move, home, database)))
            analyse(database)
            moved = rows.of_vault(1)
            count = sum(map(len, moved.values()))
            floors.append(timed(rows.together(moved)))
    moved_in, inserted_in = typical(ours), typical(floors)
    # The command opens the home, moves the catalog and changes the settings, however few rows there are.
    # Its connections are closed with it, so that nobody knows what they took of the processor.
    most = 2 if size >= JUDGED else None
    yield Ratio(f"move of {size:,} memories, ms", moved_in.wall, inserted_in.wall, most)
    yield Ratio("rows of a move in a millisecond", count / moved_in.wall, count / inserted_in.wall, None)


def _move(home: Path, database: PostgresDatabase) -> None:
    _run(["move", "--to", database.url(), "--home", str(home)])


def _run(line: Sequence[str]) -> None:
    heard = io.StringIO()
    with redirect_stdout(heard), redirect_stderr(heard):
        code = command_line(line)
    if code:
        raise SystemExit(f"python -m bench scale: recollectum {line[0]} failed: {heard.getvalue()}")
