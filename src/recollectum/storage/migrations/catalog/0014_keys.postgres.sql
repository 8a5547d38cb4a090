-- oldest: 0013

-- The wrapped keys of a home, in a database that `storage.keys_url` names. In the database of the vaults these tables are
-- empty: whoever has a backup of the rows has no key with it.

-- The home whose keys these are; the holders of master keys know it by this id.
CREATE TABLE home (
    one        bigint NOT NULL,
    id         text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (one),
    CHECK (one = 1)
);

-- Who holds the master key. The fingerprint is the key's; from it the key cannot be found.
CREATE TABLE holder (
    one         bigint NOT NULL,
    kind        text COLLATE "C" NOT NULL,
    detail      sealed NOT NULL,
    fingerprint sealed NOT NULL,
    chosen_at   bigint NOT NULL,
    PRIMARY KEY (one),
    CHECK (one = 1)
);

-- The master key as wrapped by the recovery code.
CREATE TABLE recovery (
    one     bigint NOT NULL,
    wrapped sealed NOT NULL,
    made_at bigint NOT NULL,
    PRIMARY KEY (one),
    CHECK (one = 1)
);

-- The key of each vault, wrapped by the master key.
CREATE TABLE vault_keys (
    vault_id text COLLATE "C" NOT NULL,
    wrapped  sealed NOT NULL,
    made_at  bigint NOT NULL,
    PRIMARY KEY (vault_id)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON home, holder, recovery, vault_keys TO recollectum_application;
