"""`recollectum index`: reports, updates, rebuilds, verifies and rolls back the vector index."""

import json
from typing import TYPE_CHECKING

import typer

from recollectum.doors.cli.terminal.embedding import embed_with_progress
from recollectum.doors.cli.terminal.errors import FAILED
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, listing, note, plural, working
from recollectum.doors.cli.terminal.target import open_user_vault

if TYPE_CHECKING:
    from recollectum.vault.index import GenerationStatus, IndexStatus

app = new_group("Show, update, rebuild, roll back and verify the search index.")


@command(app, "status")
def status(run: Run) -> None:
    """Show which model the vectors are from, how many there are, and how many are missing."""
    with open_user_vault(run) as vault:
        found = vault.admin.index.status()
    answer(run, {"index": found}, listing(_told(found)))


@command(app, "update")
def update(run: Run) -> None:
    """Embed everything that has no vector yet; after an interruption the next run continues."""
    with open_user_vault(run) as vault:
        embedded = embed_with_progress(run, vault)
        found = vault.admin.index.status()
    answer(run, {"embedded": embedded, "index": found}, [f"{plural(embedded, 'piece')} embedded"])


@command(app, "rebuild")
def rebuild(run: Run) -> None:
    """Rebuild the index from memories and messages; known vectors are reused."""
    with open_user_vault(run) as vault:
        with working(run, "building the index"):
            pieces = vault.admin.index.rebuild()
        without = vault.admin.index.status().without_meaning
        embedded = embed_with_progress(run, vault) if without is None else 0
        found = vault.admin.index.status()
    document = {"pieces": pieces, "embedded": embedded, "index": found}
    answer(run, document, [f"{plural(pieces, 'piece')} made, {embedded} embedded"])
    if without is not None:
        note(f"degraded: {without}")


@command(app, "rollback")
def rollback(run: Run) -> None:
    """Use the vectors of the previous model again."""
    with open_user_vault(run) as vault:
        found = vault.admin.index.rollback()
    answer(run, {"index": found}, listing(_told(found)))


@command(app, "verify")
def verify(run: Run) -> None:
    """Compare the index with its rows, and the rows with their seals; exit code 1 when they differ."""
    with open_user_vault(run) as vault, working(run, "comparing the index with its rows"):
        health = vault.admin.index.verify()
    found = {"sound": health.sound, "missing": health.missing, "stray": health.stray, "changed": health.changed}
    answer(run, found, [health.words])
    if health.missing or health.stray:
        note("rebuild it with: recollectum index rebuild")
    if health.changed:
        note("restore a backup, or salvage the readable rows with: recollectum repair")
    if not health.sound:
        raise typer.Exit(FAILED)


def format_model(identity: str) -> str:
    """Return the model and its provider from an embedder's identity."""
    provider, model, *_ = json.loads(identity)
    return f"{model} ({provider})"


def _told(found: "IndexStatus") -> list[tuple[str, object]]:
    by_state = {one.state: one for one in found.generations}
    current, building, previous = (by_state.get(state) for state in ("current", "building", "previous"))
    meaning = "on" if found.without_meaning is None else f"off: {found.without_meaning}"
    none_yet = "none yet; make them with: recollectum index update" if found.without_meaning is None else "none"
    return [
        ("pieces", f"{found.pieces}, to be chunked again for this version" if found.recutting else found.pieces),
        ("waiting", f"{found.waiting} texts, which the next search indexes" if found.waiting else None),
        ("by meaning", meaning),
        ("model", format_model(current.identity) if current else None),
        ("vectors", _extent(current) if current else none_yet),
        ("being made", f"{_extent(building)}, by {format_model(building.identity)}" if building else None),
        ("stopped by", found.trouble),
        ("before", f"{format_model(previous.identity)}; `recollectum index rollback` goes back" if previous else None),
    ]


def _extent(one: "GenerationStatus") -> str:
    return f"{one.vectors}, {f'about {one.behind} behind' if one.behind else 'up to date'}"
