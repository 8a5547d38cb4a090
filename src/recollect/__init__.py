"""Recollect: the memory and state layer for AI agents."""
