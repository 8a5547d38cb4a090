-- Erasure: purges that are under way, and the ids that are not taken in again.

CREATE TABLE purges (
    id     TEXT PRIMARY KEY,
    kind   TEXT NOT NULL,
    -- Of the request.
    digest TEXT NOT NULL,
    by     TEXT NOT NULL,
    at     INTEGER NOT NULL,
    state  TEXT NOT NULL CHECK (state IN ('begun', 'pending', 'failed', 'done')),
    -- Rows by table.
    counts TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX purges_open ON purges (id) WHERE state IN ('begun', 'pending');

-- What is still to be destroyed, by id; each goes in the transaction that destroys it.
CREATE TABLE purge_items (
    purge_id TEXT NOT NULL REFERENCES purges (id) ON DELETE CASCADE,
    -- 1 memory, 2 message, 3 session, 4 note folder, 5 transcript place, 6 memory that loses words it came from.
    rank     INTEGER NOT NULL,
    item     TEXT NOT NULL,
    PRIMARY KEY (purge_id, rank, item)
) STRICT, WITHOUT ROWID;

CREATE TABLE erased (
    id TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TRIGGER sessions_erased BEFORE INSERT ON sessions WHEN EXISTS (SELECT 1 FROM erased WHERE id = new.id) BEGIN
    SELECT RAISE(ABORT, 'this session was erased for good, and is not taken in again');
END;

CREATE TRIGGER messages_erased BEFORE INSERT ON messages WHEN EXISTS (SELECT 1 FROM erased WHERE id = new.id) BEGIN
    SELECT RAISE(ABORT, 'this message was erased for good, and is not taken in again');
END;

-- The copies that forks made are found by what they are copies of.
CREATE INDEX messages_copies ON messages (extra ->> '$.copy_of') WHERE extra ->> '$.copy_of' IS NOT NULL;
