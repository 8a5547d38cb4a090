-- A coarse layer over many vectors: lists of those that lie together, so that a question looks at a few. Derived from
-- the vectors, as private as they are, and gone with them.

CREATE TABLE coarse (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL UNIQUE REFERENCES generations (id) ON DELETE CASCADE,
    -- How many vectors there were when the middles were chosen; with many more it is made again.
    size       INTEGER NOT NULL,
    -- The middle of each list, as float32 of length 1.
    middles    BLOB NOT NULL,
    -- How often the middles were moved.
    rounds     INTEGER NOT NULL DEFAULT 0,
    -- Every vector up to this chunk that still exists has its list.
    done       INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE coarse_lists (
    generation INTEGER NOT NULL REFERENCES coarse (generation) ON DELETE CASCADE,
    chunk      INTEGER NOT NULL,
    list       INTEGER NOT NULL,
    PRIMARY KEY (generation, chunk),
    FOREIGN KEY (generation, chunk) REFERENCES vectors (generation, chunk) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
