"""Two ways through the console in a real browser: a newcomer with nothing, and a person with 5,000 memories."""

import html
import re
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, Page, expect

from recollectum.domain.memory import State
from tests.doors.console.browsers import watched
from tests.doors.console.pictures import LONG_TALK, fill_large, overflow, paths
from tests.doors.console.samples import PERSON
from tests.doors.console.servers import Place, served
from tests.matrix.homes import Turning
from tools.reference import commands

pytestmark = [pytest.mark.loopback, pytest.mark.process, pytest.mark.browser]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with served(tmp_path_factory.mktemp("large"), Turning()) as place:
        fill_large(place)
        yield place


def _enter(browser: Browser, place: Place, *, scripts: bool = True, zone: str | None = None, width: int = 1200) -> Page:
    viewport = {"width": width, "height": 800}
    context = browser.new_context(java_script_enabled=scripts, viewport=viewport, timezone_id=zone)  # pyright: ignore[reportArgumentType]
    context.set_default_timeout(15_000)
    page = watched(context, place.url).page
    page.goto(place.link(PERSON))
    if not scripts:
        page.get_by_role("button", name="Open the console").click()
    page.wait_for_url(f"{place.url}/")
    return page


def test_a_newcomer_finds_from_every_empty_page_what_to_do(chromium: Browser, place: Place) -> None:
    page = _enter(chromium, place, width=390)
    expect(page.get_by_text("Nothing is remembered yet.")).to_be_visible()
    expect(page.get_by_text("recollectum mcp install claude-code")).to_be_visible()
    page.get_by_role("link", name="Conversations").click()
    expect(page.get_by_text("No conversations yet.")).to_be_visible()
    page.get_by_role("link", name="Import transcripts").click()
    page.wait_for_url(f"{place.url}/console/start#import")
    expect(page.get_by_text("recollectum import --discover")).to_be_in_viewport()
    page.get_by_role("link", name="Timeline").click()
    page.get_by_role("link", name="Write something down").click()
    page.get_by_label("In your own words").fill("I am vegetarian")
    page.get_by_role("button", name="Remember").click()
    expect(page.get_by_role("status")).to_have_text("Remembered.")
    page.get_by_role("link", name="Recollectum").click()
    expect(page.get_by_role("heading", name="Recently learned")).to_be_visible()
    expect(page.get_by_role("link", name="I am vegetarian").first).to_be_visible()
    expect(page.get_by_text("Nothing is remembered yet.")).to_have_count(0)


def test_every_command_on_an_empty_page_exists(place: Place) -> None:
    known = dict(commands())
    with place.client(PERSON) as client:
        pages = {name: client.get(path).text for name, path in paths(place).items()}
    shown = {
        name: [html.unescape(one) for one in re.findall(r"<code>(recollectum .*?)</code>", page)]
        for name, page in pages.items()
    }
    for name in ("home", "start", "memories", "conversations", "projects", "review", "state", "tasks", "extensions"):
        assert shown[name], name
    for line in {one for found in shown.values() for one in found}:
        words = shlex.split(line)
        names = next((" ".join(words[:count]) for count in (3, 2) if " ".join(words[:count]) in known), None)
        assert names, line
        options = {one for parameter in known[names].params for one in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= options, line


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_of_5000_memories_those_of_the_garden_are_forgotten_and_come_back(
    chromium: Browser, large: Place, *, scripts: bool
) -> None:
    vault = large.home.vault(PERSON)
    before = vault.admin.totals().memories
    page = _enter(chromium, large, scripts=scripts)
    page.get_by_role("link", name="Memories").click()
    page.get_by_label("Words in the text").fill("GARDEN blue tin")
    page.get_by_label("Words in the text").press("Enter")
    expect(page.get_by_role("checkbox", name="Select: ")).to_have_count(50)
    page.get_by_role("link", name="Older ones").click()
    expect(page.get_by_role("checkbox", name="Select: ")).to_have_count(50)
    page.get_by_role("checkbox", name="all that match").check()
    page.get_by_role("button", name="Forget…").click()
    expect(page.get_by_role("heading", name="Forget 1,000 memories?")).to_be_visible()
    assert vault.admin.totals().memories == before
    page.get_by_role("button", name="Forget 1,000 memories").click()
    expect(page.get_by_role("status")).to_have_text("1,000 memories forgotten.")
    expect(page.get_by_text("No memory matches.")).to_be_visible()
    assert vault.admin.totals().memories[State.ACTIVE] == before[State.ACTIVE] - 1000
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_have_text("Undone.")
    expect(page.get_by_role("checkbox", name="Select: ")).to_have_count(50)
    assert vault.admin.totals().memories == before


def test_a_whole_page_is_ticked_at_once(chromium: Browser, large: Place) -> None:
    page = _enter(chromium, large)
    page.goto(f"{large.url}/console/memories")
    page.get_by_role("checkbox", name="this page").check()
    page.get_by_role("button", name="Forget…").click()
    expect(page.get_by_role("heading", name="Forget 50 memories?")).to_be_visible()
    page.get_by_role("link", name="Leave them as they are").click()
    expect(page.get_by_role("checkbox", name="Select: ").first).not_to_be_checked()


def test_long_texts_are_folded_and_a_long_conversation_has_pages(chromium: Browser, large: Place) -> None:
    page = _enter(chromium, large, width=390)
    plan = large.home.vault(PERSON).memories.find("garden_plan")
    assert plan
    page.goto(f"{large.url}/console/memories/{plan.id}")
    place = page.get_by_role("button", name="Forget").bounding_box()
    assert place
    assert place["y"] < 1600
    expect(page.locator("blockquote .unfolded")).to_be_hidden()
    page.get_by_text("Show all 11,130 characters").click()
    expect(page.locator("blockquote .unfolded")).to_be_visible()
    page.goto(f"{large.url}/console/conversations")
    page.get_by_role("link", name=LONG_TALK).click()
    pages = page.get_by_role("navigation", name="Pages of the conversation").first
    expect(pages).to_contain_text("Messages 162 to 201 of 201")
    pages.get_by_role("link", name="Earlier").click()
    expect(pages).to_contain_text("Messages 122 to 161 of 201")
    pages.get_by_role("link", name="First").click()
    expect(pages).to_contain_text("Messages 1 to 40 of 201")
    pages.get_by_role("link", name="Last").click()
    expect(pages).to_contain_text("Messages 162 to 201 of 201")
    assert page.evaluate("document.documentElement.scrollHeight") < 8000
    assert overflow(page) <= 0


def test_times_are_those_of_the_browser_and_without_scripts_name_the_servers_zone(
    chromium: Browser, place: Place
) -> None:
    place.clock.now = datetime(2026, 8, 14, 2, 30, tzinfo=UTC)
    memory = place.home.vault(PERSON).memories.save("The tin is blue").memory
    there = _enter(chromium, place, zone="America/Los_Angeles")
    there.goto(f"{place.url}/console/memories/{memory.id}")
    expect(there.locator(".events")).to_contain_text("13 August 2026, 19:30, by")
    expect(there.locator(".events time")).to_have_attribute("title", "2026-08-14 02:30:00 UTC")
    there.goto(f"{place.url}/console/timeline")
    there.get_by_text("The same as a table").click()
    expect(there.get_by_role("row", name="13 August 2026")).to_be_visible()
    here = _enter(chromium, place, scripts=False)
    here.goto(f"{place.url}/console/memories/{memory.id}")
    local = place.clock.now.astimezone()
    expect(here.locator(".events")).to_contain_text(f"{local.day} August 2026, {local:%H:%M %Z}, by")
