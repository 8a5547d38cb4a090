-- A smaller empty vault: each table and each index takes a page even when it is empty. Indexes that no statement needs
-- go, small tables are merged, and keys are ordered so that one order serves both questions.

-- Served by the table itself, which is small, or by another index.
DROP INDEX undo_rows_event;
-- Few conversations have a checkpoint.
DROP INDEX checkpoints_session;
-- At most some thousand short rows, which are counted at every change anyway.
DROP INDEX served_blocks_at;
-- The key of a job begins with its subject.
DROP INDEX jobs_subject;

-- There are at most three generations. The coarse layer of each stands beside it; its middles, which are megabytes, do
-- not. A layer is known by its generation and by how many were begun before.
DROP INDEX generations_state;
CREATE TRIGGER generations_added BEFORE INSERT ON generations
WHEN new.state IN (SELECT state FROM generations) BEGIN
    SELECT RAISE(ABORT, 'two generations in one state');
END;
CREATE TRIGGER generations_moved BEFORE UPDATE OF state ON generations
WHEN new.state IN (SELECT state FROM generations WHERE id <> new.id) BEGIN
    SELECT RAISE(ABORT, 'two generations in one state');
END;
ALTER TABLE generations ADD COLUMN coarse INTEGER NOT NULL DEFAULT 0;
-- How many vectors there were when the middles were chosen; null where there is no layer.
ALTER TABLE generations ADD COLUMN coarse_size INTEGER;
-- How often the middles were moved.
ALTER TABLE generations ADD COLUMN coarse_rounds INTEGER NOT NULL DEFAULT 0;
-- Every vector up to this chunk that still exists has its list.
ALTER TABLE generations ADD COLUMN coarse_done INTEGER NOT NULL DEFAULT 0;
UPDATE generations
   SET coarse = coarse.id, coarse_size = coarse.size, coarse_rounds = coarse.rounds, coarse_done = coarse.done
  FROM coarse WHERE coarse.generation = generations.id;

CREATE TABLE new_middles (
    generation INTEGER PRIMARY KEY REFERENCES generations (id) ON DELETE CASCADE,
    middles    BLOB NOT NULL
) STRICT;
INSERT INTO new_middles
SELECT coarse.generation, coarse_middles.middles FROM coarse_middles JOIN coarse ON coarse.id = coarse_middles.coarse;
CREATE TABLE new_lists (
    generation INTEGER NOT NULL,
    chunk      INTEGER NOT NULL,
    list       INTEGER NOT NULL,
    PRIMARY KEY (generation, chunk),
    FOREIGN KEY (generation, chunk) REFERENCES vectors (generation, chunk) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO new_lists SELECT generation, chunk, list FROM coarse_lists;
DROP TABLE coarse_lists;
DROP TABLE coarse_middles;
DROP TABLE coarse;
ALTER TABLE new_middles RENAME TO coarse_middles;
ALTER TABLE new_lists RENAME TO coarse_lists;

-- Few places are followed, and the statement that adds one looks for its path.
CREATE TABLE new_roots (
    -- Never used again: an event names a place by it, and never by its path.
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    -- A folder or a file; absolute, with every link in it followed.
    path     TEXT NOT NULL,
    -- Set when the sessions are to be kept under another agent or channel than the files say.
    agent    TEXT,
    channel  TEXT,
    added_at INTEGER NOT NULL
) STRICT;
INSERT INTO new_roots SELECT number, path, agent, channel, added_at FROM transcript_roots;
DELETE FROM sqlite_sequence WHERE name = 'new_roots';
INSERT INTO sqlite_sequence (name, seq) SELECT 'new_roots', seq FROM sqlite_sequence WHERE name = 'transcript_roots';
CREATE TABLE new_files (
    path       TEXT PRIMARY KEY,
    root       INTEGER NOT NULL REFERENCES new_roots (number) ON DELETE CASCADE,
    identity   TEXT NOT NULL,
    size       INTEGER NOT NULL,
    mtime      INTEGER NOT NULL,
    read_to    INTEGER NOT NULL,
    lines      INTEGER NOT NULL,
    head       TEXT NOT NULL,
    tail       TEXT NOT NULL,
    form       TEXT,
    session_id TEXT,
    synced_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO new_files
SELECT path, root, identity, size, mtime, read_to, lines, head, tail, form, session_id, synced_at FROM transcript_files;
DROP TABLE transcript_files;
DROP TABLE transcript_roots;
ALTER TABLE new_roots RENAME TO transcript_roots;
ALTER TABLE new_files RENAME TO transcript_files;

-- What goes with a session is found by it; the imports themselves are few.
CREATE TABLE new_imports (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    id         TEXT NOT NULL,
    first      INTEGER NOT NULL,
    last       INTEGER NOT NULL,
    by         TEXT NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (session_id, id, first)
) STRICT, WITHOUT ROWID;
INSERT INTO new_imports SELECT session_id, id, first, last, by, at FROM imports;
DROP TABLE imports;
ALTER TABLE new_imports RENAME TO imports;

-- The rows of a memory are found by the messages that it came from.
CREATE TABLE new_barred (
    message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    start      INTEGER NOT NULL,
    stop       INTEGER NOT NULL,
    memory_id  TEXT NOT NULL,
    PRIMARY KEY (message_id, start, stop, memory_id)
) STRICT, WITHOUT ROWID;
INSERT INTO new_barred SELECT message_id, start, stop, memory_id FROM barred;
DROP TABLE barred;
ALTER TABLE new_barred RENAME TO barred;

CREATE TABLE new_versions (
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
) STRICT, WITHOUT ROWID;
INSERT INTO new_versions
SELECT memory_id, version, content, key, kind, importance, valid_from, valid_to, recorded_at, replaced_at, author
  FROM memory_versions;
DROP TABLE memory_versions;
ALTER TABLE new_versions RENAME TO memory_versions;

-- Messages and memories that a quarantine covers: a message by one at most. A row goes with its item.
CREATE TABLE quarantined (
    item          TEXT NOT NULL,
    quarantine_id TEXT NOT NULL,
    -- 1 for a memory, 0 for a message.
    memory        INTEGER NOT NULL,
    PRIMARY KEY (item, quarantine_id)
) STRICT, WITHOUT ROWID;
INSERT INTO quarantined SELECT message_id, quarantine_id, 0 FROM quarantined_messages;
INSERT INTO quarantined SELECT memory_id, quarantine_id, 1 FROM quarantined_memories;
DROP TABLE quarantined_messages;
DROP TABLE quarantined_memories;

-- Profiles are derived: one that is asked for again is made again, and kept in meta. What was taken out of a
-- conversation must not live on in its summary, and a destroyed memory leaves nothing of itself in a profile.
DROP TRIGGER summaries_outlived;
DROP TRIGGER profiles_outlived;
DROP TABLE profiles;
CREATE TRIGGER messages_deleted AFTER DELETE ON messages BEGIN
    DELETE FROM summaries WHERE session_id = old.session_id AND covered_to >= old.position;
    DELETE FROM quarantined WHERE item = old.id;
END;
-- The columns are those of the table, in its order; a list of their names would be stored in every vault.
DROP TRIGGER undo_rows_kept;
CREATE TRIGGER undo_rows_kept AFTER UPDATE OF version ON memories BEGIN
    INSERT INTO undo_rows VALUES (NULL, old.id, NULL, old.key, old.kind, old.importance, old.trust, old.author, old.version,
        old.state, old.updated_at, old.valid_from, old.valid_to, old.supersedes, old.superseded_by, old.archive_at,
        old.retention_expires_at, old.expires_at, old.deleted_at, old.hard_delete_at);
END;
CREATE TRIGGER memories_deleted AFTER DELETE ON memories BEGIN
    DELETE FROM meta WHERE name >= 'profile:' AND name < 'profile;';
    DELETE FROM quarantined WHERE item = old.id;
END;

-- The events that one undo wrote: under the first of them, the last one and the runs that it took back or let hold again.
INSERT INTO meta SELECT format('undo:%019d', first), last || ' ' || run_ids FROM undo_steps;
DROP TABLE undo_steps;

-- What a learnings file showed after the last sync is read and written whole: the memory, the category, the digest of the
-- text and the day of each line, under the agent, or under nothing for what all agents of the person share.
INSERT INTO meta
SELECT 'lines:' || agent, json_group_array(json_array(memory_id, category, digest, day) ORDER BY position)
  FROM learning_lines GROUP BY agent;
DROP TABLE learning_lines;

-- A day that somebody wrote before a learning; it holds while the memory was last changed at `day_at`.
ALTER TABLE memories ADD COLUMN day TEXT;
ALTER TABLE memories ADD COLUMN day_at INTEGER;
UPDATE memories SET day = learning_days.day, day_at = learning_days.at
  FROM learning_days WHERE learning_days.memory_id = memories.id;
DROP TABLE learning_days;
DELETE FROM seals WHERE source = 'learning_days'
    OR (source = 'memories' AND number IN (SELECT number FROM memories WHERE day IS NOT NULL));
DELETE FROM meta WHERE name = 'sealed';

-- A purge that is not done stands in meta, and one that is done has its receipt in the catalog.
INSERT INTO meta
SELECT 'purge:' || id, json_object('kind', kind, 'digest', digest, 'by', by, 'at', at, 'state', state, 'counts', json(counts))
  FROM purges WHERE state <> 'done';
CREATE TABLE new_items (
    purge_id TEXT NOT NULL,
    -- 1 memory, 2 message, 3 session, 4 note folder, 5 transcript place, 6 memory that loses words it came from.
    rank     INTEGER NOT NULL,
    item     TEXT NOT NULL,
    PRIMARY KEY (purge_id, rank, item)
) STRICT, WITHOUT ROWID;
INSERT INTO new_items SELECT purge_id, rank, item FROM purge_items;
CREATE TABLE new_samples (
    purge_id TEXT NOT NULL,
    digest   TEXT NOT NULL,
    bits     TEXT NOT NULL,
    PRIMARY KEY (purge_id, digest)
) STRICT, WITHOUT ROWID;
INSERT INTO new_samples SELECT purge_id, digest, bits FROM purge_samples;
DROP TABLE purge_items;
DROP TABLE purge_samples;
DROP TABLE purges;
ALTER TABLE new_items RENAME TO purge_items;
ALTER TABLE new_samples RENAME TO purge_samples;

-- What a person said no to is not taken in again either: its digest stands among the ids that are not.
INSERT INTO erased SELECT fingerprint FROM rejected;
DROP TABLE rejected;

-- What a proposal is about, each found by its id: the session and the messages that it quotes, the memory that came of
-- it, and the memories that it would change, with their order and how each read when it was made.
CREATE TABLE new_proposals (
    id          TEXT PRIMARY KEY,
    run_id      TEXT,
    -- It quotes the conversation it came from, and goes with it.
    session_id  TEXT,
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
INSERT INTO new_proposals
SELECT id, run_id, session_id, act, content, kind, importance, key, reason, trust, by, certain, spans, fingerprint,
       decision, created_at, decided_at, decided_by, memory_id
  FROM proposals;
CREATE TABLE proposal_items (
    proposal_id TEXT NOT NULL REFERENCES new_proposals (id) ON DELETE CASCADE,
    item        TEXT NOT NULL,
    number      INTEGER,
    version     INTEGER,
    PRIMARY KEY (proposal_id, item)
) STRICT, WITHOUT ROWID;
INSERT INTO proposal_items SELECT proposal_id, memory_id, min(number), version FROM proposal_targets
 GROUP BY proposal_id, memory_id;
INSERT OR IGNORE INTO proposal_items
SELECT id, session_id, NULL, NULL FROM proposals WHERE session_id IS NOT NULL
UNION
SELECT id, memory_id, NULL, NULL FROM proposals WHERE memory_id IS NOT NULL
UNION
SELECT proposals.id, span.value ->> 0, NULL, NULL FROM proposals, json_each(proposals.spans) AS span;
DROP TABLE proposal_targets;
DROP TABLE proposals;
ALTER TABLE new_proposals RENAME TO proposals;
CREATE UNIQUE INDEX proposals_waiting ON proposals (fingerprint) WHERE decision = 'waiting';
CREATE INDEX proposal_items_item ON proposal_items (item);
CREATE TRIGGER sessions_deleted AFTER DELETE ON sessions BEGIN
    DELETE FROM proposals WHERE id IN (SELECT proposal_id FROM proposal_items WHERE item = old.id);
END;
