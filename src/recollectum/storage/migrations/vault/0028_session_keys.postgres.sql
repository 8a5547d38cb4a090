-- oldest: 0026
-- The time of the last message is no part of the index of keys: with it, each message wrote entries in both indexes of the
-- sessions, because no indexed column may change in a heap-only update. Nothing is found or sorted by it.
DROP INDEX sessions_key;
CREATE INDEX sessions_key ON sessions (vault, key);
