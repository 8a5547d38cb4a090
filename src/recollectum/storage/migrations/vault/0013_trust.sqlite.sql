-- Quarantine: what came from one source and is taken out of recall and contexts until somebody decides.

CREATE TABLE quarantines (
    id          TEXT PRIMARY KEY,
    -- Such as `session:ses_…`, `agent:coder`, `tool:browser`, `import:imp_…`.
    source      TEXT NOT NULL,
    -- Where memories went: archived, or with an undo into the trash.
    went        TEXT NOT NULL CHECK (went IN ('archived', 'soft_deleted')),
    by          TEXT NOT NULL,
    at          INTEGER NOT NULL,
    released_at INTEGER
) STRICT, WITHOUT ROWID;

-- A message is set aside once, whatever further quarantines would cover it; gone with the message.
CREATE TABLE quarantined_messages (
    message_id    TEXT PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    quarantine_id TEXT NOT NULL REFERENCES quarantines (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX quarantined_messages_by ON quarantined_messages (quarantine_id);

CREATE TABLE quarantined_memories (
    memory_id     TEXT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    quarantine_id TEXT NOT NULL REFERENCES quarantines (id) ON DELETE CASCADE,
    PRIMARY KEY (memory_id, quarantine_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX quarantined_memories_by ON quarantined_memories (quarantine_id);
