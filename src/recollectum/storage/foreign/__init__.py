"""The SQLite databases of other programs.

database  reads one, and leaves no file beside it
places    where programs keep their files
"""
