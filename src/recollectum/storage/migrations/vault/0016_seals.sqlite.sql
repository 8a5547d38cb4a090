-- Seals: a digest of each row that somebody would miss, by which a flipped bit is seen in a vault that no cipher guards.
-- Derived, written by triggers of the connection that writes, and empty in an encrypted vault.
--
-- A later step that changes rows of a sealed table in place, or its columns other than by adding one that may be null,
-- ends with a DELETE of the seals of that table and of the name `sealed` in meta; opening the vault makes them again.
CREATE TABLE seals (
    -- The table of the row.
    source TEXT NOT NULL,
    -- The row's own number, or one that is made of its key.
    number INTEGER NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (source, number)
) STRICT, WITHOUT ROWID;
