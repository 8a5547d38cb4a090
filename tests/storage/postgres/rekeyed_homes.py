"""Homes whose vault has a value in every encrypted column, and what is stored of it on the server."""

import re
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, LiteralString, cast

import psycopg

from recollectum import Recollectum
from recollectum.domain.message import ToolCall, ToolStatus
from recollectum.storage.copying.database_file import table_list
from recollectum.storage.copying.row_copier import TableDigest, digest_rows
from recollectum.storage.engine import VAULT
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.index import generations, vectors
from recollectum.storage.tables.index.generations import GenerationState
from recollectum.vault.vault import Vault
from tests.plugins.postgres import PostgresDatabase

OWNER = "user:ann"
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
#: Rows of tables that take a model or a crash to fill.
_ROWS = (
    "INSERT INTO embedding_cache (text_hash, model, data, used_at) VALUES (:bytes, :bytes, :bytes, 1)",
    "INSERT INTO coarse_middles (generation, middles) VALUES (1, :bytes)",
    "INSERT INTO served_blocks (digest, head, lines, source, at) VALUES (:bytes, :text, 1, 'memory', 1)",
    "INSERT INTO quarantines (id, source, went, by, at) VALUES ('qrn_1', :text, 'archived', :text, 1)",
    "INSERT INTO transcript_roots (path, agent, channel, added_at) VALUES (:text, :text, :text, 1)",
    "INSERT INTO transcript_files (path, root, identity, size, mtime, read_to, lines, head, tail, synced_at) "
    "VALUES (:text, 1, :text, 1, 1, 1, 1, :text, :text, 1)",
    "INSERT INTO imports (session_id, id, first, last, by, at) SELECT id, 'imp_1', 1, 2, :text, 1 FROM sessions",
    "INSERT INTO jobs (id, kind, subject, idempotency, state, not_before, attempts, trouble, created_at) "
    "VALUES ('job_1', 'k', 's', 'i', 'failed', 1, 1, :text, 1)",
    "INSERT INTO runs (id, session_id, from_position, through_position, by, added, updated, superseded, renewed, "
    "proposed, ignored, at) VALUES ('run_1', 'ses_1', 1, 2, :text, 0, 0, 0, 0, 0, 0, 1)",
    "INSERT INTO summaries (session_id, covered_to, text, made_by, made_at) "
    "SELECT id, 1, :text, :text, 1 FROM sessions",
    "INSERT INTO proposals (id, act, content, kind, importance, key, reason, trust, by, certain, spans, fingerprint, "
    "decision, created_at, decided_by) VALUES ('prp_1', 'add', :text, 'fact', 0.5, :text, :text, 'owner', :text, 1, "
    ":text, :hidden, 'waiting', 1, :text)",
    "INSERT INTO purge_items (purge_id, rank, item) VALUES ('prg_1', 1, :text)",
    "INSERT INTO meta (name, value) VALUES (:named, :text)",
    "UPDATE messages SET parts = :text, thoughts = :text, tokens = :text",
    "UPDATE sessions SET project = :text, extra = :text",
    "UPDATE chunks SET headings = :text, speaker = :text",
    "UPDATE memory_versions SET key = :text",
    "UPDATE events SET payload = :text",
)
_COLUMNS = """
    SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r'
      JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_type t ON t.oid = a.atttypid
     WHERE n.nspname = 'recollectum' AND t.typname IN ('sealed', 'bytea') ORDER BY 1, 2
"""


def open_rekeyed(place: Path, url: str, encryption: str = "auto", keys_url: str = "") -> Recollectum:
    """A home on a database, with a key file in the same folder; with a keys database, in the folder above."""
    settings = {"storage.url": url, "embedding.provider": "none", "encryption": encryption}
    if keys_url:
        settings |= {"storage.keys_url": keys_url, "key_file": str(place.parent / "master.key")}
    environ = {"HOME": str(place / "user"), "XDG_CONFIG_HOME": str(place / "config")}
    return Recollectum(place / "home", settings=settings, environ=environ)


def fill_every_column(vault: Vault, folder: Path) -> None:
    """Write a value into every encrypted column."""
    for number in range(5):
        saved = vault.memories.save(f"the harbour number {number} is closed", key=f"harbour_{number}", agent="coder")
        vault.memories.edit(saved.memory.id, f"the harbour number {number} is open")
    chat = vault.sessions.open(channel="telegram", agent="coder")
    call = ToolCall(id="one", name="look", args={"path": "/there"}, result="seen", status=ToolStatus.COMPLETE)
    chat.add("user", "the ferry leaves at nine", speaker="Ann", native_id="n1", model="some model")
    chat.add("tool", "the timetable", tool_calls=[call], extra={"note": "late"})
    chat.describe(title="ferries", summary="when they leave")
    vault.sessions.checkpoints.save(chat.id, "before_the_ferry")
    folder.mkdir(parents=True, exist_ok=True)
    vault.projects.add(str(folder), name="harbour")
    vault.memories.save("the ferry is blue", project="harbour")
    vault.state.history.add("make ferry", project=vault.projects.get("harbour").project.id)
    vault.state.interfaces.save("theme", "dark")
    for name in ("quay", "pier"):
        notes = folder / name
        notes.mkdir(parents=True)
        for page in ("one", "two"):
            (notes / f"{page}.md").write_text(f"# {page}\n\nthe {name} is narrow\n", encoding="utf-8")
        vault.admin.notes.add_folder(notes)
    vault.admin.notes.sync()
    database_of(vault).write(_add_rest)


def _add_rest(tx: Tx) -> None:
    made = generations.add(tx, "a model", GenerationState.CURRENT, _NOW)
    vectors.add(tx, made.id, [(1, b"v" * 384)])
    hide = tx.stand_ins.hide
    given = {"bytes": b"b" * 20, "text": "some words", "hidden": hide("a digest"), "named": f"lines:{hide('coder')}"}
    # Each value has its own name: the columns have different types.
    names = count()
    for statement in _ROWS:
        numbered = re.sub(r":([a-z]+)", lambda found: f":{found[1]}_{next(names)}", statement)
        tx.run(numbered, {one: given[one.partition("_")[0]] for one in re.findall(r":([a-z]+_\d+)", numbered)})


def database_of(vault: Vault) -> Database:
    return vault.memories._runtime.database  # pyright: ignore[reportPrivateUsage]


def digests(vault: Vault, room: Path) -> dict[str, TableDigest]:
    """What all tables of a vault mean, however they are stored."""
    tables = table_list(room, VAULT, lambda: _NOW)
    return database_of(vault).read(lambda tx: digest_rows(tx, tables))


def stored_values(postgres: PostgresDatabase) -> dict[tuple[str, str], list[bytes]]:
    """Every stored value by its table and column, as the server has it."""
    connection: psycopg.Connection[Any]
    with psycopg.connect(postgres.administrator_url) as connection:
        return {
            (table, column): [
                bytes(row[0])
                for row in connection.execute(
                    cast("LiteralString", f'SELECT "{column}" FROM recollectum."{table}" WHERE "{column}" IS NOT NULL')
                )
            ]
            for table, column in connection.execute(_COLUMNS).fetchall()
        }
