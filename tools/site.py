"""Builds the documentation site and checks its pages: python -m tools.site [--check FOLDER]."""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
SITE = ROOT / "build" / "site"
#: Attributes with which a page loads a file by itself, without a click.
_LOADED = {
    "script": "src",
    "link": "href",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
}
#: Kinds of <link> that load nothing.
_NAMES = frozenset({"canonical", "prev", "next", "alternate"})
_IN_CSS = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")
#: The theme fetches a program from another host to draw these.
_DRAWN = "mermaid"
_ABOUT = "404.html"


class Page(HTMLParser):
    """Collects the links, the loaded files and the anchors of one HTML page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what one element points at, and its name."""
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in _LOADED and found.get(_LOADED[tag]) and not _NAMES & set(found.get("rel", "").split()):
            self.loaded.append(found[_LOADED[tag]])
        if _DRAWN in found.get("class", "").split():
            self.loaded.append(f"//{_DRAWN}")


def faults(folder: Path) -> Iterator[str]:
    """Yield each link of the built pages that leads nowhere, and each file that a page loads from another host."""
    pages = {path.resolve(): Page(path.read_text("utf-8")) for path in sorted(folder.rglob("*.html"))}
    if not pages:
        yield f"{folder} has no pages"
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        yield from (f"{name} loads {one}" for one in page.loaded if urlsplit(one).netloc)
        inside = [one for one in (*page.links, *page.loaded) if not urlsplit(one).netloc and not urlsplit(one).scheme]
        # The page for a wrong address is shown at any address, so its links begin at the root.
        if name.name != _ABOUT:
            yield from (
                f"{name} links to {one}, which is not there" for one in inside if not _is_there(one, path, pages)
            )
    for path in sorted(folder.rglob("*.css")):
        found = _IN_CSS.findall(path.read_text("utf-8"))
        yield from (f"{path.relative_to(folder)} loads {one}" for one in found)


def _is_there(link: str, page: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target /= "index.html"
    if target not in pages or not parts.fragment:
        return target.is_file()
    return unquote(parts.fragment) in pages[target].anchors


def main(arguments: list[str] | None = None) -> int:
    """Build the site with every warning as an error, and report the faults of its pages."""
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__)
    parser.add_argument("--check", type=Path, metavar="FOLDER", help="build nothing; check the pages in this folder")
    folder: Path | None = parser.parse_args(arguments).check
    if folder is None:
        built = subprocess.run(
            [sys.executable, "-m", "zensical", "build", "--strict", "--clean"], cwd=ROOT, check=False
        )
        if built.returncode:
            return built.returncode
    found = list(faults(folder or SITE))
    for fault in found:
        print(fault, file=sys.stderr)
    if not found:
        print(f"{folder or SITE}: every link arrives, and nothing is loaded from another host")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
