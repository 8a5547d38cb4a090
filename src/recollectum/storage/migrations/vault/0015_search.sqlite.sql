-- The middles of a coarse layer are megabytes. Beside how far it has come they were read at every question, and written
-- again at every step.
CREATE TABLE coarse_middles (
    coarse  INTEGER PRIMARY KEY REFERENCES coarse (id) ON DELETE CASCADE,
    -- The middle of each list, as float32 of length 1.
    middles BLOB NOT NULL
) STRICT;

INSERT INTO coarse_middles SELECT id, middles FROM coarse;
ALTER TABLE coarse DROP COLUMN middles;
