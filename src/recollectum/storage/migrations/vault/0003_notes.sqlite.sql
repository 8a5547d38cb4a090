-- Markdown notes: folders of the person's own files, read into the vault and followed as they change.

CREATE TABLE note_folders (
    -- Never used again: an event names a folder by it, and never by its path.
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Absolute, with every link in it followed.
    path     TEXT NOT NULL UNIQUE,
    added_at INTEGER NOT NULL
) STRICT;

CREATE TABLE notes (
    number    INTEGER PRIMARY KEY AUTOINCREMENT,
    folder    TEXT NOT NULL REFERENCES note_folders (path),
    -- From the folder, with forward slashes.
    path      TEXT NOT NULL,
    -- Of the bytes in the file, so that a file is known again under another name.
    hash      TEXT NOT NULL,
    mtime     INTEGER NOT NULL,
    size      INTEGER NOT NULL,
    text      TEXT NOT NULL,
    synced_at INTEGER NOT NULL,
    UNIQUE (folder, path)
) STRICT;

-- Of a piece of a note: its lines, counted from 1, and the headings it stands under.
ALTER TABLE chunks ADD COLUMN first_line INTEGER;
ALTER TABLE chunks ADD COLUMN last_line INTEGER;
ALTER TABLE chunks ADD COLUMN headings TEXT;
