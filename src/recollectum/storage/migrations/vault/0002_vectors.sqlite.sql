-- Search by meaning: one vector for each chunk and generation. Derived, and as private as the text.

-- A generation is one embedder's view of the vault. Recall answers from the current one; a new one is built beside it.
CREATE TABLE generations (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Everything two vectors must share before they may be compared.
    identity     TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('building', 'current', 'previous')),
    -- Every chunk up to this number that still exists has its vector.
    done         INTEGER NOT NULL DEFAULT 0,
    -- How many vectors were taken out again; a reader that holds many of them loads anew.
    removed      INTEGER NOT NULL DEFAULT 0,
    created_at   INTEGER NOT NULL,
    swapped_at   INTEGER
) STRICT;

CREATE UNIQUE INDEX generations_state ON generations (state);

CREATE TABLE vectors (
    generation INTEGER NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
    chunk      INTEGER NOT NULL,
    -- One signed byte for each dimension.
    data       BLOB NOT NULL,
    PRIMARY KEY (generation, chunk)
) STRICT, WITHOUT ROWID;

-- Vectors of texts that were embedded before, for the next generation of the same model or a text that comes again.
CREATE TABLE embedding_cache (
    text_hash BLOB NOT NULL,
    model     BLOB NOT NULL,
    data      BLOB NOT NULL,
    used_at   INTEGER NOT NULL,
    PRIMARY KEY (text_hash, model)
) STRICT, WITHOUT ROWID;

CREATE INDEX embedding_cache_used ON embedding_cache (used_at);

-- What a turn is worth as an answer, worked out when it is embedded: words that tell rather than ask, whether it speaks
-- of its speaker, and how much of it was said shortly before.
ALTER TABLE chunks ADD COLUMN told INTEGER;
ALTER TABLE chunks ADD COLUMN own INTEGER;
ALTER TABLE chunks ADD COLUMN echo REAL;

-- A question that names a speaker is matched against who spoke.
CREATE INDEX messages_speaker ON messages (speaker COLLATE NOCASE) WHERE speaker IS NOT NULL;
