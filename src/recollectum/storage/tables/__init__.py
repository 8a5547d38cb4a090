"""One file per table: portable SQL beside its row mapping."""
