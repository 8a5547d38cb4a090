-- How far each vault was when it was last seen: a file that is put back from an older copy is noticed by it.

CREATE TABLE vault_marks (
    vault          TEXT PRIMARY KEY REFERENCES vaults (id) ON DELETE CASCADE,
    -- The number of the last event, and of the last piece of text.
    events         INTEGER NOT NULL,
    texts          INTEGER NOT NULL,
    -- What an older file lacked, until a person has settled it.
    missing_events INTEGER NOT NULL DEFAULT 0,
    missing_texts  INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
