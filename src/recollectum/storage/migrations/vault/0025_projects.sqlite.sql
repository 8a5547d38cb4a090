-- Projects: a folder by the SHA-256 of its path. A project that was moved has several roots; the rows of each stay as they
-- were written, and `project_roots` says which project they belong to. A project without a name was forgotten.
CREATE TABLE projects (
    id       TEXT PRIMARY KEY,
    name     TEXT UNIQUE,
    root_id  TEXT NOT NULL,
    added_at INT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE project_roots (
    id       TEXT PRIMARY KEY,
    project  TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    root     TEXT NOT NULL,
    added_at INT NOT NULL
) STRICT, WITHOUT ROWID;

-- The project that a memory was saved with; NULL for a personal one. Two projects may use one key.
ALTER TABLE memories ADD COLUMN project TEXT;
DROP INDEX memories_key;
CREATE UNIQUE INDEX memories_key ON memories (key, coalesce(project, '')) WHERE key IS NOT NULL AND state = 'active';
CREATE INDEX memories_project ON memories (project) WHERE project IS NOT NULL;
-- The rows have one value more than those that were sealed: an unencrypted vault is sealed anew.
DELETE FROM seals WHERE source = 'memories';
DELETE FROM meta WHERE name = 'sealed';
