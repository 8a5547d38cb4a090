"""Fills one vault with many memories in every state, and with everything else that is listed, by SQL alone."""

from pathlib import Path

from recollectum import Recollectum
from recollectum.storage.port import Tx
from tests.crashes.homes import only_vault

OWNER = "user:ann"
#: A day in May 2024, in microseconds; each memory comes a second after the one before.
_AT = 1_714_521_600_000_000
_NUMBERS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
_TIME = f"({_AT} + n.i * 1000000)"
# Of a hundred memories two are deleted, three superseded and five archived. One in a hundred tells of a person, one in
# a hundred has a key, and one in a thousand is of a rare kind.
_STATE = "CASE WHEN n.i % 100 < 2 THEN 'soft_deleted' WHEN n.i % 100 < 10 THEN 'archived' ELSE 'active' END"
#: A name of its own for each person.
_LETTERS = "char(97 + n.i / 100 % 26, 97 + n.i / 2600 % 26, 97 + n.i / 67600 % 26)"
_MEMORIES = f"""
    {_NUMBERS}
    INSERT INTO memories (number, id, content, key, kind, importance, trust, author, version, state, created_at,
        updated_at, superseded_by, deleted_at, hard_delete_at, fingerprint, due_at, no_contacts)
    SELECT n.i, printf('mem_%026d', n.i),
           CASE WHEN n.i % 100 = 50 THEN 'My colleague Anna' || {_LETTERS} || ' Berg: +49 170 ' || printf('%07d', n.i)
                ELSE printf('Ticket %d was closed after lunch, and the soup of day %d was good', n.i, n.i % 365) END,
           CASE WHEN n.i % 100 = 60 THEN printf('place_%d', n.i) END,
           CASE WHEN n.i % 1000 = 70 THEN 'correction' WHEN n.i % 10 = 1 THEN 'preference' ELSE 'fact' END,
           0.5, 'owner', 'user:ann', 1, {_STATE}, {_TIME}, {_TIME},
           CASE WHEN n.i % 100 BETWEEN 2 AND 4 THEN printf('mem_%026d', n.i + 20) END,
           CASE WHEN n.i % 100 < 2 THEN {_TIME} END, CASE WHEN n.i % 100 < 2 THEN :grace END,
           printf('bench:%d', n.i), CASE WHEN n.i % 100 < 2 THEN :grace END,
           CASE WHEN n.i % 100 <> 50 THEN 1 END
      FROM n
"""
_EVENTS = f"""
    {_NUMBERS}
    INSERT INTO events (at, type, subject, subject_id, actor, state)
    SELECT {_TIME}, 'created', 'memory', printf('mem_%026d', n.i), 'user:ann', 'active' FROM n
"""
_MOVED = """
    INSERT INTO events (at, type, subject, subject_id, actor, state)
    SELECT updated_at, CASE WHEN superseded_by IS NOT NULL THEN 'superseded' WHEN state = 'archived' THEN 'archived'
           ELSE 'deleted' END, 'memory', id, 'user:ann', state
      FROM memories WHERE state <> 'active' ORDER BY number
"""
_VERSIONS = """
    INSERT INTO memory_versions (memory_id, version, content, kind, importance, recorded_at, replaced_at, author)
    SELECT id, 1, content, kind, importance, created_at, created_at + 1, author FROM memories WHERE number % 50 = 20
"""
_EDITED = "UPDATE memories SET version = 2, updated_at = created_at + 1 WHERE number % 50 = 20"
_EDITS = """
    INSERT INTO events (at, type, subject, subject_id, actor, state)
    SELECT updated_at, 'edited', 'memory', id, 'user:ann', state FROM memories WHERE number % 50 = 20 ORDER BY number
"""
# Twenty memories for each session, and ten messages in each; every hundredth session is imported.
_SESSIONS = f"""
    {_NUMBERS}
    INSERT INTO sessions (id, key, created_at, updated_at, title, imported, message_count, token_estimate)
    SELECT printf('ses_%026d', n.i),
           CASE WHEN n.i % 1000 = 7 THEN printf('agent:rare:signal:group:%d', n.i)
                ELSE printf('agent:main:telegram:group:%d', n.i) END,
           {_TIME}, {_TIME}, printf('Day %d', n.i), n.i % 100 = 0, 10, 100 FROM n
"""
_MESSAGES = f"""
    {_NUMBERS}
    INSERT INTO messages (id, session_id, position, role, created_at, text, token_estimate, trust, speaker)
    SELECT printf('msg_%026d', n.i), printf('ses_%026d', (n.i - 1) / 10 + 1), (n.i - 1) % 10 + 1,
           CASE n.i % 2 WHEN 1 THEN 'user' ELSE 'assistant' END, {_TIME},
           printf('In turn %d we spoke about the garden and the train to the coast', n.i), 10, 'owner', NULL FROM n
"""
_CITATIONS = f"""
    {_NUMBERS}
    INSERT INTO citations (memory_id, message_id, start, stop)
    SELECT printf('mem_%026d', n.i * 20), printf('msg_%026d', n.i * 5), 0, 10 FROM n
"""
_PROPOSALS = f"""
    {_NUMBERS}
    INSERT INTO proposals (id, session_id, act, content, kind, importance, reason, trust, by, certain, spans,
        fingerprint, decision, created_at)
    SELECT printf('prp_%026d', n.i), printf('ses_%026d', n.i), 'add', printf('Proposal %d', n.i), 'fact', 0.5, 'said',
           'owner', 'rules', 1, '[]', printf('bench:%d', n.i),
           CASE WHEN n.i % 100 = 0 THEN 'waiting' ELSE 'rejected' END, {_TIME} FROM n
"""
_RUNS = f"""
    {_NUMBERS}
    INSERT INTO runs (id, session_id, from_position, through_position, by, added, updated, superseded, renewed,
        proposed, ignored, at)
    SELECT printf('run_%026d', n.i), printf('ses_%026d', n.i), 0, 10, 'rules', 0, 0, 0, 0, 1, 0, {_TIME} FROM n
"""
_JOBS = f"""
    {_NUMBERS}
    INSERT INTO jobs (id, kind, subject, idempotency, state, not_before, attempts, created_at, done_at)
    SELECT printf('job_%026d', n.i), 'consolidate', printf('ses_%026d', n.i), printf('bench:%d', n.i),
           CASE WHEN n.i % 1000 = 3 THEN 'failed' ELSE 'done' END, {_TIME}, 1, {_TIME}, {_TIME} FROM n
"""
_IMPORTS = f"""
    {_NUMBERS}
    INSERT INTO imports (id, session_id, first, last, by, at)
    SELECT printf('imp_%026d', n.i), printf('ses_%026d', n.i * 100), (n.i * 100 - 1) * 10 + 1, n.i * 1000, 'user:ann',
           {_TIME} FROM n
"""
_CHECKPOINTS = f"""
    {_NUMBERS}
    INSERT INTO checkpoints (name, session_id, position, saved_at)
    SELECT printf('point_%d', n.i), printf('ses_%026d', n.i), 5, {_TIME} FROM n
"""
_QUARANTINES = f"""
    {_NUMBERS}
    INSERT INTO quarantines (id, source, went, by, at)
    SELECT printf('qua_%026d', n.i), printf('import:%d', n.i), 'archived', 'user:ann', {_TIME} FROM n
"""
_SET_ASIDE = f"""
    {_NUMBERS}
    INSERT INTO quarantined (item, quarantine_id, memory)
    SELECT printf('mem_%026d', n.i * 100 + 7), printf('qua_%026d', (n.i - 1) / 10 + 1), 1 FROM n
"""
_SWEEPS = f"""
    {_NUMBERS}
    INSERT INTO sweeps (at, state, archived, deleted, marked, purged, waiting, erased)
    SELECT {_TIME}, 'done', 1, 0, 0, 0, 0, 1 FROM n
"""
_CHUNKS_OF_MEMORIES = """
    INSERT INTO chunks (source, source_number, start, stop)
    SELECT 'memories', number, 0, length(content) FROM memories WHERE state = 'active' ORDER BY number
"""
_CHUNKS_OF_MESSAGES = """
    INSERT INTO chunks (source, source_number, start, stop, created_at, trust, role)
    SELECT 'sessions', number, 0, length(text), created_at, trust, role FROM messages ORDER BY number
"""
_TERMS = """
    INSERT INTO search (rowid, terms)
    SELECT chunks.number, coalesce(memories.content, messages.text) FROM chunks
      LEFT JOIN memories ON chunks.source = 'memories' AND memories.number = chunks.source_number
      LEFT JOIN messages ON chunks.source = 'sessions' AND messages.number = chunks.source_number
     WHERE chunks.source IN ('memories', 'sessions') ORDER BY chunks.number
"""


def fill(home: Path, memories: int) -> None:
    """Make a home with one vault of so many memories, at least a thousand."""
    with Recollectum(home) as r:
        # Opened by the product, so that it is a regular vault; its deadlines are ahead of the clock.
        grace = int(r.vault(OWNER).admin.clock().now.timestamp() * 1_000_000) + 7 * 24 * 3600 * 1_000_000
    sessions = memories // 20
    steps: list[tuple[str, int]] = [
        (_MEMORIES, memories),
        (_EVENTS, memories),
        *((sql, 0) for sql in (_MOVED, _VERSIONS, _EDITED, _EDITS)),
        (_SESSIONS, sessions),
        (_MESSAGES, sessions * 10),
        (_CITATIONS, memories // 20),
        *((sql, sessions) for sql in (_PROPOSALS, _RUNS, _JOBS)),
        (_IMPORTS, sessions // 100),
        (_CHECKPOINTS, sessions // 10),
        (_QUARANTINES, memories // 1000),
        (_SET_ASIDE, memories // 100 - 1),
        (_SWEEPS, memories // 100),
        *((sql, 0) for sql in (_CHUNKS_OF_MEMORIES, _CHUNKS_OF_MESSAGES, _TERMS)),
    ]
    with only_vault(home) as database:
        for sql, count in steps:
            database.write(lambda tx, sql=sql, count=count: _run(tx, sql, count, grace))
        database.erase_remains()


def _run(tx: Tx, sql: str, count: int, grace: int) -> None:
    values = {"count": count, "grace": grace}
    tx.run(sql, {name: value for name, value in values.items() if f":{name}" in sql})
