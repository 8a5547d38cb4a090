"""The public names are in order, exist, and are the ones that the reference describes."""

import re

import recollectum
from tests.shape.source import ROOT

REFERENCE = ROOT / "docs" / "reference" / "python.md"
#: A heading that is one name in code, with or without its parameters: ## `Recollectum(home=None)`.
_HEADING = re.compile(r"^#{2,6} `([A-Za-z_]\w*)(?:\(.*)?`", re.MULTILINE)


def public_names() -> list[str]:
    """What `from recollectum import *` would bring, in the order in which it is written."""
    return list(vars(recollectum)["__all__"])


def documented(page: str) -> set[str]:
    """The names that have a heading of their own; a heading with a dot is a member of one of them."""
    return set(_HEADING.findall(page))


def _order(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest: the order that the linter writes."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def test_public_names_are_in_order_and_exist() -> None:
    names = public_names()
    assert names == sorted(set(names), key=_order)
    assert not [name for name in names if not hasattr(recollectum, name)]


def test_the_reference_describes_exactly_the_public_names() -> None:
    # The page is generated with the command line; until it exists there is nothing to compare.
    if not REFERENCE.exists():
        return
    described = documented(REFERENCE.read_text(encoding="utf-8"))
    public = set(public_names())
    assert not public - described, f"give these a heading of their own in {REFERENCE.name}"
    assert not described - public, f"{REFERENCE.name} describes names that are not public"


def test_headings_are_read() -> None:
    page = "# Python\n## `Recollectum`\n### `Recollectum.vault(owner)`\n## `system_clock()`\n## Errors\ntext `Hit`\n"
    assert documented(page) == {"Recollectum", "system_clock"}
