-- What is kept of a purge's samples until every file was searched for them.

-- One keyed bit for each byte of a sample, and a keyed digest of it; the text itself is not kept.
CREATE TABLE purge_samples (
    purge_id TEXT NOT NULL REFERENCES purges (id) ON DELETE CASCADE,
    digest   TEXT NOT NULL,
    bits     TEXT NOT NULL,
    PRIMARY KEY (purge_id, digest)
) STRICT, WITHOUT ROWID;
