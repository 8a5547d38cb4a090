-- What each import brought, so that it can be taken back whole: the messages of a session from one number to another.

CREATE TABLE imports (
    id         TEXT NOT NULL,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    first      INTEGER NOT NULL,
    last       INTEGER NOT NULL,
    by         TEXT NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (id, session_id, first)
) STRICT, WITHOUT ROWID;

CREATE INDEX imports_session ON imports (session_id);
