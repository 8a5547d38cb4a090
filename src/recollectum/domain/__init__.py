"""The nouns: frozen dataclasses, enums, ids and the error tree. Standard library only."""
