-- The mark of the key that the rows of a vault are encrypted under: a program that has another key notices it at the
-- beginning of a transaction, and asks for the new one. NULL until the vault gets a key from a program that knows of it.

ALTER TABLE vault_state ADD COLUMN key_mark text COLLATE "C";
