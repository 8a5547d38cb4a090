-- What ranking needs of a turn stands beside its pieces, so that a candidate is one row to read and not three. Derived:
-- a turn and what is known of its session never change, and a piece is made after them and goes with them.
ALTER TABLE chunks ADD COLUMN created_at INTEGER;
ALTER TABLE chunks ADD COLUMN trust TEXT;
ALTER TABLE chunks ADD COLUMN role TEXT;
ALTER TABLE chunks ADD COLUMN speaker TEXT;

UPDATE chunks
   SET created_at = messages.created_at,
       trust = CASE WHEN sessions.imported AND messages.trust <> 'unknown' THEN 'imported' ELSE messages.trust END,
       role = messages.role,
       speaker = messages.speaker
  FROM messages JOIN sessions ON sessions.id = messages.session_id
 WHERE chunks.source = 'sessions' AND messages.number = chunks.source_number;
