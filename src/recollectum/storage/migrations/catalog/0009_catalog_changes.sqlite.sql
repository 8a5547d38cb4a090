-- How many changes were made in the catalog: a file that is put back from an older copy is noticed by it.

CREATE TABLE catalog_changes (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    made    INTEGER NOT NULL,
    -- What an older file lacked, until a person has settled it.
    missing INTEGER NOT NULL DEFAULT 0
) STRICT;

INSERT INTO catalog_changes (one, made) VALUES (1, 0);
