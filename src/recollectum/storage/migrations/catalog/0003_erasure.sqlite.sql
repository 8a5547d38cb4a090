-- Erasure: what was erased, by keyed digests alone, the receipts of it, and who is on their way out.

-- The salt of the digests and the seed of the signing key; as private as the catalog.
CREATE TABLE erasure_secrets (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- It outlives the vault: a copy that is put back is known by it, and what was erased goes again.
CREATE TABLE erased (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Of the vault, and of one thing in it.
    vault  BLOB NOT NULL,
    digest BLOB NOT NULL,
    at     INTEGER NOT NULL,
    UNIQUE (vault, digest)
) STRICT;

CREATE TABLE receipts (
    id        TEXT PRIMARY KEY,
    -- The digest of the vault, as above.
    vault     BLOB NOT NULL,
    state     TEXT NOT NULL CHECK (state IN ('pending', 'done', 'failed')),
    body      TEXT NOT NULL,
    signature BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- A person whose vaults are being destroyed; the row goes when nothing is left of them.
CREATE TABLE departures (
    person TEXT PRIMARY KEY,
    id     TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL,
    by     TEXT NOT NULL,
    at     INTEGER NOT NULL,
    vaults TEXT NOT NULL,
    counts TEXT NOT NULL
) STRICT, WITHOUT ROWID;
