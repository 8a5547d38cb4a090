"""Schema steps that nobody ships, for tests of what happens between one schema and the next."""

from recollectum.storage.engine import VAULT
from recollectum.storage.sqlite.migrate import Migration, shipped

_MOODS = """
    ALTER TABLE memories ADD COLUMN mood TEXT;
    UPDATE memories SET mood = 'calm ' || length(content);
    CREATE TABLE moods (name TEXT PRIMARY KEY, memories INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO moods SELECT mood, count(*) FROM memories GROUP BY mood;
"""
_LOUD_EVENTS = """
    CREATE TABLE loud_events (number INTEGER PRIMARY KEY, line TEXT NOT NULL) STRICT;
    INSERT INTO loud_events SELECT number, upper(type) FROM events;
    CREATE INDEX memories_mood ON memories (mood);
    DROP TABLE moods;
"""

STEPS = (*shipped(VAULT), Migration(1001, "moods", _MOODS), Migration(1002, "loud_events", _LOUD_EVENTS))
