"""SQLite: the connection, the one writer, the readers, the index."""
