-- Transcripts that are followed: where they lie, and how far each file has been read.

CREATE TABLE transcript_roots (
    -- Never used again: an event names a place by it, and never by its path.
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    -- A folder or a file; absolute, with every link in it followed.
    path     TEXT NOT NULL UNIQUE,
    -- Set when the sessions are to be kept under another agent or channel than the files say.
    agent    TEXT,
    channel  TEXT,
    added_at INTEGER NOT NULL
) STRICT;

CREATE TABLE transcript_files (
    path       TEXT PRIMARY KEY,
    root       INTEGER NOT NULL REFERENCES transcript_roots (number) ON DELETE CASCADE,
    -- Device and inode, then size and time of change, as they were at the last look.
    identity   TEXT NOT NULL,
    size       INTEGER NOT NULL,
    mtime      INTEGER NOT NULL,
    -- Bytes and lines up to which everything is in the vault; always the end of a line.
    read_to    INTEGER NOT NULL,
    lines      INTEGER NOT NULL,
    -- Digests of the first and the last bytes before `read_to`: a file that was replaced or cut is known by them.
    head       TEXT NOT NULL,
    tail       TEXT NOT NULL,
    -- How it is written, once that could be told.
    form       TEXT,
    -- The session it belongs to; when that was deleted, the file is not read again.
    session_id TEXT,
    synced_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX transcript_files_root ON transcript_files (root);
