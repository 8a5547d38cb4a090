-- Learnings are memories of four kinds. Here is what their files showed after the last sync, and their days.

-- The agent is empty for what all agents of the person share.
CREATE TABLE learning_lines (
    agent     TEXT NOT NULL,
    position  INTEGER NOT NULL,
    -- No reference: a line must be known even when its memory has been destroyed, or it would be learned again.
    memory_id TEXT NOT NULL,
    category  TEXT NOT NULL,
    -- Of the text in the file; as private as the text itself.
    digest    TEXT NOT NULL,
    day       TEXT NOT NULL,
    PRIMARY KEY (agent, position)
) STRICT, WITHOUT ROWID;

-- A day that somebody wrote before a learning; it holds while the memory was last changed at `at`.
CREATE TABLE learning_days (
    memory_id TEXT PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
    day       TEXT NOT NULL,
    at        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX memories_learned ON memories (coalesce(agent, ''), id)
    WHERE kind IN ('preference', 'correction', 'pattern', 'tool_usage')
      AND state IN ('active', 'archived') AND superseded_by IS NULL;
