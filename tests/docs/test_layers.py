"""The table of layers in the documentation is the one that the import contracts give."""

from pathlib import Path

import pytest

from tools.layers import PAGES, layers, table, with_table


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_table_is_the_one_that_is_made(page: Path) -> None:
    text = page.read_text("utf-8")
    assert with_table(text) == text, "run: make docs"


def test_every_layer_has_a_sentence() -> None:
    rows = table().splitlines()[2:]
    assert len(rows) == len(layers())
    assert all(len(row.split("|")[2].strip()) > 10 for row in rows)


def test_a_page_without_the_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="lacks the lines"):
        with_table("# A page\n")
