-- The time of the last message is no part of the index of keys: with it, each message wrote an entry of the index anew, and
-- nothing is found or sorted by it.
DROP INDEX sessions_key;
CREATE INDEX sessions_key ON sessions (key);
