"""The pages of the console by name, in an empty, an ordinary and a large home, and what axe and a ruler say of each."""

from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from playwright.sync_api import Page

from recollectum.vault.intake.draft import Draft
from recollectum.vault.vault import Vault
from tests.doors.console.samples import PERSON, fill
from tests.doors.console.servers import Place

#: What a colour scheme can spoil, and nothing else can.
COLOURS = ["color-contrast", "link-in-text-block"]
_RUN = """async (rules) => {
  const found = await axe.run(rules ? {runOnly: rules} : {});
  return found.violations.map(v => [v.impact, v.id, v.nodes.map(n => n.html).slice(0, 3)]);
}"""
_NARROW = """() => [...document.querySelectorAll("nav a, button, .button, .tag, .tabs a")]
  .filter(one => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)
  .map(one => one.textContent.trim())"""
_BROKEN = """() => {
  const found = [];
  const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    if (!node.parentElement.checkVisibility() || node.parentElement.closest("code, pre, .unseen, thead")) continue;
    for (const word of node.data.matchAll(/(?<![^\\s])[A-Za-z]{2,14}(?=[\\s,.:;]|$)/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(one => Math.round(one.top))).size > 1) found.push(word[0]);
    }
  }
  return found;
}"""
_ROOMS = ("house", "garden", "shed", "cellar", "attic")
LONG_TALK = "A year of the greenhouse"


def axe_faults(page: Page, rules: list[str] | None = None) -> list[Any]:
    """The serious faults that axe finds on a page as it is."""
    # Through the browser's own tools: the page's policy lets no script of others in.
    page.evaluate((resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
    return [fault for fault in page.evaluate(_RUN, rules) if fault[0] in ("serious", "critical")]


def overflow(page: Page) -> int:
    """By how many pixels a page is wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def cut_words(page: Page) -> list[str]:
    """The links and buttons that are narrower than their words, and the short words that are cut in two."""
    return [*page.evaluate(_NARROW), *page.evaluate(_BROKEN)]


def fill_empty(place: Place) -> None:
    """A person who has nothing yet."""
    place.home.people.add(PERSON)


def fill_ordinary(place: Place) -> None:
    """Half a year of memories, with a project, shell commands and a task."""
    fill(place.home, place.clock)
    vault = _vault(place)
    vault.memories.save("The sensors are read every ten minutes", project="/work/greenhouse")
    vault.state.history.add("make check && ./deploy bed-3")
    vault.state.accounts.add("calendar", "ada@example.com")
    vault.tasks.save("report-7", {"state": "working"})


def fill_large(place: Place, count: int = 5_000) -> None:
    """Thousands of memories, one of them very long, and a conversation of 201 messages."""
    fill(place.home, place.clock)
    vault = _vault(place)
    for begin in range(0, count, 1_000):
        drafts = [Draft(content=_thing(number)) for number in range(begin, min(begin + 1_000, count))]
        vault.memories.save_many(drafts)
    vault.memories.save(
        "The whole plan of the garden. " + "Dig, sow and water bed number three. " * 300, key="garden_plan"
    )
    chat = vault.sessions.open(topic="long")
    for number in range(100):
        chat.add("user", f"What does the sensor in bed {number} say today?")
        chat.add("assistant", f"Bed {number} is at {30 + number % 40} percent. " * (60 if number % 20 == 0 else 1))
    chat.add("user", "Thank you.")
    chat.describe(title=LONG_TALK)


def _thing(number: int) -> str:
    return f"Thing number {number} is in the {_ROOMS[number % 5]}, on shelf {number % 17}, behind the blue tin"


def _vault(place: Place) -> Vault:
    return place.home.as_person(PERSON).vault(PERSON)


def paths(place: Place) -> Mapping[str, str]:
    """The address of every page by its name, as far as this home has such a page."""
    return dict(_paths(_vault(place)))


def _paths(vault: Vault) -> Iterator[tuple[str, str]]:
    yield "home", "/"
    yield "search", "/?q=what+can+we+cook+without+walnuts"
    yield "search-nothing", "/?q=zzzyx"
    yield "start", "/console/start"
    yield "memories", "/console/memories"
    yield "memories-filtered", "/console/memories?q=the+GARDEN"
    yield "memories-unmatched", "/console/memories?q=zzzyx"
    yield "memories-archived", "/console/memories?state=archived"
    yield "memories-trash", "/console/memories?state=soft_deleted"
    for key, name in (("diet", "memory"), ("garden_plan", "memory-long")):
        if found := vault.memories.find(key):
            yield name, f"/console/memories/{found.id}"
    yield "conversations", "/console/conversations"
    talks = {one.title: one.id for one in vault.sessions.list()}
    if sensors := talks.get("Deploying the greenhouse sensors"):
        yield "conversation", f"/console/conversations/{sensors}?at=3&from=0&to=36"
    if long := talks.get(LONG_TALK):
        yield "conversation-long", f"/console/conversations/{long}"
        yield "conversation-middle", f"/console/conversations/{long}?after=60"
    yield "projects", "/console/projects"
    for one in vault.projects.list():
        yield "project", f"/console/projects/{one.project.name}"
    yield "review", "/console/review"
    yield "review-rejected", "/console/review?decision=rejected"
    yield "timeline", "/console/timeline?by=week"
    yield "context", "/console/context?q=dinner&tokens=1200"
    yield "state", "/console/state"
    yield "privacy", "/console/privacy"
    yield "extensions", "/console/extensions"
    yield "tasks", "/console/tasks"
    yield "health", "/console/health"
    yield "no-such-memory", "/console/memories/mem_none"
    yield "no-such-page", "/console/nothing"
