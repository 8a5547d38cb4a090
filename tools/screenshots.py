"""Takes pictures of every page of the console, and checks each: `python -m tools.screenshots OUT`.

An empty home, an ordinary one and one with 5,000 memories, on a desktop and a phone, in light and dark. Each page is
checked by axe (no serious fault), for words that do not fit, and for a width that makes a phone scroll sideways.
`--docs` takes the few pictures of the guide instead.
"""

import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Literal, TypeAlias

from playwright.sync_api import Browser, Page

from tests.doors.console.browsers import browser
from tests.doors.console.pictures import (
    axe_faults,
    cut_words,
    fill_empty,
    fill_large,
    fill_ordinary,
    overflow,
    paths,
)
from tests.doors.console.samples import PERSON
from tests.doors.console.servers import Place, served
from tests.matrix.homes import Turning

Scheme: TypeAlias = Literal["light", "dark"]
SIZES: Mapping[str, tuple[int, int]] = {"desktop": (1240, 860), "phone": (390, 844), "guide": (1080, 720)}
#: The pictures of the guide, by their home.
GUIDE: Mapping[str, Sequence[str]] = {"empty": ["home"], "ordinary": ["search", "memory"], "large": ["memories"]}
SCHEMES: Sequence[Scheme] = ("light", "dark")
HOMES: Mapping[str, Callable[[Place], None]] = {"empty": fill_empty, "ordinary": fill_ordinary, "large": fill_large}
DOCS = Path(__file__).parents[1] / "docs" / "images"
#: Replaces the temporary folder of a sample by one that a person would have.
_AT_HOME = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    node.data = node.data.replace(/\\/tmp\\/[a-z0-9_]+\\/home\\//g, "/home/ada/.recollectum/")
      .replace(/\\/tmp\\/[a-z0-9_]+\\//g, "/home/ada/");
  }
}"""


def main(arguments: Sequence[str]) -> int:
    """Take the pictures and print what is wrong on them; return how many pages have a fault."""
    parser = ArgumentParser(prog="python -m tools.screenshots", description="Take pictures of the console.")
    parser.add_argument("out", type=Path, nargs="?", default=DOCS)
    parser.add_argument("--docs", action="store_true", help="only the pictures of the guide")
    parser.add_argument("--home", choices=HOMES, action="append", help="only these homes")
    parser.add_argument("--page", action="append", help="only these pages")
    given = parser.parse_args(arguments)
    with browser() as running:
        if given.docs:
            take_for_guide(running, given.out)
            return 0
        faults = take(running, given.out, given.home or list(HOMES), given.page)
    for name, found in faults.items():
        print(f"{name}: {'; '.join(found)}")
    print(f"{len(faults)} pictures with a fault")
    return min(len(faults), 1)


def take(running: Browser, out: Path, homes: Sequence[str], pages: Sequence[str] | None = None) -> dict[str, list[str]]:
    """Take a picture of each page in every size and scheme; return the faults by picture."""
    faults: dict[str, list[str]] = {}
    for home in homes:
        with sample(home) as place:
            for size, scheme in product(("desktop", "phone"), SCHEMES):
                for name, page in look(running, place, size, scheme, pages):
                    picture = out / home / f"{name}-{size}-{scheme}.png"
                    _save(page, picture)
                    if found := check(page):
                        faults[f"{home}/{picture.name}"] = found
    return faults


def look(
    running: Browser, place: Place, size: str, scheme: Scheme, pages: Sequence[str] | None = None
) -> Iterator[tuple[str, Page]]:
    """Yield each page of a home by its name, as a browser of that size shows it; the first is the one to sign in on."""
    width, height = SIZES[size]
    context = running.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{place.url}/login")
    yield "login", page
    page.goto(place.link(PERSON))
    page.wait_for_url(f"{place.url}/")
    for name, path in paths(place).items():
        if pages is None or name in pages:
            page.goto(place.url + path)
            yield name, page
    if pages is None:
        yield from _previews(page, place)
    context.close()


def _previews(page: Page, place: Place) -> Iterator[tuple[str, Page]]:
    """Yield the pages that only a form leads to."""
    page.goto(f"{place.url}/console/privacy")
    with page.expect_navigation():
        page.locator("form", has_text="Everything about me").get_by_role("button").click()
    yield "purge", page
    page.goto(f"{place.url}/console/memories")
    boxes = page.get_by_role("checkbox", name="Select: ")
    if boxes.count():
        for box in boxes.all()[:3]:
            box.check()
        with page.expect_navigation():
            page.get_by_role("button", name="Forget…").click()
        yield "bulk", page


def check(page: Page) -> list[str]:
    """Say what is wrong on a page."""
    found = [f"{fault[1]} {fault[2][0]}" for fault in axe_faults(page)]
    wide = overflow(page)
    return [
        *found,
        *([f"{wide} px wider than the window"] if wide > 0 else []),
        *(f"does not fit: {words}" for words in cut_words(page)),
    ]


@contextmanager
def sample(home: str) -> Generator[Place]:
    """Serve a made-up home from a temporary folder."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), Turning(), encryption="auto") as place:
        HOMES[home](place)
        yield place


def take_for_guide(running: Browser, out: Path) -> None:
    """Take the pictures that the guide shows, small enough for a repository."""
    for home, pages in GUIDE.items():
        with sample(home) as place:
            for name, page in look(running, place, "guide", "light", pages):
                if name in pages:
                    _save(page, out / f"console-{name}.png", whole=False)


def _save(page: Page, path: Path, *, whole: bool = True) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    page.evaluate(_AT_HOME)
    page.screenshot(path=path, full_page=whole)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
