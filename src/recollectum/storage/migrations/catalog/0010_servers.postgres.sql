-- Several servers on one database: who works on what until when, and which host keeps the files of a vault.

-- The claim of the server that runs a round in a vault now, and when it runs out by itself.
ALTER TABLE rounds ADD COLUMN claim text COLLATE "C";
ALTER TABLE rounds ADD COLUMN lease_until bigint;

-- Locks that hold across all servers, such as one purge of a vault at a time.
CREATE TABLE leases (
    name        text COLLATE "C" NOT NULL,
    claim       text COLLATE "C" NOT NULL,
    lease_until bigint NOT NULL,
    PRIMARY KEY (name)
);

-- The home folders that use these vaults, each of which may be on another machine.
CREATE TABLE hosts (
    id      text COLLATE "C" NOT NULL,
    name    sealed NOT NULL,
    seen_at bigint NOT NULL,
    PRIMARY KEY (id)
);

-- The host that keeps notes, transcripts and LEARNINGS.md of a vault; NULL until one is known.
ALTER TABLE vaults ADD COLUMN host text COLLATE "C";

-- The mark of each vault, which a write changes. On SQLite it is given, because vaults are files there.
CREATE FUNCTION written(given text) RETURNS TABLE (vault text, mark text) LANGUAGE sql STABLE AS $$
    SELECT vault_id, CAST(changes AS text) FROM recollectum_catalog.vault_state
$$;

GRANT SELECT, INSERT, UPDATE, DELETE ON leases, hosts TO recollectum_application;
REVOKE EXECUTE ON FUNCTION written(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION written(text) TO recollectum_application;
