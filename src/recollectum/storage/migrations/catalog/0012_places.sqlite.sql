-- Where a vault is while the vaults of a home are in two places; NULL: beside the catalog.

ALTER TABLE vaults ADD COLUMN place TEXT CHECK (place IN ('files', 'database'));
