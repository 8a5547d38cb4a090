"""Every link from one of our pages to another arrives, and a link to another site has the form of one."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.docs.pages import ROOT, anchors, links, markdown_files


def broken_links(page: Path) -> list[str]:
    """The relative links of a page that point at no file, or at no heading of it."""
    return [link for link in links(page.read_text(encoding="utf-8")) if not _arrives(page, link)]


def _arrives(page: Path, link: str) -> bool:
    if link.startswith("mailto:"):
        return "@" in link
    if "://" in link:
        return _is_address(link)
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    if not target.exists():
        return False
    return not anchor or anchor in anchors(target.read_text(encoding="utf-8"))


def _is_address(link: str) -> bool:
    """Return whether a link has the form of a public address; nothing is fetched."""
    parts = urlsplit(link)
    return parts.scheme == "https" and "." in (parts.hostname or "") and not parts.username


@pytest.mark.parametrize("page", markdown_files(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_arrives(page: Path) -> None:
    assert not broken_links(page)


def test_a_broken_link_is_seen(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# One thing\n```\n# not a heading\n```\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](there.md) [b](there.md#one-thing) [c](gone.md) [d](there.md#not-a-heading) [e](#here)\n"
        "`[f](in-code.md)` [g](https://example.org/x)\n# Here\n[h]: also-gone.md\n[i](http://example.org) [j](https://host)\n"
    )
    assert broken_links(page) == [
        "gone.md",
        "there.md#not-a-heading",
        "also-gone.md",
        "http://example.org",
        "https://host",
    ]
