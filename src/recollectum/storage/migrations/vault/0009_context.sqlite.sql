-- What a context is made of: summaries and profiles, which are derived, and the checkpoints of conversations.

CREATE TABLE summaries (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    -- The position of the last message that is folded in.
    covered_to INTEGER NOT NULL,
    text       TEXT NOT NULL,
    made_by    TEXT NOT NULL,
    made_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What was taken out of a conversation must not live on in its summary.
CREATE TRIGGER summaries_outlived AFTER DELETE ON messages BEGIN
    DELETE FROM summaries WHERE session_id = old.session_id AND covered_to >= old.position;
END;

CREATE TABLE profiles (
    -- Empty for the profile that every agent shares.
    agent   TEXT PRIMARY KEY,
    -- Of the ids and versions of the memories it was made from.
    digest  TEXT NOT NULL,
    bullets TEXT NOT NULL,
    made_by TEXT NOT NULL,
    made_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A destroyed memory leaves nothing of itself in a profile.
CREATE TRIGGER profiles_outlived AFTER DELETE ON memories BEGIN
    DELETE FROM profiles;
END;

-- The most important memories of a kind are asked for with every context.
CREATE INDEX memories_told ON memories (kind, importance DESC, updated_at DESC, id DESC)
    WHERE state = 'active' AND superseded_by IS NULL;

CREATE TABLE checkpoints (
    name       TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    saved_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX checkpoints_session ON checkpoints (session_id);
