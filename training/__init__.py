"""Makes the embedding models `recollectum-embed` and `recollectum-embed-quick` from gte-small and pairs of texts."""
