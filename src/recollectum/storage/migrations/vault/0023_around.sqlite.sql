-- A turn is ranked by the matches around it, which are found by its session and position. The adjacent turns of a chunk
-- are no longer stored with it.
ALTER TABLE chunks DROP COLUMN before_step;
ALTER TABLE chunks DROP COLUMN before_pieces;
ALTER TABLE chunks DROP COLUMN after_step;
ALTER TABLE chunks DROP COLUMN after_pieces;
