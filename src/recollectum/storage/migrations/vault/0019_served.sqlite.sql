-- Keyed digests of what memory served last, by which an echo is known that has lost its marks. The oldest go first.
CREATE TABLE served_blocks (
    -- Of all lines of a block, and of its first two.
    digest BLOB PRIMARY KEY,
    head   BLOB NOT NULL,
    lines  INTEGER NOT NULL,
    -- The memory or message that it is made from; empty when it is made from several.
    source TEXT NOT NULL,
    at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX served_blocks_at ON served_blocks (at);
CREATE INDEX served_blocks_source ON served_blocks (source);
