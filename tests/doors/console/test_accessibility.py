"""Axe looks at every page, in light and in dark, and finds nothing serious."""

from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page

from tests.doors.console.browsers import watched
from tests.doors.console.pictures import COLOURS, axe_faults
from tests.doors.console.samples import PERSON
from tests.doors.console.servers import Place

pytestmark = [pytest.mark.loopback, pytest.mark.process, pytest.mark.browser]


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
        "/console/memories?q=garden",
        "/console/memories?state=archived",
        "/console/start",
        "/console/nothing",
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
    faults["preview"] = axe_faults(page, rules)
    page.goto(f"{filled.url}/console/memories")
    page.get_by_role("checkbox", name="Select: ").first.check()
    with page.expect_navigation():
        page.get_by_role("button", name="Forget…").click()
    faults["selection"] = axe_faults(page, rules)
    assert not {path: found for path, found in faults.items() if found}
    context.close()


def _look(page: Page, url: str, rules: list[str] | None) -> list[Any]:
    page.goto(url)
    for summary in page.locator("summary").all():
        summary.click()
    return axe_faults(page, rules)
