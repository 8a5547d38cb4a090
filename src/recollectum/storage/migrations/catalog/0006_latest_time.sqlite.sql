-- A key that was revoked stays revoked, whatever the clock shows later; and the latest time that the home has seen.

ALTER TABLE api_keys ADD COLUMN revoked INTEGER NOT NULL DEFAULT 0;

UPDATE api_keys SET revoked = 1 WHERE revoked_at <= CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER);

CREATE TABLE latest_time (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    at  INTEGER NOT NULL
) STRICT;
