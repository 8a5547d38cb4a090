-- Where a vault is while the vaults of a home are in two places; NULL: beside the catalog.
--
-- The number of a vault that was moved away is negated in `vault_state`: no transaction finds it any more, so a program
-- that still has it open reads and writes nothing, and looks in the catalog where the vault is.

ALTER TABLE vaults ADD COLUMN place text COLLATE "C" CHECK (place IN ('files', 'database'));

-- The mark of each vault, which a write changes. Those of vaults that are files are given.
CREATE OR REPLACE FUNCTION written(given text) RETURNS TABLE (vault text, mark text) LANGUAGE sql STABLE AS $$
    SELECT key, value FROM json_each_text(CAST(given AS json))
     UNION ALL
    SELECT vault_id, CAST(changes AS text) FROM recollectum_catalog.vault_state
     WHERE vault > 0 AND vault_id NOT IN (SELECT json_object_keys(CAST(given AS json)))
$$;
