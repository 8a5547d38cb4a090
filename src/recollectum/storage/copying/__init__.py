"""Copies the rows of a vault or of the catalog between engines, in one snapshot, by way of an ordinary file.

row_copier       copies rows table by table, and compares two databases by digest
row_changes      copies only the rows that differ
copied_tables    the tables that both engines have, in an order that keeps references whole
row_lines        rows as lines of JSON, and a vault file made from such lines
database_file    writes an ordinary database file from the rows of another engine, and reads one
"""
