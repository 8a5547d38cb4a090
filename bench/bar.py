"""Measures the bar: 40 promises of reliability and security, each compared with its target; --long for all of it."""

import argparse
import sys
import time
from collections.abc import Iterable, Sequence

import pytest

from bench.bar_addresses import addresses
from bench.bar_closed import closed_places
from bench.bar_damage import backups, flipped_bits, old_library, smashed_pages, torn_lines
from bench.bar_durability import counted, full_disk, kills, power, state_files, whole_changes
from bench.bar_erasure import live_files, made_again, restored, without_keys
from bench.bar_hostile import fences, imports, origins, poison, queries
from bench.bar_http import browser_pages, limits_hold, without_credentials
from bench.bar_isolation import clock_jumps, foreign_documents, full_recall, never_served, no_leaks, random_sequences
from bench.bar_paths import paths
from bench.bar_patterns import patterns
from bench.bar_proofs import proofs
from bench.bar_row import Measure, Measured, Row
from bench.bar_secrets import keys_at_rest, redaction, silent_logs
from bench.bar_speed import encrypted_and_private

POSTGRESQL = "needs PostgreSQL"


def _row(number: int, promise: str, target: str, measure: Measure) -> Row:
    return Row(number=number, promise=promise, target=target, measure=measure)


def _waits(number: int, promise: str, target: str, needs: str) -> Row:
    return Row(number=number, promise=promise, target=target, needs=needs)


ROWS: tuple[Row, ...] = (
    _row(1, "a kill loses nothing that was answered", "0 lost (long: ≥ 10,000 writes, 500 kills)", kills),
    _row(2, "nor does a power cut", "0 lost, 0 corrupt (long: ≥ 5,000 states)", power),
    _row(3, "a change is there whole or not at all", "0 half changes", whole_changes),
    _row(4, "a torn line of a transcript costs only itself", "0 earlier lost, 0 bad accepted", torn_lines),
    _row(5, "a state file is the old or the new one", "0 half files", state_files),
    _row(6, "processes that write at once lose no update", "0 lost, 0 told of a lock (wanted: p99 50 ms)", counted),
    _row(7, "a full disk loses nothing and still lets one delete", "0 lost, all deletions succeed", full_disk),
    _row(8, "a place that is closed is refused in one sentence", "0 unclear, 0 replaced, exit ≠ 0", closed_places),
    _row(9, "a clock that jumps neither deletes nor revives", "0", clock_jumps),
    _row(10, "rot of a single bit is noticed", "100 %; of a plain one, in what is remembered", flipped_bits),
    _row(11, "a damaged vault is salvaged", "≥ 98 % of rows, 0 wrong, ≤ 5 s for each 100,000", smashed_pages),
    _row(12, "every backup restores", "all (long: 100)", backups),
    _row(13, "a restore does not bring the erased back", "0 hits", restored),
    _row(
        14,
        "a migration may be killed anywhere",
        "all old or new",
        proofs(
            "crashes/test_migrations.py::test_killed_anywhere_the_schema_is_the_old_or_the_new",
            "crashes/test_migrations.py::test_a_step_that_fails_leaves_the_old_schema",
        ),
    ),
    _row(15, "a SQLite that damages files is refused", "0 accepted, safe options set", old_library),
    _row(
        16,
        "what is erased leaves no byte in a live file",
        "0 words, ends of words and vectors (wanted: 2 s)",
        live_files,
    ),
    _row(17, "what was made from the erased goes too, and stays away", "0 words after every loop has run", made_again),
    _row(
        18,
        "nobody says that it is gone before it is",
        "all cases",
        proofs(
            "faults/test_purge_faults.py::test_while_somebody_reads_from_before_a_purge_is_pending",
            "faults/test_purge_faults.py::test_while_somebody_has_the_vault_open_a_person_is_not_said_to_be_gone",
            "faults/test_erasure.py::test_while_a_reader_holds_on_to_the_past_nobody_says_that_it_is_gone",
            "crashes/test_purge_kills.py::test_a_kill_before_any_write_leaves_all_of_it_or_none_of_it",
        ),
    ),
    _row(19, "without its key an encrypted copy is unreadable", "0 hits, none opens", without_keys),
    _row(20, "what is over is never served, swept or not", "0 served", never_served),
    _row(21, "nobody reads, changes or counts what is another's", "0 leaks, all planted mistakes caught", no_leaks),
    _row(22, "nor by any sequence of calls", "0 leaks (long: 10,000 sequences)", random_sequences),
    _row(23, "results tell nothing about what others keep", "identical to the byte", foreign_documents),
    _row(24, "walls cost no hits", "mean ≥ 9.99 of 10 (long: 50 owners)", full_recall),
    _waits(25, "the database itself keeps people apart", "0 foreign rows", POSTGRESQL),
    _row(26, "no address answers without a credential", "all refused but the health check", without_credentials),
    _row(27, "a stolen database holds no usable key", "0 hits, ≥ 256 bits", keys_at_rest),
    _row(28, "a page in a browser cannot reach the service", "all refused", browser_pages),
    _row(29, "no name leads out of the home", "0 escapes of ≥ 40", paths),
    _row(30, "no text reaches a place that nobody named", "0 of ≥ 25 spellings, redirects, names", addresses),
    _row(31, "a hostile file neither crashes nor swells us", "0 uncaught, ≤ 100 MiB (long: 100,000)", imports),
    _row(32, "no pattern hangs us", "≤ 10 ms at 64 KB, redaction ≤ 25 (a short run: 100)", patterns),
    _row(33, "any text may be asked", "0 failures (long: 10,000)", queries),
    _row(34, "limits of rate and size hold", "refused before any work", limits_hold),
    _row(35, "a hostile memory stays in its fence", "exactly 1 closing fence (long: 10,000)", fences),
    _row(36, "every hit says where it came from", "100 %", origins),
    _row(
        37,
        "what strangers say is never believed by itself",
        "0 promoted, ≤ 1 shown, 0 left in quarantine or after a purge",
        poison,
    ),
    _row(38, "secrets are not stored", "recall ≥ 0.95 of ≥ 16 kinds, ≤ 1 % spoilt (wanted: 0.5 ms)", redaction),
    _row(39, "logs and errors hold no content", "0", silent_logs),
    _row(
        40,
        "the key is not in the home, files are private, at little cost",
        "0 open; ≤ 2 ×, ≤ 1.2 ×",
        encrypted_and_private,
    ),
)


def measured(row: Row, *, long: bool) -> Measured | str:
    """Return what a row measures now, or the reason why it cannot be measured here."""
    if row.measure is None:
        return row.needs or "not built"
    try:
        return row.measure(long=long)
    except pytest.skip.Exception as reason:
        # The measurements use the tools of the tests, which report a missing feature of the system this way.
        return f"not here: {reason}"


def line(row: Row, result: Measured | str, seconds: float) -> str:
    """Return one row of the table."""
    said, verdict = (result, "–") if isinstance(result, str) else (result.said, "yes" if result.met else "**NO**")
    return f"| {row.number} | {row.promise} | {said} | {row.target} | {verdict} | {seconds:.1f} |"


def report(rows: Iterable[Row], *, long: bool) -> int:
    """Measure the rows and print the table; return how many miss their target."""
    print("| # | promise | measured | target | met | s |\n|---|---|---|---|---|---|", flush=True)
    reached = missed = waiting = 0
    for row in rows:
        began = time.monotonic()
        result = measured(row, long=long)
        print(line(row, result, time.monotonic() - began), flush=True)
        reached += isinstance(result, Measured) and result.met
        missed += isinstance(result, Measured) and not result.met
        waiting += isinstance(result, str)
    print(f"\n{reached} reached, {missed} missed, {waiting} not measured")
    return missed


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table, or the named rows; fail when a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench bar", description=__doc__)
    parser.add_argument("--long", action="store_true", help="measure all that each row asks for, not a sample of it")
    parser.add_argument("rows", nargs="*", type=int, metavar="ROW", help="numbers of rows; all when none is named")
    asked = parser.parse_args(arguments)
    numbers: list[int] = asked.rows or [row.number for row in ROWS]
    if report([row for row in ROWS if row.number in numbers], long=asked.long):
        sys.exit(1)
