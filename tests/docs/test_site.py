"""The navigation of the site has every page, and the first page leads to what a newcomer looks for."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from tests.docs.pages import ROOT, links, markdown_files

DOCS = ROOT / "docs"
HOME = "README.md"
#: What a newcomer looks for, by a word of the label, and the page that answers.
WANTED = {
    "install": "guides/install.md",
    "write an agent": "guides/agent.md",
    "back up": "guides/backup.md",
    "erase": "guides/purge.md",
}
#: Words that people type into the search field of a site about memory.
SEARCHED = ("semantic search", "vector store", "embedding model", "extraction", "retention", "TTL", "GDPR", "RAG")
#: Clicks from the first page: by links in the text, and by tab and entry of the navigation.
CLICKS = 2
_LABELLED = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


class _Loader(yaml.SafeLoader):
    """Reads the settings without running what one of them names."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: None)  # pyright: ignore[reportUnknownMemberType, reportUnknownLambdaType]


def navigation() -> list[tuple[tuple[str, ...], str]]:
    """Return every page of the navigation with the titles on the way to it."""
    settings = cast("Mapping[str, Any]", yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), _Loader))
    return list(_entries(settings["nav"], ()))


def _entries(nav: object, way: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(nav, str):
        yield way, nav
        return
    for one in cast("list[Mapping[str, object]]", nav):
        for title, below in one.items():
            yield from _entries(below, (*way, title))


def pages_within(clicks: int) -> set[str]:
    """Return the pages that a reader reaches from the first one by links in the text."""
    reached = {DOCS / HOME}
    for _ in range(clicks):
        texts = [(page, page.read_text("utf-8")) for page in reached]
        found = {(page.parent / link.partition("#")[0]).resolve() for page, text in texts for link in links(text)}
        reached |= {page for page in found if page.suffix == ".md" and page.is_relative_to(DOCS)}
    return {page.relative_to(DOCS).as_posix() for page in reached}


def test_the_navigation_has_every_page_once() -> None:
    pages = [page for _, page in navigation()]
    there = [page.relative_to(DOCS).as_posix() for page in markdown_files() if page.is_relative_to(DOCS)]
    assert sorted(pages) == sorted(there)


def test_the_first_page_is_the_first_of_the_navigation() -> None:
    assert navigation()[0] == (("Home",), HOME)


@pytest.mark.parametrize("wish", WANTED)
def test_a_newcomer_finds_it_in_two_clicks(wish: str) -> None:
    page = WANTED[wish]
    assert page in pages_within(CLICKS)
    labels = [label.lower() for label, target in _LABELLED.findall((DOCS / HOME).read_text("utf-8")) if target == page]
    assert any(wish in label for label in labels), f"no link of {HOME} to {page} says {wish!r}"
    ways = [way for way, target in navigation() if target == page]
    # A section below a tab is a heading over its entries, and takes no click.
    assert len(ways) == 1
    assert len(ways[0]) <= CLICKS + 1


def test_the_first_page_has_the_words_that_people_search_for() -> None:
    text = (DOCS / HOME).read_text("utf-8")
    assert not [word for word in SEARCHED if word not in text]


def test_every_page_is_linked_from_the_text_of_another() -> None:
    unreached = {page for _, page in navigation()} - pages_within(3)
    assert not unreached, "link these from docs/README.md or a page that it links"


def test_no_page_links_to_a_file_outside_the_site() -> None:
    def leaves(page: Path, link: str) -> bool:
        inside = "://" in link or link.startswith(("#", "mailto:"))
        return not inside and not (page.parent / link.partition("#")[0]).resolve().is_relative_to(DOCS)

    ours = [page for page in markdown_files() if page.is_relative_to(DOCS)]
    found = [
        f"{page.relative_to(DOCS)}: {link}"
        for page in ours
        for link in links(page.read_text("utf-8"))
        if leaves(page, link)
    ]
    assert not found, "name these files in code quotes; the site does not have them: " + ", ".join(found)
