-- What agents keep besides conversations: the commands of shells by project, and small documents with a version each.
CREATE TABLE shell_commands (
    id      TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    command TEXT NOT NULL,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX shell_commands_project ON shell_commands (project);
CREATE TABLE documents (
    name       TEXT PRIMARY KEY,
    version    INTEGER NOT NULL,
    body       TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
