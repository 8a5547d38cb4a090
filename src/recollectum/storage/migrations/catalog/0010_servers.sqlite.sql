-- Several servers on one database: who works on what until when, and which host keeps the files of a vault.

-- The claim of the server that runs a round in a vault now, and when it runs out by itself.
ALTER TABLE rounds ADD COLUMN claim TEXT;
ALTER TABLE rounds ADD COLUMN lease_until INTEGER;

-- Locks that hold across all servers, such as one purge of a vault at a time.
CREATE TABLE leases (
    name        TEXT PRIMARY KEY,
    claim       TEXT NOT NULL,
    lease_until INTEGER NOT NULL
) STRICT;

-- The home folders that use these vaults, each of which may be on another machine.
CREATE TABLE hosts (
    id      TEXT PRIMARY KEY,
    name    TEXT NOT NULL,
    seen_at INTEGER NOT NULL
) STRICT;

-- The host that keeps notes, transcripts and LEARNINGS.md of a vault; NULL until one is known.
ALTER TABLE vaults ADD COLUMN host TEXT;
