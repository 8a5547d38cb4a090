-- The catalog: who has a vault here, under which addresses, keys and grants. It holds no memory.

CREATE TABLE tenants (
    name           TEXT PRIMARY KEY,
    created_at     INTEGER NOT NULL,
    retention_days TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE people (
    owner      TEXT PRIMARY KEY,
    -- What the name looks like; two people never look alike.
    skeleton   TEXT NOT NULL UNIQUE,
    tenant     TEXT NOT NULL REFERENCES tenants (name),
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE identities (
    identity TEXT PRIMARY KEY,
    owner    TEXT NOT NULL REFERENCES people (owner) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX identities_owner ON identities (owner);

CREATE TABLE vaults (
    owner      TEXT PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    encrypted  INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
    id          TEXT PRIMARY KEY,
    digest      BLOB NOT NULL UNIQUE,
    owner       TEXT NOT NULL REFERENCES people (owner) ON DELETE CASCADE,
    permissions TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    revoked_at  INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE grants (
    id         TEXT PRIMARY KEY,
    grantee    TEXT NOT NULL REFERENCES people (owner) ON DELETE CASCADE,
    owner      TEXT NOT NULL,
    permission TEXT NOT NULL,
    scope      TEXT NOT NULL,
    session_id TEXT,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX grants_grantee ON grants (grantee);
