"""Axe looks at every page, in light and in dark, and finds nothing serious."""

from importlib import resources
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page

from tests.doors.console.browsers import watched
from tests.doors.console.samples import PERSON
from tests.doors.console.servers import Place

pytestmark = [pytest.mark.loopback, pytest.mark.process, pytest.mark.browser]

#: What a colour scheme can spoil, and nothing else can.
COLOURS = ["color-contrast", "link-in-text-block"]
RUN = """async (rules) => {
  const found = await axe.run(rules ? {runOnly: rules} : {});
  return found.violations.map(v => [v.impact, v.id, v.nodes.map(n => n.html).slice(0, 3)]);
}"""


def _paths(place: Place) -> list[str]:
    vault = place.home.vault(PERSON)
    memory = vault.memories.find("piano_lesson")
    assert memory
    talks = {one.title: one.id for one in vault.sessions.list()}
    trash = vault.privacy.trash.list()[0]
    return [
        "/",
        "/?q=walnuts",
        "/?q=nothing+at+all+like+zzzz",
        "/console/memories",
        "/console/memories?state=archived",
        f"/console/memories/{memory.id}",
        f"/console/memories/{trash.id}",
        "/console/memories/mem_none",
        "/console/conversations",
        f"/console/conversations/{talks['Deploying the greenhouse sensors']}?at=3&from=0&to=20",
        "/console/projects",
        "/console/review",
        "/console/review?decision=rejected",
        "/console/timeline?by=week",
        "/console/context?q=lisbon&tokens=300",
        "/console/state?q=a",
        "/console/privacy",
        "/console/extensions",
        "/console/tasks",
        "/console/health",
    ]


def _faults(page: Page, rules: list[str] | None) -> list[Any]:
    # Through the browser's own tools: the page's policy lets no script of others in.
    page.evaluate((resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
    return [fault for fault in page.evaluate(RUN, rules) if fault[0] in ("serious", "critical")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(chromium: Browser, filled: Place, scheme: Literal["light", "dark"]) -> None:
    context = chromium.new_context(color_scheme=scheme, viewport={"width": 1100, "height": 800})
    seen = watched(context, filled.url)
    page = seen.page
    rules = COLOURS if scheme == "dark" else None
    faults = {"/login": _look(page, f"{filled.url}/login", rules)}
    page.goto(filled.link(PERSON))
    page.wait_for_url(f"{filled.url}/")
    for path in _paths(filled):
        faults[path] = _look(page, filled.url + path, rules)
    page.goto(f"{filled.url}/console/privacy")
    with page.expect_navigation():
        page.get_by_role("button", name="Preview…").first.click()
    faults["preview"] = _faults(page, rules)
    assert not {path: found for path, found in faults.items() if found}
    context.close()


def _look(page: Page, url: str, rules: list[str] | None) -> list[Any]:
    page.goto(url)
    for summary in page.locator("summary").all():
        summary.click()
    return _faults(page, rules)
