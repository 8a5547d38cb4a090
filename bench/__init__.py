"""Measurements that are too long for the tests; each module with a main() is one benchmark."""
