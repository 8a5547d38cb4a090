"""Gives the items of pytest the attribute by which mutmut 3.8 knows them; pytest 9.2 renamed it."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Set the attribute on every collected item."""
    for item in items:
        vars(item).setdefault("_nodeid", item.nodeid)
