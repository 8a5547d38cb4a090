-- Receipts that are not verified yet, what is kept of a person's samples until then, and backups made elsewhere.

CREATE TABLE receipts_of_four_states (
    id        TEXT PRIMARY KEY,
    -- The digest of the vault.
    vault     BLOB NOT NULL,
    state     TEXT NOT NULL CHECK (state IN ('pending', 'unverified', 'done', 'failed')),
    body      TEXT NOT NULL,
    signature BLOB NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO receipts_of_four_states SELECT id, vault, state, body, signature FROM receipts;
DROP TABLE receipts;
ALTER TABLE receipts_of_four_states RENAME TO receipts;

-- One keyed bit for each byte of a sample, and a keyed digest of it; the text itself is not kept.
CREATE TABLE purge_samples (
    purge_id TEXT NOT NULL,
    digest   TEXT NOT NULL,
    bits     TEXT NOT NULL,
    PRIMARY KEY (purge_id, digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE backups_elsewhere (
    place   TEXT PRIMARY KEY,
    made_at INTEGER NOT NULL,
    -- The ids of the vaults in it, as a JSON list.
    vaults  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
