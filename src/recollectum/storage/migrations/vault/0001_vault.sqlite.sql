-- One person's vault: what was said, what is remembered, and what happened to it.
-- Times are microseconds since 1970, UTC. `number` is a row's place in the order of writing.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    id             TEXT PRIMARY KEY,
    key            TEXT NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    ended_at       INTEGER,
    title          TEXT,
    summary        TEXT,
    project        TEXT,
    imported       INTEGER NOT NULL,
    message_count  INTEGER NOT NULL,
    token_estimate INTEGER NOT NULL,
    extra          TEXT
) STRICT, WITHOUT ROWID;

-- At most one session is open under a key; what was imported is read, never resumed.
CREATE UNIQUE INDEX sessions_open ON sessions (key) WHERE ended_at IS NULL AND imported = 0;
CREATE INDEX sessions_key ON sessions (key, updated_at);

CREATE TABLE messages (
    number         INTEGER PRIMARY KEY,
    id             TEXT NOT NULL UNIQUE,
    session_id     TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    position       INTEGER NOT NULL,
    role           TEXT NOT NULL,
    created_at     INTEGER NOT NULL,
    text           TEXT NOT NULL,
    parts          TEXT,
    tool_calls     TEXT,
    thoughts       TEXT,
    tokens         TEXT,
    token_estimate INTEGER NOT NULL,
    model          TEXT,
    native_id      TEXT,
    speaker        TEXT,
    trust          TEXT NOT NULL,
    extra          TEXT,
    UNIQUE (session_id, position)
) STRICT;

CREATE UNIQUE INDEX messages_native ON messages (session_id, native_id) WHERE native_id IS NOT NULL;

CREATE TABLE memories (
    number               INTEGER PRIMARY KEY,
    id                   TEXT NOT NULL UNIQUE,
    content              TEXT NOT NULL,
    key                  TEXT,
    kind                 TEXT NOT NULL,
    importance           REAL NOT NULL,
    trust                TEXT NOT NULL,
    author               TEXT NOT NULL,
    agent                TEXT,
    message_id           TEXT,
    version              INTEGER NOT NULL,
    state                TEXT NOT NULL,
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL,
    valid_from           INTEGER,
    valid_to             INTEGER,
    supersedes           TEXT,
    superseded_by        TEXT,
    archive_at           INTEGER,
    retention_expires_at INTEGER,
    expires_at           INTEGER,
    deleted_at           INTEGER,
    hard_delete_at       INTEGER,
    -- Equal for two texts that say the same; as private as the text itself.
    fingerprint          TEXT NOT NULL,
    -- The earliest time at which the life cycle has something to do with the row.
    due_at               INTEGER
) STRICT;

CREATE UNIQUE INDEX memories_key ON memories (key) WHERE key IS NOT NULL AND state = 'active';
CREATE INDEX memories_fingerprint ON memories (fingerprint);
CREATE INDEX memories_due ON memories (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE memory_versions (
    memory_id   TEXT NOT NULL,
    version     INTEGER NOT NULL,
    content     TEXT NOT NULL,
    key         TEXT,
    kind        TEXT NOT NULL,
    importance  REAL NOT NULL,
    valid_from  INTEGER,
    valid_to    INTEGER,
    recorded_at INTEGER NOT NULL,
    replaced_at INTEGER NOT NULL,
    author      TEXT NOT NULL,
    PRIMARY KEY (memory_id, version)
) STRICT;

CREATE TABLE events (
    number     INTEGER PRIMARY KEY,
    at         INTEGER NOT NULL,
    type       TEXT NOT NULL,
    subject    TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    actor      TEXT NOT NULL,
    state      TEXT,
    payload    TEXT
) STRICT;

CREATE INDEX events_subject ON events (subject_id, number);

-- Derived: may be dropped and rebuilt from the rows above. A number is never used again: what another
-- process still holds under it must not be taken for a newer text.
CREATE TABLE chunks (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    source        TEXT NOT NULL,
    source_number INTEGER NOT NULL,
    start         INTEGER NOT NULL,
    stop          INTEGER NOT NULL
) STRICT;

CREATE INDEX chunks_source ON chunks (source, source_number);

CREATE VIRTUAL TABLE search USING fts5 (
    terms,
    content = '',
    contentless_delete = 1,
    tokenize = 'porter unicode61 remove_diacritics 2'
);
