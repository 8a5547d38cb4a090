-- The marks of the last writes of each vault and of the catalog: a program whose COMMIT was not answered looks for its own.

ALTER TABLE vault_state ADD COLUMN recent_writes bigint[] NOT NULL DEFAULT '{}';

CREATE TABLE catalog_writes (
    one           bigint NOT NULL PRIMARY KEY CHECK (one = 1),
    writes        bigint NOT NULL,
    recent_writes bigint[] NOT NULL
) WITH (fillfactor = 70);

INSERT INTO catalog_writes (one, writes, recent_writes) VALUES (1, 0, '{}');

GRANT SELECT, UPDATE ON catalog_writes TO recollectum_application;
