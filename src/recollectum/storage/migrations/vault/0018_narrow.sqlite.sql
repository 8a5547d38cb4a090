-- Narrower rows. The hashes of the embedding cache have sixteen bytes instead of thirty-two, so what it holds under the
-- longer ones is of no use; it is derived. The index of the most important memories orders equals by number, which
-- every index holds anyway, and no longer by a copy of the id.
DELETE FROM embedding_cache;
DROP INDEX memories_told;
CREATE INDEX memories_told ON memories (kind, importance, updated_at)
    WHERE state = 'active' AND superseded_by IS NULL;
