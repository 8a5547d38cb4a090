-- Whose vaults a key may touch beside its person's own, and what was asked once and must not be done twice.

CREATE TABLE key_owners (
    key_id TEXT NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
    owner  TEXT NOT NULL REFERENCES people (owner) ON DELETE CASCADE,
    PRIMARY KEY (key_id, owner)
) STRICT, WITHOUT ROWID;

CREATE INDEX key_owners_owner ON key_owners (owner);

-- By digests, and with an answer that names things by id: nothing of what was asked can be read from it.
CREATE TABLE repeats (
    digest   BLOB PRIMARY KEY,
    owner    TEXT NOT NULL REFERENCES people (owner) ON DELETE CASCADE,
    request  BLOB NOT NULL,
    begun_at INTEGER NOT NULL,
    -- NULL while it is being done, or when a process ended in the middle.
    answer   TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX repeats_owner ON repeats (owner);
CREATE INDEX repeats_begun ON repeats (begun_at);
