-- Lists of a large vault: memories by their state and kind, newest first. The learnings are found by it as well.
--
-- 1 when the text of a memory tells of no contact; null when it does, or when nobody has looked. Derived. It comes first,
-- so that only the statements that name it use the index: SQLite would take it for others that name a state.
ALTER TABLE memories ADD COLUMN no_contacts INTEGER;
DROP INDEX memories_learned;
CREATE INDEX memories_listed ON memories (no_contacts, state, kind);
