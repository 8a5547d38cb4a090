"""Pictures of the console for the documentation: `python -m tests.doors.console.screenshots [FOLDER]`."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page

from tests.doors.console.browsers import browser
from tests.doors.console.samples import PERSON, fill
from tests.doors.console.servers import Place, served
from tests.matrix.homes import Turning

FOLDER = Path(__file__).parents[3] / "docs" / "images"
WIDE = (1240, 860)
PHONE = (375, 780)


def pictures(place: Place) -> Iterator[tuple[str, str]]:
    """The name of each picture and the address it is taken of."""
    vault = place.home.vault(PERSON)
    memory = vault.memories.find("piano_lesson")
    diet = vault.memories.find("diet")
    assert memory
    assert diet
    yield "home", "/"
    yield "search", "/?q=what+can+we+cook+without+walnuts"
    yield "memories", "/console/memories"
    yield "memory", f"/console/memories/{diet.id}"
    yield "conversations", "/console/conversations"
    sensors = next(one for one in vault.sessions.list() if one.title and "sensors" in one.title)
    yield "conversation", f"/console/conversations/{sensors.id}?at=3&from=0&to=36"
    yield "review", "/console/review"
    yield "timeline", "/console/timeline?by=week"
    lisbon = next(one for one in vault.sessions.list() if one.title and "Lisbon" in one.title)
    yield "context", f"/console/context?q=dinner+in+Lisbon&tokens=1200&session={lisbon.id}"
    yield "privacy", "/console/privacy"
    yield "extensions", "/console/extensions"
    yield "tasks", "/console/tasks"
    yield "health", "/console/health"


def take(browser: Browser, place: Place, folder: Path) -> None:
    """Every page in light, two in dark, two on a phone, and the steps of a purge."""
    dark, phone = _signed_in(browser, place, WIDE, "dark"), _signed_in(browser, place, PHONE, "light")
    for name, path in (("search", "/?q=walnuts"), ("timeline", "/console/timeline?by=week")):
        dark.goto(place.url + path)
        _keep(dark, folder / f"console-{name}-dark.png")
    for name, path in (("search", "/?q=walnuts"), ("memories", "/console/memories")):
        phone.goto(place.url + path)
        _keep(phone, folder / f"console-{name}-phone.png")
    page = _signed_in(browser, place, WIDE, "light")
    for name, path in pictures(place):
        page.goto(place.url + path)
        if name == "conversation":
            page.locator("details.call summary").first.click()
        _keep(page, folder / f"console-{name}.png", whole=name not in ("context", "memories", "timeline"))
    page.goto(f"{place.url}/console/privacy")
    page.locator("input[name=days]").fill("60")
    page.get_by_role("button", name="Preview…").first.click()
    _keep(page, folder / "console-purge.png")
    page.locator("input[name=typed]").fill("erase")
    page.get_by_role("button", name="Erase for good").click()
    _keep(page, folder / "console-receipt.png", whole=True)


def _keep(page: Page, path: Path, *, whole: bool = False) -> None:
    page.wait_for_load_state("networkidle")
    # The home of the sample lies in a folder for temporary files, which is nobody's idea of a home.
    page.evaluate(
        """() => {
          const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (walk.nextNode()) {
            const node = walk.currentNode;
            node.data = node.data.replace(/\\/tmp\\/[a-z0-9_]+\\/home\\//g, "/home/ada/.recollectum/")
              .replace(/\\/tmp\\/[a-z0-9_]+\\//g, "/home/ada/");
          }
        }"""
    )
    page.screenshot(path=path, full_page=whole)


def _signed_in(browser: Browser, place: Place, size: tuple[int, int], scheme: Literal["light", "dark"]) -> Page:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    page = context.new_page()
    page.goto(place.link(PERSON))
    page.wait_for_url(f"{place.url}/")
    return page


def main(folder: Path) -> None:
    """Write all pictures to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    clock = Turning()
    with tempfile.TemporaryDirectory() as home, served(Path(home), clock, encryption="auto") as place:
        fill(place.home, clock)
        with browser() as running:
            take(running, place, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
