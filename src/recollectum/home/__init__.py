"""The state directory: paths, atomic files, locks, keys, projects."""
