-- The rounds of upkeep: when each was last made in the home and in each vault, what came of it, and when it is next due.

CREATE TABLE rounds (
    name          TEXT NOT NULL,
    -- NULL is the home as a whole.
    vault         TEXT REFERENCES vaults (id) ON DELETE CASCADE,
    every_seconds REAL NOT NULL,
    started_at    INTEGER NOT NULL,
    finished_at   INTEGER NOT NULL,
    next_at       INTEGER NOT NULL,
    -- In a row; 0 after one that went well.
    failures      INTEGER NOT NULL,
    -- Numbers by name, never content.
    counts        TEXT NOT NULL,
    trouble       TEXT,
    -- The state of the vault's files when it was looked at: as long as it is the same, nothing was written.
    seen          TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX rounds_place ON rounds (name, coalesce(vault, ''));
CREATE INDEX rounds_vault ON rounds (vault) WHERE vault IS NOT NULL;
