-- A question that names a time is answered by what was said then.

CREATE INDEX messages_created ON messages (created_at);
CREATE INDEX memories_created ON memories (created_at);
