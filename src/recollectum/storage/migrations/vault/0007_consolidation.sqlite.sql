-- From what was said to what is known: work that is to be done, what a run did, what waits for a person, and the words
-- that each memory came from.

CREATE TABLE jobs (
    id          TEXT PRIMARY KEY,
    kind        TEXT NOT NULL,
    -- What it is about: a session's id.
    subject     TEXT NOT NULL,
    -- The same for the same work, which is therefore never done twice.
    idempotency TEXT NOT NULL UNIQUE,
    state       TEXT NOT NULL CHECK (state IN ('waiting', 'claimed', 'done', 'failed')),
    -- Not worked on before this time.
    not_before  INTEGER NOT NULL,
    -- Who works on it, and until when nobody else may.
    claim       TEXT,
    lease_until INTEGER,
    attempts    INTEGER NOT NULL,
    -- What ended the last attempt, in words without content.
    trouble     TEXT,
    created_at  INTEGER NOT NULL,
    done_at     INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX jobs_open ON jobs (kind, not_before) WHERE state IN ('waiting', 'claimed');
CREATE INDEX jobs_subject ON jobs (subject);

CREATE TABLE runs (
    id               TEXT PRIMARY KEY,
    session_id       TEXT NOT NULL,
    -- It read what follows the first position, up to and with the second.
    from_position    INTEGER NOT NULL,
    through_position INTEGER NOT NULL,
    -- A model, or `rules`.
    by               TEXT NOT NULL,
    added            INTEGER NOT NULL,
    updated          INTEGER NOT NULL,
    superseded       INTEGER NOT NULL,
    renewed          INTEGER NOT NULL,
    proposed         INTEGER NOT NULL,
    ignored          INTEGER NOT NULL,
    at               INTEGER NOT NULL,
    reverted_at      INTEGER,
    UNIQUE (session_id, through_position)
) STRICT, WITHOUT ROWID;

-- What a run did to memories, by id and version, so that it can be taken back.
CREATE TABLE run_effects (
    run_id    TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number    INTEGER NOT NULL,
    act       TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    -- The version that the effect made, and the memory that it put an end to.
    version   INTEGER NOT NULL,
    target_id TEXT,
    PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;

-- The words that a memory came from; gone with their message.
CREATE TABLE citations (
    memory_id  TEXT NOT NULL,
    message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    start      INTEGER NOT NULL,
    stop       INTEGER NOT NULL,
    run_id     TEXT,
    PRIMARY KEY (memory_id, message_id, start, stop)
) STRICT, WITHOUT ROWID;

CREATE INDEX citations_message ON citations (message_id);

-- The words of memories that were forgotten, which are not learned from again.
CREATE TABLE barred (
    memory_id  TEXT NOT NULL,
    message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    start      INTEGER NOT NULL,
    stop       INTEGER NOT NULL,
    PRIMARY KEY (memory_id, message_id, start, stop)
) STRICT, WITHOUT ROWID;

CREATE INDEX barred_message ON barred (message_id);

CREATE TABLE proposals (
    id          TEXT PRIMARY KEY,
    run_id      TEXT,
    -- It quotes the conversation it came from, and goes with it.
    session_id  TEXT REFERENCES sessions (id) ON DELETE CASCADE,
    act         TEXT NOT NULL,
    content     TEXT NOT NULL,
    kind        TEXT NOT NULL,
    importance  REAL NOT NULL,
    key         TEXT,
    reason      TEXT NOT NULL,
    trust       TEXT NOT NULL,
    by          TEXT NOT NULL,
    certain     INTEGER NOT NULL,
    spans       TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    decision    TEXT NOT NULL CHECK (decision IN ('waiting', 'approved', 'rejected', 'stale')),
    created_at  INTEGER NOT NULL,
    decided_at  INTEGER,
    decided_by  TEXT,
    -- The memory that came of it.
    memory_id   TEXT
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX proposals_waiting ON proposals (fingerprint) WHERE decision = 'waiting';
CREATE INDEX proposals_decision ON proposals (decision, id);
CREATE INDEX proposals_session ON proposals (session_id);
CREATE INDEX proposals_memory ON proposals (memory_id) WHERE memory_id IS NOT NULL;

-- The memories that a proposal would change, and how each read when it was made.
CREATE TABLE proposal_targets (
    proposal_id TEXT NOT NULL REFERENCES proposals (id) ON DELETE CASCADE,
    number      INTEGER NOT NULL,
    memory_id   TEXT NOT NULL,
    version     INTEGER NOT NULL,
    PRIMARY KEY (proposal_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX proposal_targets_memory ON proposal_targets (memory_id);

-- What a person said no to, by a digest: it is kept when the proposal itself goes with its conversation.
CREATE TABLE rejected (
    fingerprint TEXT PRIMARY KEY,
    at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
