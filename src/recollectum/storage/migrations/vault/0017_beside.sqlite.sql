-- Which pieces of a conversation stand beside one: those of the turn before and of the turn after, where somebody else
-- speaks. Derived, and written when a piece is judged; until then nothing is known, and it is looked up.
--
-- As steps from the piece's own number, which are nearly always 1, and 1 takes no room.
ALTER TABLE chunks ADD COLUMN before_step INTEGER;
ALTER TABLE chunks ADD COLUMN before_pieces INTEGER;
ALTER TABLE chunks ADD COLUMN after_step INTEGER;
ALTER TABLE chunks ADD COLUMN after_pieces INTEGER;
