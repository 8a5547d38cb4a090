-- Two people who turned out to be one: who was merged into whom, and what moved, so that it can be undone.

CREATE TABLE merges (
    id        TEXT PRIMARY KEY,
    kept      TEXT NOT NULL REFERENCES people (owner) ON DELETE CASCADE,
    merged    TEXT NOT NULL REFERENCES people (owner) ON DELETE CASCADE,
    merged_at INTEGER NOT NULL,
    merged_by TEXT NOT NULL,
    undone_at INTEGER,
    undone_by TEXT
) STRICT, WITHOUT ROWID;

-- Nobody is part of two others at a time.
CREATE UNIQUE INDEX merges_standing ON merges (merged) WHERE undone_at IS NULL;

-- By reference and never by copy: what is taken away later is gone from here too, and an undo does not bring it back.
CREATE TABLE merge_moves (
    merge_id TEXT NOT NULL REFERENCES merges (id) ON DELETE CASCADE,
    identity TEXT REFERENCES identities (identity) ON DELETE CASCADE,
    grant_id TEXT REFERENCES grants (id) ON DELETE CASCADE,
    key_id   TEXT REFERENCES api_keys (id) ON DELETE CASCADE,
    CHECK ((identity IS NOT NULL) + (grant_id IS NOT NULL) + (key_id IS NOT NULL) = 1)
) STRICT;

CREATE INDEX merge_moves_merge ON merge_moves (merge_id);
CREATE INDEX merge_moves_identity ON merge_moves (identity) WHERE identity IS NOT NULL;
CREATE INDEX merge_moves_grant ON merge_moves (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX merge_moves_key ON merge_moves (key_id) WHERE key_id IS NOT NULL;
