-- The catalog: who has a vault here, under which addresses, keys and grants, and how far each vault is. It holds no memory
-- and no row-level security: a server asks it which vault a request is for.

-- What is encrypted before it is sent, under the key of the catalog: `sealed` with a random nonce, `bytea` so that equal
-- values are equal and can be compared.
CREATE DOMAIN sealed AS bytea;

CREATE TABLE counters (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    last bigint NOT NULL
);

-- Locks the counter until the transaction ends, so that the order of the numbers is the order of the commits.
CREATE FUNCTION next_number(counted text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    kept text := current_setting('recollectum.catalog_last_' || counted, true);
    number bigint;
BEGIN
    IF kept <> '' THEN
        number := kept::bigint + 1;
    ELSE
        INSERT INTO counters (name, last) VALUES (counted, 0) ON CONFLICT (name) DO UPDATE SET last = counters.last
        RETURNING last + 1 INTO number;
    END IF;
    PERFORM set_config('recollectum.catalog_last_' || counted, number::text, true);
    RETURN number;
END
$$;

-- After each statement: keeps the highest number that it used, and gives back those of rows that were not inserted.
CREATE FUNCTION keep_number() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    used bigint := (SELECT max(number) FROM added);
BEGIN
    IF used IS NOT NULL THEN
        INSERT INTO counters (name, last) VALUES (TG_TABLE_NAME, used)
        ON CONFLICT (name) DO UPDATE SET last = greatest(counters.last, excluded.last);
    END IF;
    PERFORM set_config('recollectum.catalog_last_' || TG_TABLE_NAME, '', true);
    RETURN NULL;
END
$$;

CREATE FUNCTION keep_vault() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    used bigint := (SELECT max(vault) FROM added);
BEGIN
    IF used IS NOT NULL THEN
        UPDATE counters SET last = greatest(last, used) WHERE name = TG_TABLE_NAME;
    END IF;
    PERFORM set_config('recollectum.catalog_last_' || TG_TABLE_NAME, '', true);
    RETURN NULL;
END
$$;

-- The number of each vault in the tables of all vaults, and how often it was written. Each write begins with an update of
-- this row, which makes it the only writer of its vault.
CREATE TABLE vault_state (
    vault         bigint NOT NULL DEFAULT next_number('vault_state') PRIMARY KEY,
    vault_id      text COLLATE "C" NOT NULL UNIQUE,
    changes       bigint NOT NULL DEFAULT 0,
    last_write_at bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);

CREATE TABLE tenants (
    name           bytea NOT NULL,
    created_at     bigint NOT NULL,
    retention_days text COLLATE "C" NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE people (
    owner      bytea NOT NULL,
    skeleton   bytea NOT NULL,
    tenant     bytea NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (owner),
    UNIQUE (skeleton),
    FOREIGN KEY (tenant) REFERENCES tenants (name)
);

CREATE TABLE identities (
    identity bytea NOT NULL,
    owner    bytea NOT NULL,
    PRIMARY KEY (identity),
    FOREIGN KEY (owner) REFERENCES people (owner) ON DELETE CASCADE
);

CREATE TABLE vaults (
    owner      bytea NOT NULL,
    id         text COLLATE "C" NOT NULL,
    encrypted  bigint NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (owner),
    UNIQUE (id)
);

CREATE TABLE api_keys (
    id          text COLLATE "C" NOT NULL,
    digest      bytea NOT NULL,
    owner       bytea NOT NULL,
    permissions text COLLATE "C" NOT NULL,
    created_at  bigint NOT NULL,
    revoked_at  bigint,
    revoked     bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (id),
    UNIQUE (digest),
    FOREIGN KEY (owner) REFERENCES people (owner) ON DELETE CASCADE
);

CREATE TABLE grants (
    id         text COLLATE "C" NOT NULL,
    grantee    bytea NOT NULL,
    owner      bytea NOT NULL,
    permission text COLLATE "C" NOT NULL,
    scope      text COLLATE "C" NOT NULL,
    session_id text COLLATE "C",
    created_at bigint NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY (grantee) REFERENCES people (owner) ON DELETE CASCADE
);

CREATE TABLE merges (
    id        text COLLATE "C" NOT NULL,
    kept      bytea NOT NULL,
    merged    bytea NOT NULL,
    merged_at bigint NOT NULL,
    merged_by bytea NOT NULL,
    undone_at bigint,
    undone_by bytea,
    PRIMARY KEY (id),
    FOREIGN KEY (kept) REFERENCES people (owner) ON DELETE CASCADE,
    FOREIGN KEY (merged) REFERENCES people (owner) ON DELETE CASCADE
);

CREATE TABLE merge_moves (
    merge_id text COLLATE "C" NOT NULL,
    identity bytea,
    grant_id text COLLATE "C",
    key_id   text COLLATE "C",
    FOREIGN KEY (merge_id) REFERENCES merges (id) ON DELETE CASCADE,
    FOREIGN KEY (identity) REFERENCES identities (identity) ON DELETE CASCADE,
    FOREIGN KEY (grant_id) REFERENCES grants (id) ON DELETE CASCADE,
    FOREIGN KEY (key_id) REFERENCES api_keys (id) ON DELETE CASCADE,
    CHECK (num_nonnulls(identity, grant_id, key_id) = 1)
);

CREATE TABLE erasure_secrets (
    name  text COLLATE "C" NOT NULL,
    value sealed NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE erased (
    number bigint NOT NULL DEFAULT next_number('erased'),
    vault  bytea NOT NULL,
    digest bytea NOT NULL,
    at     bigint NOT NULL,
    PRIMARY KEY (number),
    UNIQUE (vault, digest)
);

CREATE TABLE departures (
    person bytea NOT NULL,
    id     text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    by     sealed NOT NULL,
    at     bigint NOT NULL,
    vaults sealed NOT NULL,
    counts text COLLATE "C" NOT NULL,
    PRIMARY KEY (person),
    UNIQUE (id)
);

CREATE TABLE key_owners (
    key_id text COLLATE "C" NOT NULL,
    owner  bytea NOT NULL,
    PRIMARY KEY (key_id, owner),
    FOREIGN KEY (key_id) REFERENCES api_keys (id) ON DELETE CASCADE,
    FOREIGN KEY (owner) REFERENCES people (owner) ON DELETE CASCADE
);

CREATE TABLE repeats (
    digest   bytea NOT NULL,
    owner    bytea NOT NULL,
    request  sealed NOT NULL,
    begun_at bigint NOT NULL,
    answer   sealed,
    PRIMARY KEY (digest),
    FOREIGN KEY (owner) REFERENCES people (owner) ON DELETE CASCADE
);

CREATE TABLE rounds (
    name          text COLLATE "C" NOT NULL,
    vault         text COLLATE "C",
    every_seconds double precision NOT NULL,
    started_at    bigint NOT NULL,
    finished_at   bigint NOT NULL,
    next_at       bigint NOT NULL,
    failures      bigint NOT NULL,
    counts        text COLLATE "C" NOT NULL,
    trouble       sealed,
    seen          text COLLATE "C" NOT NULL,
    FOREIGN KEY (vault) REFERENCES vaults (id) ON DELETE CASCADE
);

CREATE TABLE latest_time (
    one bigint NOT NULL,
    at  bigint NOT NULL,
    PRIMARY KEY (one),
    CHECK (one = 1)
);

CREATE TABLE receipts (
    id        text COLLATE "C" NOT NULL,
    vault     bytea NOT NULL,
    state     text COLLATE "C" NOT NULL,
    body      sealed NOT NULL,
    signature sealed NOT NULL,
    PRIMARY KEY (id),
    CHECK (state IN ('pending', 'unverified', 'done', 'failed'))
);

CREATE TABLE purge_samples (
    purge_id text COLLATE "C" NOT NULL,
    digest   text COLLATE "C" NOT NULL,
    bits     text COLLATE "C" NOT NULL,
    PRIMARY KEY (purge_id, digest)
);

CREATE TABLE backups_elsewhere (
    place   bytea NOT NULL,
    made_at bigint NOT NULL,
    vaults  text COLLATE "C" NOT NULL,
    PRIMARY KEY (place)
);

CREATE TABLE vault_marks (
    vault          text COLLATE "C" NOT NULL,
    events         bigint NOT NULL,
    texts          bigint NOT NULL,
    missing_events bigint NOT NULL DEFAULT 0,
    missing_texts  bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (vault),
    FOREIGN KEY (vault) REFERENCES vaults (id) ON DELETE CASCADE
);

CREATE TABLE catalog_changes (
    one     bigint NOT NULL,
    made    bigint NOT NULL,
    missing bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (one),
    CHECK (one = 1)
);

CREATE INDEX identities_owner ON identities (owner);
CREATE INDEX grants_grantee ON grants (grantee);
CREATE UNIQUE INDEX merges_standing ON merges (merged) WHERE undone_at IS NULL;
CREATE INDEX merge_moves_merge ON merge_moves (merge_id);
CREATE INDEX merge_moves_identity ON merge_moves (identity) WHERE identity IS NOT NULL;
CREATE INDEX merge_moves_grant ON merge_moves (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX merge_moves_key ON merge_moves (key_id) WHERE key_id IS NOT NULL;
CREATE INDEX key_owners_owner ON key_owners (owner);
CREATE INDEX repeats_owner ON repeats (owner);
CREATE INDEX repeats_begun ON repeats (begun_at);
CREATE UNIQUE INDEX rounds_place ON rounds (name, coalesce(vault, ''));
CREATE INDEX rounds_vault ON rounds (vault) WHERE vault IS NOT NULL;

INSERT INTO catalog_changes (one, made) VALUES (1, 0);

CREATE TRIGGER erased_numbered AFTER INSERT ON erased REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION keep_number();
CREATE TRIGGER vault_state_numbered AFTER INSERT ON vault_state REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION keep_vault();

GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA recollectum_catalog TO recollectum_application;
REVOKE INSERT, UPDATE, DELETE ON migrations FROM recollectum_application;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA recollectum_catalog FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA recollectum_catalog TO recollectum_application;
