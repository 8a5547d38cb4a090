"""PostgreSQL reads every statement of the tables, and finds what is asked often by an index."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import LiteralString, cast

import psycopg
import pytest

from recollectum.storage.engine import VAULT
from recollectum.storage.postgres.dialect import to_postgres
from recollectum.storage.postgres.migrate import PATHS
from recollectum.storage.postgres.scopes import PLANNING
from tests.plugins.postgres import PostgresDatabase
from tests.storage.tables.test_portable_sql import EXCEPTIONS, family_of, statements

#: Statements that PostgreSQL never gets, with the reason.
ELSEWHERE = {
    **EXCEPTIONS,
    "trail.seals._SURPLUS": "seals are SQLite's",
    "trail.seals._CLEAR": "seals are SQLite's",
    "trail.seals._THERE": "seals are SQLite's",
    "erasure.remaining_texts._CANONICAL": "looks into texts, which are encrypted here",
    "erasure.remaining_texts._OTHER_TEXTS": "looks into texts",
    "erasure.remaining_texts._REMAINING": "looks into texts",
    "erasure.remaining_texts._VECTOR": "looks into vectors",
    "index.search._WITH_SUBSTRING": "looks into texts",
}


def _faults(database: PostgresDatabase) -> Iterator[tuple[str, str]]:
    with psycopg.connect(database.url(), autocommit=True) as connection:
        connection.execute("SELECT set_config('recollectum.vault', '1', false)")
        for name, sql in statements():
            if "{" in sql:
                continue
            family = family_of(name)
            connection.execute("SELECT set_config('search_path', %s, false)", (PATHS[family],))
            text = to_postgres(sql, in_vault=family == VAULT).text
            answer = connection.pgconn.prepare(b"", text.encode())
            if answer.status != psycopg.pq.ExecStatus.COMMAND_OK:
                yield name, answer.error_message.decode(errors="replace")


def test_postgresql_reads_every_statement(postgres: PostgresDatabase) -> None:
    found = dict(_faults(postgres))
    assert not (wrong := {name: fault for name, fault in found.items() if name not in ELSEWHERE}), wrong


#: One vault of 20,000 rows a table, and others with a few. The triggers are left out: rows are all that a plan needs.
_FILL = """
    SET session_replication_role = replica;
    SET search_path = recollectum;
    CREATE TEMP TABLE places AS
        SELECT 1 AS vault, n FROM generate_series(1, 20000) AS n
        UNION ALL SELECT v, n FROM generate_series(2, {last}) AS v, generate_series(1, {each}) AS n;
    INSERT INTO sessions (vault, id, key, created_at, updated_at, imported, message_count, token_estimate)
        SELECT vault, 's' || n, sha256(('k' || n)::bytea), n, n, 0, 20, 100 FROM places WHERE n % 20 = 0;
    INSERT INTO messages (vault, number, id, session_id, position, role, created_at, text, token_estimate, trust,
                          speaker, speaker_folded)
        SELECT vault, n, 'm' || n, 's' || n - n % 20, n, 'user', n, sha256((n || 't')::bytea), 5, 'owner',
               sha256((n % 9 || 'a')::bytea), sha256((n % 9 || 'f')::bytea) FROM places;
    INSERT INTO memories (vault, number, id, content, key, kind, importance, trust, author, version, state, created_at,
                          updated_at, fingerprint, due_at)
        SELECT vault, n, 'e' || n, sha256((n || 'c')::bytea), sha256((n || 'k')::bytea), 'fact', 0.5, 'owner',
               sha256('a'), 1, 'active', n, n, sha256((n || 'f')::bytea), n FROM places;
    INSERT INTO chunks (vault, number, source, source_number, start, stop)
        SELECT vault, n, CASE WHEN n % 2 = 0 THEN 'sessions' ELSE 'memories' END, n, 0, 5 FROM places;
    INSERT INTO events (vault, number, at, type, subject, subject_id, actor)
        SELECT vault, n, n, 'created', 'memory', 'e' || n, sha256('a') FROM places;
    INSERT INTO generations (vault, id, identity, state, created_at)
        SELECT DISTINCT vault, 1, 'model', 'current', 0 FROM places;
    INSERT INTO vectors (vault, generation, chunk, data) SELECT vault, 1, n, sha256(n::text::bytea) FROM places;
    INSERT INTO search (vault, number, stamp, terms) SELECT vault, n, n, sha256(n::text::bytea) FROM places;
    ANALYZE;
"""
_FILLED = ("sessions", "messages", "memories", "chunks", "events", "vectors", "search")
#: By an index, but of all rows of the vault.
_WHOLE_VAULT = "Index Cond: (vault = (current_setting('recollectum.vault'::text))::bigint)"
_LARGEST, _SMALLEST = "1", "2"
_LIST = re.compile(r"(numbers|texts|names|triples)\(:(\w+)\)")
_LISTS = {"numbers": "'[1,5,9]'", "texts": '\'["a","b"]\'', "names": "'{a,b}'", "triples": "'[[1,1,1]]'"}
_OTHER = "'1'"
#: What recall, context, save and add ask.
OFTEN = (
    "index.search._EVIDENCE",
    "index.search._EVIDENCE_UNFILTERED",
    "index.search._TURNS",
    "index.search._EXISTING",
    "index.search._SAID_IN",
    "index.search._SPEAKERS",
    "index.hit_rows._DETAILS",
    "index.hit_rows._BESIDE",
    "index.hit_rows._BESIDE_FILTERED",
    "index.hit_rows._TRUSTS",
    "index.vectors._AFTER",
    "index.vectors._LAST",
    "index.chunks._AFTER",
    "index.chunks._LAST",
    "index.chunks._REMOVE",
    "index.archive._TEXTS",
    "content.memories._ALIKE",
    "content.memories._DUE",
    "content.memories._ANY_DUE",
    "content.memories._BY_KEY",
    "content.memories._BY_ID",
    "content.memories._BY_IDS",
    "content.memories._KNOWN_MARKS",
    "content.memories._KNOWN_KEYS",
    "content.memories._UPDATE",
    "content.messages._BY_ID",
    "content.messages._KNOWN_IDS",
    "content.messages._LATEST",
    "content.messages._FROM",
    "content.messages._LAST_NUMBER",
    "content.sessions._OPEN",
    "content.sessions._BY_ID",
    "content.sessions._GREW",
    "content.sessions._PAGE",
    "trail.events._OF",
    "trail.events._PAGE",
    "trail.undo._LAST",
)


def _samples(sql: str) -> str:
    """A value for each parameter: a list for one of the functions of lists, else what is a text, a number and bytes."""
    lists = {name: _LISTS[word] for word, name in _LIST.findall(sql)}
    names = to_postgres(sql, in_vault=True).names
    values = ", ".join(lists.get(name, _OTHER) for name in names)
    return f"({values})" if names else ""


def _plans(connection: "psycopg.Connection[tuple[object, ...]]", sql: str) -> list[list[str]]:
    """The plans of a statement for the smallest vault, and then for the largest, on one connection."""
    sent, samples = to_postgres(sql, in_vault=True).text, _samples(sql)
    connection.execute(cast("LiteralString", f"PREPARE asked AS {sent}"), prepare=False)
    shown: list[list[str]] = []
    try:
        for vault in (_SMALLEST, _LARGEST):
            connection.execute("SELECT set_config('recollectum.vault', %s, false)", (vault,), prepare=False)
            rows = connection.execute(cast("LiteralString", f"EXPLAIN EXECUTE asked {samples}"), prepare=False)
            shown.append([str(line).strip() for (line,) in rows])
        return shown
    finally:
        connection.execute("DEALLOCATE asked")


def _reads_all(plan: list[str]) -> bool:
    """Whether a plan reads all rows of a filled table, or all rows of a vault from its first one on."""
    for line, condition in pairwise([*plan, ""]):
        if any(f" on {table} " in line for table in _FILLED):
            forward = condition == _WHOLE_VAULT and "Backward" not in line
            if "Seq Scan" in line or forward:
                return True
    return False


@pytest.mark.parametrize(("others", "each"), [(100, 40), (2_000, 4)])
def test_every_statement_goes_by_an_index_under_row_level_security(
    postgres: PostgresDatabase, others: int, each: int
) -> None:
    """One plan serves every vault: also the largest, whose rows are most of a table, beside many small ones."""
    with psycopg.connect(postgres.administrator_url, autocommit=True) as administrator:
        administrator.execute(cast("LiteralString", _FILL.format(last=others + 1, each=each)))
    known = {name: sql for name, sql in statements() if family_of(name) == VAULT and "{" not in sql}
    scans: list[str] = []
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        for setting, value in {"search_path": PATHS[VAULT], **PLANNING}.items():
            connection.execute("SELECT set_config(%s, %s, false)", (setting, value))
        for name in known.keys() - ELSEWHERE.keys():
            smallest, largest = _plans(connection, known[name])
            # Rare ones may read all rows of their vault, and none reads those of others.
            if any("Seq Scan" in line for line in _filled(smallest) + _filled(largest)) or (
                name in OFTEN and _reads_all(largest)
            ):
                scans.append("\n".join([name, *smallest, "", *largest]))
    assert not scans, "\n\n".join(scans)


def _filled(plan: list[str]) -> list[str]:
    """The lines of a plan that read a filled table."""
    return [line for line in plan if any(f" on {table} " in line for table in _FILLED)]
