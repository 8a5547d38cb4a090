"""Rows that are made column by column are the rows that mappings are."""

from recollectum.storage.row_lists import Columns, column_of


def test_columns_are_rows() -> None:
    rows = Columns({"a": [1, 2, 3], "b": ["x", None, "z"]})
    named = [{"a": 1, "b": "x"}, {"a": 2, "b": None}, {"a": 3, "b": "z"}]
    assert [*rows] == named
    assert [rows[place] for place in range(len(rows))] == named
    assert [*rows[1:]] == named[1:]
    assert len(rows[:0]) == 0
    assert column_of(rows, "b") == column_of(named, "b")
