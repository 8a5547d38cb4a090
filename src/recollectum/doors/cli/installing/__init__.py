"""Writing Recollectum into the configuration of agents, and out of it again."""
