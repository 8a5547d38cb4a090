-- Undo: how a memory stood before each change, without its words, and what the sweeps of retention did.

-- The words are in memory_versions under the version; a row goes with its memory.
CREATE TABLE undo_rows (
    number               INTEGER PRIMARY KEY,
    memory_id            TEXT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    -- The event that tells of the change; not there yet between the two statements of one.
    event                INTEGER,
    key                  TEXT,
    kind                 TEXT NOT NULL,
    importance           REAL NOT NULL,
    trust                TEXT NOT NULL,
    author               TEXT NOT NULL,
    version              INTEGER NOT NULL,
    state                TEXT NOT NULL,
    updated_at           INTEGER NOT NULL,
    valid_from           INTEGER,
    valid_to             INTEGER,
    supersedes           TEXT,
    superseded_by        TEXT,
    archive_at           INTEGER,
    retention_expires_at INTEGER,
    expires_at           INTEGER,
    deleted_at           INTEGER,
    hard_delete_at       INTEGER
) STRICT;

CREATE INDEX undo_rows_event ON undo_rows (event);
CREATE INDEX undo_rows_memory ON undo_rows (memory_id, event);

-- Of `version` only: every change of a memory writes it, and nothing else does.
CREATE TRIGGER undo_rows_kept AFTER UPDATE OF version ON memories BEGIN
    INSERT INTO undo_rows (memory_id, key, kind, importance, trust, author, version, state, updated_at, valid_from,
        valid_to, supersedes, superseded_by, archive_at, retention_expires_at, expires_at, deleted_at, hard_delete_at)
    VALUES (old.id, old.key, old.kind, old.importance, old.trust, old.author, old.version, old.state, old.updated_at,
        old.valid_from, old.valid_to, old.supersedes, old.superseded_by, old.archive_at, old.retention_expires_at,
        old.expires_at, old.deleted_at, old.hard_delete_at);
END;

CREATE TRIGGER undo_rows_told AFTER INSERT ON events WHEN new.subject = 'memory' AND new.type <> 'created' BEGIN
    UPDATE undo_rows SET event = new.number WHERE memory_id = new.subject_id AND event IS NULL;
END;

-- The events that one undo, or one restoring from the trash, wrote: they are undone together.
CREATE TABLE undo_steps (
    first   INTEGER PRIMARY KEY,
    last    INTEGER NOT NULL,
    -- The consolidation runs that it took back, or let hold again, with spaces between.
    run_ids TEXT NOT NULL
) STRICT;

-- One row for each sweep: counts, no content.
CREATE TABLE sweeps (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    at       INTEGER NOT NULL,
    state    TEXT NOT NULL CHECK (state IN ('done', 'needs_confirmation', 'held')),
    archived INTEGER NOT NULL,
    deleted  INTEGER NOT NULL,
    marked   INTEGER NOT NULL,
    purged   INTEGER NOT NULL,
    -- How many wait for a person's yes before they are destroyed.
    waiting  INTEGER NOT NULL,
    erased   INTEGER NOT NULL
) STRICT;
